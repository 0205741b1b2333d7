"""How domain values read as JSON: the original's keys in its order, ours behind them.

Owns names and order. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeVar

from app.domain.conversations import Conversation, FoundTurn
from app.domain.notes import Note
from app.domain.page import Page
from app.domain.relations import Relation
from app.domain.search import FoundNote, WhyAnswer
from app.sync.queue import Progress

Item = TypeVar("Item")

NOTE_KEYS = (
    "id",
    "conversation_id",
    "title",
    "summary",
    "key_conclusions",
    "code_snippets",
    "raw_llm_response",
    "is_edited",
    "embedding_status",
    "project_key",
    "scope",
    "source_type",
    "source_agent",
    "task_kind",
    "error_signatures",
    "files_touched",
    "outcome_type",
    "created_at",
    "updated_at",
    "project_name",
)
OWN_NOTE_KEYS = ("body", "path", "external_id", "embedding_error")


def note(value: Note, *, whole: bool) -> dict[str, Any]:
    """Return a note; ``project_dir`` only where one note is shown as a whole."""
    shape = {key: getattr(value, key) for key in NOTE_KEYS}
    if whole:
        shape["project_dir"] = value.project_dir
    shape["tags"] = list(value.tags)
    shape["project"] = value.project_name
    shape["aliases"] = list(value.aliases)
    return shape | {key: getattr(value, key) for key in OWN_NOTE_KEYS}


def listed_note(value: Note) -> dict[str, Any]:
    """Return a note as lists show it."""
    return note(value, whole=False)


def recent_note(value: Note) -> dict[str, Any]:
    """Return a note as the status shows it."""
    keys = ("id", "title", "conversation_id", "project_name", "created_at")
    return {key: getattr(value, key) for key in keys}


def relation(value: Relation) -> dict[str, Any]:
    """Return a relation with the titles of its ends."""
    return asdict(value)


def conversation(value: Conversation) -> dict[str, Any]:
    """Return a conversation."""
    return asdict(value)


def found_turn(value: FoundTurn) -> dict[str, Any]:
    """Return a turn of a conversation that a search found."""
    shape = asdict(value)
    passage = {"text": shape.pop("text"), "extents": [list(each) for each in shape.pop("extents")]}
    return shape | {"passage": passage}


def page(value: Page[Item], shape: Callable[[Item], dict[str, Any]]) -> dict[str, Any]:
    """Return a page of anything."""
    return {
        "items": [shape(item) for item in value.items],
        "total": value.total,
        "offset": value.offset,
        "limit": value.limit,
    }


def found_note(value: FoundNote) -> dict[str, Any]:
    """Return one row of a search's answer."""
    return {
        "note_id": value.note_id,
        "conversation_id": value.conversation_id,
        "title": value.title,
        "project_name": value.project_name,
        "project": value.project_name,
        "score": value.score,
        "tags": list(value.tags),
        "via_relation": value.via_relation,
        **value.extra,
    }


def why(value: WhyAnswer) -> dict[str, Any]:
    """Return why a note stands where it stands."""
    shape = asdict(value)
    del shape["warnings"]
    return shape


def queue(progress: Progress) -> dict[str, Any]:
    """Return the embedding queue as the original shows it."""
    return {
        "total": len(progress.tasks),
        "completed": progress.count("completed"),
        "failed": progress.count("failed"),
        "active": progress.count("queued", "running"),
        "tasks": [
            {
                "id": task.id,
                "title": task.title,
                "status": task.status,
                "addedAt": task.added_at,
                "startedAt": task.started_at,
                "finishedAt": task.finished_at,
                "error": task.error,
            }
            for task in progress.tasks
        ],
    }
