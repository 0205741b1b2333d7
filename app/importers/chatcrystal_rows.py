"""The rows of ChatCrystal's database, with what cannot be taken over already left out.

Owns which rows are sound, and how their loosely typed cells read. Columns are named as ours.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from app.importers.cells import (
    holds_json,
    optional_number,
    optional_text,
    optional_whole,
    text,
    whole,
)
from app.importers.chatcrystal import DataDirectory
from app.importers.vectra import Wanted

JSON_COLUMNS = ("key_conclusions", "code_snippets", "error_signatures", "files_touched")
EMPTY_LIST = "[]"

_IS_KEPT = (
    "EXISTS (SELECT 1 FROM notes n JOIN conversations c ON c.id = n.conversation_id "
    "WHERE n.id = {column})"
)
_HAS_CONVERSATION = "EXISTS (SELECT 1 FROM conversations c WHERE c.id = {table}.conversation_id)"
_KEPT_RELATION = (
    f"{_IS_KEPT.format(column='source_note_id')} AND {_IS_KEPT.format(column='target_note_id')}"
)
_KEPT_NOTE_TAG = (
    f"{_IS_KEPT.format(column='note_id')} AND EXISTS (SELECT 1 FROM tags t WHERE t.id = tag_id)"
)
_KEPT_CHUNK = _IS_KEPT.format(column="note_id")

_LEFT_OUT = {
    "notes_without_conversation": ("notes", _HAS_CONVERSATION.format(table="notes")),
    "messages_without_conversation": ("messages", _HAS_CONVERSATION.format(table="messages")),
    "tags_without_note": ("note_tags", _KEPT_NOTE_TAG),
    "chunks_without_note": ("embeddings", _KEPT_CHUNK),
    "relations_without_note": ("note_relations", _KEPT_RELATION),
}

_NOTES = """
SELECT n.*, c.last_message_at FROM notes n JOIN conversations c ON c.id = n.conversation_id
ORDER BY n.id
"""
_MESSAGES = f"""
SELECT * FROM messages WHERE {_HAS_CONVERSATION.format(table="messages")}
ORDER BY conversation_id, sort_order, id
"""
# A note that was embedded again has the newest rows, and their order breaks ties of a search.
_CHUNKED_NOTES = """
SELECT n.id AS note_id, n.embedding_status, e.id, e.chunk_index, e.chunk_text, e.vectra_id,
       e.created_at
FROM notes n JOIN conversations c ON c.id = n.conversation_id
LEFT JOIN embeddings e ON e.note_id = n.id
LEFT JOIN (SELECT note_id, MIN(id) AS first FROM embeddings GROUP BY note_id) f
  ON f.note_id = n.id
ORDER BY f.first IS NULL, f.first, n.id, e.chunk_index
"""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A conversation or a message: its id and all its columns."""

    id: str
    columns: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SourceTag:
    """A tag by its id."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class SourceNote:
    """A note by its id; ``columns`` lack id and status, ``invalid`` names those that were no JSON.

    ``tag_ids`` ascend.
    """

    id: int
    conversation_id: str
    updated_at: str | None
    columns: Mapping[str, Any]
    tag_ids: tuple[int, ...]
    invalid: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceRelation:
    """A relation by its id, between notes by theirs; ``columns`` holds the rest."""

    id: int
    source_note_id: int
    target_note_id: int
    relation_type: str
    columns: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SourceChunk:
    """A chunk row by its id."""

    id: int
    index: int
    text: str
    vectra_id: str | None
    created_at: str


@dataclass(frozen=True, slots=True)
class ChunkedNote:
    """The chunk rows of a note, by index, and the status that it calls its own."""

    note_id: int
    status: str
    chunks: tuple[SourceChunk, ...]


def left_out(directory: DataDirectory) -> dict[str, int]:
    """Count the rows that hang on nothing, by what they are."""
    return {
        name: _count(directory.connection, f"{table} WHERE NOT ({condition})")
        for name, (table, condition) in _LEFT_OUT.items()
    }


def count(directory: DataDirectory, table: str) -> int:
    """Count all rows of a table, those that are left out included."""
    return _count(directory.connection, table)


def _count(connection: sqlite3.Connection, source: str) -> int:
    found: int = connection.execute(f"SELECT COUNT(*) FROM {source}").fetchone()[0]
    return found


def conversations(directory: DataDirectory) -> Iterator[SourceRow]:
    """Yield the conversations in the order of their rows."""
    for row in directory.connection.execute("SELECT * FROM conversations WHERE id IS NOT NULL"):
        first = text(row["first_message_at"])
        last = text(row["last_message_at"], first)
        columns: dict[str, Any] = {
            "id": text(row["id"]),
            "source": text(row["source"], "claude-code"),
            "project_dir": text(row["project_dir"]),
            "project_name": text(row["project_name"]),
            "message_count": whole(row["message_count"]),
            "first_message_at": first,
            "last_message_at": last,
            "file_path": text(row["file_path"]),
            "file_size": optional_whole(row["file_size"]),
            "status": text(row["status"], "imported"),
            "experience_score": optional_number(row["experience_score"]),
            "created_at": text(row["created_at"], first),
            "updated_at": text(row["updated_at"], last),
            **_optional_texts(row, "slug", "cwd", "git_branch", "file_mtime"),
            **_optional_texts(row, "experience_gate_reason", "experience_gate_details"),
        }
        yield SourceRow(columns["id"], columns)


def messages(directory: DataDirectory) -> Iterator[SourceRow]:
    """Yield the messages that have a conversation, one conversation after the other."""
    for row in directory.connection.execute(_MESSAGES):
        columns: dict[str, Any] = {
            "id": text(row["id"]),
            "conversation_id": text(row["conversation_id"]),
            "type": text(row["type"]),
            "content": text(row["content"]),
            "has_tool_use": whole(row["has_tool_use"]),
            "has_code": whole(row["has_code"]),
            "timestamp": text(row["timestamp"]),
            "sort_order": whole(row["sort_order"]),
            **_optional_texts(row, "parent_uuid", "role", "thinking"),
        }
        yield SourceRow(columns["id"], columns)


def tags(directory: DataDirectory) -> Iterator[SourceTag]:
    """Yield the tags by id, those of no note included."""
    for row in directory.connection.execute("SELECT id, name FROM tags ORDER BY id"):
        yield SourceTag(row["id"], text(row["name"]))


def notes(directory: DataDirectory) -> Iterator[SourceNote]:
    """Yield the notes that have a conversation, by id."""
    tag_ids = _tag_ids(directory.connection)
    for row in directory.connection.execute(_NOTES):
        columns: dict[str, Any] = {
            "conversation_id": text(row["conversation_id"]),
            "title": text(row["title"]),
            "summary": text(row["summary"]),
            "is_edited": int(bool(whole(row["is_edited"]))),
            "scope": text(row["scope"], "project"),
            "source_type": text(row["source_type"], "imported-conversation"),
            "source_agent": text(row["source_agent"], "unknown"),
            "created_at": text(row["created_at"], text(row["last_message_at"])),
            **_optional_texts(row, *JSON_COLUMNS),
            **_optional_texts(row, "raw_llm_response", "project_key", "task_kind"),
            **_optional_texts(row, "outcome_type", "updated_at"),
        }
        invalid = tuple(name for name in JSON_COLUMNS if not holds_json(columns[name]))
        yield SourceNote(
            id=row["id"],
            conversation_id=columns["conversation_id"],
            updated_at=columns["updated_at"],
            columns=columns | dict.fromkeys(invalid, EMPTY_LIST),
            tag_ids=tuple(tag_ids.get(row["id"], ())),
            invalid=invalid,
        )


def _tag_ids(connection: sqlite3.Connection) -> Mapping[int, list[int]]:
    found: defaultdict[int, list[int]] = defaultdict(list)
    statement = f"SELECT note_id, tag_id FROM note_tags WHERE {_KEPT_NOTE_TAG} ORDER BY tag_id"
    for row in connection.execute(statement):
        found[row["note_id"]].append(row["tag_id"])
    return found


def relations(directory: DataDirectory) -> Iterator[SourceRelation]:
    """Yield the relations between notes that have conversations, by id."""
    statement = f"SELECT * FROM note_relations WHERE {_KEPT_RELATION} ORDER BY id"
    for row in directory.connection.execute(statement):
        columns = {
            "confidence": optional_number(row["confidence"]),
            "description": optional_text(row["description"]),
            "created_by": text(row["created_by"], "manual"),
            "created_at": text(row["created_at"]),
        }
        yield SourceRelation(
            row["id"],
            row["source_note_id"],
            row["target_note_id"],
            text(row["relation_type"]),
            columns,
        )


def wanted_vectors(directory: DataDirectory) -> Wanted:
    """Return the chunk rows whose vectors are looked for: those of notes with a conversation."""
    by_id: dict[str, int] = {}
    by_place: dict[tuple[int, int], int] = {}
    statement = f"SELECT id, note_id, chunk_index, vectra_id FROM embeddings WHERE {_KEPT_CHUNK}"
    for row in directory.connection.execute(statement):
        if row["vectra_id"]:
            by_id[text(row["vectra_id"])] = row["id"]
        else:
            by_place[row["note_id"], row["chunk_index"]] = row["id"]
    return Wanted(by_id, by_place)


def chunked_notes(directory: DataDirectory) -> Iterator[ChunkedNote]:
    """Yield all notes that have a conversation with their chunk rows, in the rows' order.

    Notes without rows come last, by id.
    """
    rows = directory.connection.execute(_CHUNKED_NOTES)
    for note_id, group in groupby(rows, key=lambda row: int(row["note_id"])):
        found = list(group)
        chunks = tuple(_chunk(row) for row in found if row["id"] is not None)
        yield ChunkedNote(note_id, text(found[0]["embedding_status"]), chunks)


def _chunk(row: sqlite3.Row) -> SourceChunk:
    return SourceChunk(
        row["id"],
        whole(row["chunk_index"]),
        text(row["chunk_text"]),
        optional_text(row["vectra_id"]),
        text(row["created_at"]),
    )


def _optional_texts(row: sqlite3.Row, *names: str) -> dict[str, str | None]:
    return {name: optional_text(row[name]) for name in names}
