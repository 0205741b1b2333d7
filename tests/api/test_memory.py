"""Memories over HTTP, with the original's names, shapes and refusals."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.api.answers import data_of, error_of

TASK = {"goal": "Fix the export", "task_kind": "debug", "project_dir": "/nowhere/shop"}
MEMORY = {
    "summary": "The writer kept every file open; cos=0.9",
    "outcome_type": "fix",
    "root_cause": "Handles were never closed",
    "resolution": "Close each file",
    "code_snippets": [{"language": "python", "code": "f.close()", "description": "closing"}],
}
WRITE: dict[str, Any] = {
    "mode": "auto",
    "source_run_key": "run-1",
    "task": TASK,
    "memory": MEMORY,
}


def test_what_is_written_back_is_recalled(client: FlaskClient) -> None:
    written = data_of(client.post("/api/memory/writeback", json=WRITE))
    assert written == {
        "mode": "auto",
        "decision": "created",
        "note_id": 1,
        "merged_into_note_id": None,
        "reason": "created-new-memory",
        "warnings": [],
    }
    assert data_of(client.post("/api/memory/writeback", json=WRITE)) == written
    recalled = data_of(client.post("/api/memory/recall", json={"mode": "task", "task": TASK}))
    assert set(recalled) == {
        "mode", "project_key", "reason", "warnings", "project_memories", "global_memories",
    }  # fmt: skip
    assert recalled["reason"] == "ok"
    (item,) = recalled["project_memories"]
    assert item["note_id"] == 1
    assert set(item) == {
        "note_id", "title", "summary", "outcome_type", "pitfalls", "reusable_patterns",
        "related_note_ids", "score", "why_relevant",
    }  # fmt: skip


def test_memories_are_counted_but_their_conversations_not_listed(client: FlaskClient) -> None:
    data_of(client.post("/api/memory/writeback", json=WRITE))
    assert data_of(client.get("/api/conversations"))["total"] == 0
    assert data_of(client.get("/api/notes?sourceKind=memory"))["total"] == 1


def test_without_a_project_there_is_no_key(client: FlaskClient) -> None:
    task = {"goal": "anything", "task_kind": "debug"}
    recalled = data_of(client.post("/api/memory/recall", json={"task": task}))
    assert recalled["reason"] == "no-project-key"
    assert "project_key" not in recalled


def changed(base: Any, path: str, value: Any) -> Any:
    body = copy.deepcopy(base)
    *parents, last = path.split(".")
    inner = body
    for name in parents:
        inner = inner[name]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return body


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("mode", "sometimes", "mode"),
        ("mode", None, "mode"),
        ("source_run_key", None, "source_run_key"),
        ("scope", "global", "scope"),
        ("scope", "galaxy", "scope"),
        ("task", "debug", "task"),
        ("task.goal", " ", "task.goal"),
        ("task.task_kind", "dance", "task.task_kind"),
        ("task.source_agent", "hal", "task.source_agent"),
        ("task.unknown", 1, "task.unknown"),
        ("memory.summary", None, "memory.summary"),
        ("memory.outcome_type", "win", "memory.outcome_type"),
        ("memory.tags", ["a", " "], "memory.tags"),
        ("memory.code_snippets", [{"x": 1}], "memory.code_snippets"),
        ("memory.pitfalls", "one", "memory.pitfalls"),
    ],
)
def test_a_bad_field_is_named_and_nothing_is_written(
    client: FlaskClient, path: str, value: Any, named: str
) -> None:
    response = client.post("/api/memory/writeback", json=changed(WRITE, path, value))
    assert f'"{named}"' in error_of(response, 400, "invalid_parameter")
    assert data_of(client.get("/api/status"))["stats"]["totalConversations"] == 0


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("mode", "auto", "mode"),
        ("task", None, "task"),
        ("options.project_limit", -1, "options.project_limit"),
        ("options.global_limit", 1.5, "options.global_limit"),
        ("options.include_relations", "yes", "options.include_relations"),
    ],
)
def test_a_bad_recall_names_its_field(
    client: FlaskClient, path: str, value: Any, named: str
) -> None:
    body = changed({"task": TASK, "options": {}}, path, value)
    response = client.post("/api/memory/recall", json=body)
    assert f'"{named}"' in error_of(response, 400, "invalid_parameter")


def test_what_says_too_little_is_skipped_with_what_it_lacks(client: FlaskClient) -> None:
    body = changed(WRITE, "memory.summary", "fixed it")
    written = data_of(client.post("/api/memory/writeback", json=body))
    assert (written["decision"], written["note_id"]) == ("skipped", None)
    assert written["warnings"] == ["summary"]
