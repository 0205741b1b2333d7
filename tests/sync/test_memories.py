"""Memories that agents write back: created, repeated, merged, skipped."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from app.db import conversations, notes
from app.domain.memory import Memory, TaskContext, Writeback
from app.domain.notes import Note, NotePatch, Snippet
from app.factory import Application
from tests.sync.conftest import dump

TASK = TaskContext("Fix the export", "debug", project_key="git:abc", source_agent="codex")
MEMORY = Memory(
    summary="The writer kept every file open; cos=0.9",
    outcome_type="fix",
    root_cause="Handles were never closed",
    resolution="Close each file before the next",
    error_signatures=("OSError: too many open files",),
    tags=("Python",),
)


def request(key: str | None = "run-1", memory: Memory = MEMORY, **more: Any) -> Writeback:
    given: dict[str, Any] = {"mode": "auto", "task": TASK, **more}
    return Writeback(memory=memory, source_run_key=key, **given)


def write(application: Application, *arguments: Any, **more: Any) -> Any:
    return application.knowledge.memories.write(request(*arguments, **more))


def note_of(application: Application, note_id: int) -> Note:
    with application.database.read() as connection:
        found = notes.get(connection, note_id)
    assert found is not None
    return found


def test_a_memory_becomes_a_note_of_its_own(application: Application) -> None:
    written = write(application)
    assert (written.decision, written.reason) == ("created", "created-new-memory")
    note = note_of(application, written.note_id)
    assert note.title == "Fix the export"
    assert (note.source_type, note.source_agent) == ("agent-writeback", "codex")
    assert (note.project_key, note.scope, note.task_kind) == ("git:abc", "project", "debug")
    assert note.tags == ("python",)
    assert note.embedding_status == "done"
    assert json.loads(note.raw_llm_response or "")["root_cause"] == MEMORY.root_cause
    with application.database.read() as connection:
        conversation = conversations.get(connection, note.conversation_id)
    assert conversation is not None
    assert conversation.id == "memory:codex:run-1"
    assert conversation.source == "chatcrystal-memory"


def test_a_run_writes_once(application: Application) -> None:
    first = write(application)
    before = dump(application)
    other = replace(MEMORY, summary="Something else entirely, told at some length")
    assert write(application, "run-1", other) == first
    assert dump(application) == before


def test_runs_of_different_agents_are_different(application: Application) -> None:
    first = write(application)
    told = replace(MEMORY, summary="cos=-0.9 but told otherwise", error_signatures=())
    second = write(application, "run-1", told, task=replace(TASK, source_agent="claude"))
    assert second.note_id not in (None, first.note_id)


@pytest.mark.parametrize(
    "memory",
    [
        replace(MEMORY, summary="The writer kept every file open (again); cos=0.9"),
        replace(MEMORY, summary="Told in quite other words; cos=-0.5"),
    ],
    ids=["same words", "same error and cause"],
)
def test_what_is_known_is_added_to(application: Application, memory: Memory) -> None:
    first = write(application)
    more = replace(
        memory, pitfalls=("Raising ulimit hides it",), code_snippets=(Snippet("py", "x", "d"),)
    )
    second = write(application, "run-2", more)
    assert (second.decision, second.merged_into_note_id) == ("merged", first.note_id)
    assert second.note_id is None
    note = note_of(application, first.note_id)
    assert note.summary == f"{MEMORY.summary}\n\nEvidence update:\n{memory.summary}"
    assert json.loads(note.raw_llm_response or "")["pitfalls"] == ["Raising ulimit hides it"]
    assert note.code_snippets == [{"language": "py", "code": "x", "description": "d"}]
    assert note.embedding_status == "done"
    assert write(application, "run-2", more) == second


@pytest.mark.parametrize(
    ("memory", "more"),
    [
        (replace(MEMORY, summary="Of something else; cos=-0.5", error_signatures=()), {}),
        (MEMORY, {"task": replace(TASK, project_key="git:other")}),
        (MEMORY, {"mode": "manual", "scope": "global"}),
    ],
    ids=["other matter", "other project", "other scope"],
)
def test_what_is_new_stays_apart(application: Application, memory: Memory, more: Any) -> None:
    first = write(application)
    second = write(application, "run-2", memory, **more)
    assert second.decision == "created"
    assert second.note_id != first.note_id


def test_an_edited_memory_is_left_alone(application: Application) -> None:
    first = write(application)
    application.writer.edit_note(first.note_id, NotePatch({"title": "Mine"}))
    assert write(application, "run-2").decision == "created"


@pytest.mark.parametrize(
    ("memory", "missing"),
    [
        (replace(MEMORY, summary="fixed it"), "summary"),
        (replace(MEMORY, root_cause=None, resolution=None), "experience_core"),
        (replace(MEMORY, outcome_type="decision"), "decisions"),
        (replace(MEMORY, outcome_type="pattern"), "reusable_patterns"),
        (replace(MEMORY, outcome_type="pitfall"), "pitfalls_and_resolution_or_pattern"),
    ],
)
def test_what_says_too_little_is_skipped(
    application: Application, memory: Memory, missing: str
) -> None:
    written = write(application, "run-1", memory)
    assert (written.decision, written.reason, written.note_id) == ("skipped", "low-signal", None)
    assert missing in written.warnings
    assert write(application, "run-1", MEMORY).decision == "skipped"


def test_a_person_may_write_without_a_key(application: Application) -> None:
    written = write(application, None, mode="manual", scope="global")
    note = note_of(application, written.note_id)
    assert (note.source_type, note.scope) == ("manual-note", "global")
    assert note.conversation_id.startswith("memory:")


def test_the_project_is_known_by_its_folder(application: Application) -> None:
    task = replace(TASK, project_key=None, project_dir="/nowhere/shop")
    note = note_of(application, write(application, task=task).note_id)
    assert note.project_key is not None and note.project_key.startswith("cwd:")
    assert note.project_name == "shop"
