"""What agents recall: the project first, then what holds everywhere, and the reasons."""

from __future__ import annotations

from typing import Any

import pytest

from app.domain.memory import Memory, Recall, RecallRequest, TaskContext, Writeback
from app.factory import Application

ERROR = "OSError: too many open files"


def remember(
    application: Application, summary: str, key: str | None, *, errors: tuple[str, ...] = ()
) -> int:
    """Write a memory of a project, or without a key one for all; return its note."""
    scope = "project" if key else "global"
    memory = Memory(f"{summary} told at some length", "fix", resolution=f"Do {summary}",
                    error_signatures=errors, pitfalls=("trap",))  # fmt: skip
    task = TaskContext(summary, "debug", project_key=key)
    written = application.knowledge.memories.write(Writeback("manual", task, memory, scope))
    assert written.note_id is not None
    application.companions.fill()
    return written.note_id


def recall(application: Application, goal: str, key: str | None = "git:a", **more: Any) -> Recall:
    errors = more.pop("errors", ())
    task = TaskContext(goal, "debug", project_key=key, error_signatures=errors)
    return application.knowledge.recaller.recall(RecallRequest("debug", task, **more))


@pytest.fixture
def shelf(application: Application) -> dict[str, int]:
    """Two memories of a project, one of another, one for all."""
    return {
        "near": remember(application, "pool cos=0.95", "git:a"),
        "error": remember(application, "handles cos=0.1", "git:a", errors=(ERROR,)),
        "other": remember(application, "pool of another cos=0.96", "git:b"),
        "global": remember(application, "rule cos=0.94", None),
    }


def ids(items: Any) -> list[int]:
    return [item.note_id for item in items]


def test_the_project_comes_first_and_others_never(
    application: Application, shelf: dict[str, int]
) -> None:
    found = recall(application, "pool")
    assert (found.reason, found.project_key, found.mode) == ("ok", "git:a", "debug")
    assert ids(found.project_memories)[0] == shelf["near"]
    assert shelf["other"] not in ids(found.project_memories)
    assert ids(found.global_memories) == [shelf["global"]]
    item = found.project_memories[0]
    assert item.pitfalls == ("trap",)
    assert item.outcome_type == "fix"
    assert item.why_relevant == "Matched by meaning and words"
    assert 0 < item.score <= 1


@pytest.mark.parametrize("error", [ERROR, f"{ERROR}  "])
def test_the_same_error_comes_before_everything(
    application: Application, shelf: dict[str, int], error: str
) -> None:
    found = recall(application, "pool", errors=(error,))
    assert ids(found.project_memories)[0] == shelf["error"]
    assert found.project_memories[0].why_relevant == "Has the same error signature"


def test_without_a_project_only_what_holds_everywhere(
    application: Application, shelf: dict[str, int]
) -> None:
    found = recall(application, "rule", None)
    assert (found.reason, found.project_key) == ("no-project-key", None)
    assert found.warnings
    assert found.project_memories == ()
    assert ids(found.global_memories) == [shelf["global"]]


def test_limits_are_kept(application: Application, shelf: dict[str, int]) -> None:
    found = recall(application, "pool", project_limit=1, global_limit=0)
    assert len(found.project_memories) == 1
    assert found.global_memories == ()


def test_nothing_to_recall(application: Application) -> None:
    found = recall(application, "anything")
    assert (found.reason, found.project_memories, found.global_memories) == ("no-matches", (), ())


def test_relations_lead_to_related_memories(
    application: Application, shelf: dict[str, int]
) -> None:
    application.knowledge.relater.relate(list(shelf.values()))
    found = recall(application, "pool", include_relations=True)
    listed = {item.note_id: item.related_note_ids for item in found.project_memories}
    assert listed[shelf["near"]]
    assert shelf["other"] not in listed
