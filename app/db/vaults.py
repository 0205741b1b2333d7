"""Queries on notes that are files of a folder, and on what is known of the files.

The folder stands in the note's own conversation as its ``project_dir``, the file as ``file_path``,
``file_size`` and ``file_mtime`` (nanoseconds since 1970 as text, empty when in doubt); the digest
of its bytes is the note's ``content_digest``. A note's ``path`` can be edited, the file's cannot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from app.db.models import conversations, note_links, notes
from app.domain.conversations import MARKDOWN_SOURCE

_AT_ONCE = 500
_IS_FILE = conversations.c.source == MARKDOWN_SOURCE
_OWN = notes.join(conversations, conversations.c.id == notes.c.conversation_id)


@dataclass(frozen=True, slots=True)
class KnownFile:
    """What is known of a file; ``modified`` is None when it must be read to be compared."""

    note_id: int
    conversation_id: str
    file_path: str
    size: int | None
    modified: int | None
    digest: str | None
    is_edited: bool


def files(connection: Connection, folder: str) -> tuple[KnownFile, ...]:
    """Return the files of a folder that are notes, by path."""
    rows = connection.execute(
        select(
            notes.c.id,
            conversations.c.id,
            conversations.c.file_path,
            conversations.c.file_size,
            conversations.c.file_mtime,
            notes.c.content_digest,
            notes.c.is_edited,
        )
        .select_from(_OWN)
        .where(_IS_FILE, conversations.c.project_dir == folder)
        .order_by(conversations.c.file_path, notes.c.id)
    )
    return tuple(
        KnownFile(
            *row[:4], int(row[4]) if (row[4] or "").isdecimal() else None, row[5], bool(row[6])
        )
        for row in rows
    )


def taken(connection: Connection, file_paths: Iterable[str]) -> set[str]:
    """Return which of these files are notes."""
    wanted = list(file_paths)
    return set(
        connection.execute(
            select(conversations.c.file_path)
            .select_from(_OWN)
            .where(_IS_FILE, conversations.c.file_path.in_(wanted))
        ).scalars()
    )


def change_files(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write anew what is known of files: by ``conversation_id``, their path, size and time."""
    if not rows:
        return
    connection.execute(
        update(conversations)
        .where(conversations.c.id == bindparam("conversation_id"))
        .values(
            file_path=bindparam("path"),
            file_size=bindparam("size"),
            file_mtime=bindparam("modified"),
        ),
        list(rows),
    )


def add_notes(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    """Store notes of conversations; every row names the same columns. Return their ids in order."""
    if not rows:
        return ()
    statement = insert(notes).returning(notes.c.conversation_id, notes.c.id)
    ids = {row[0]: row[1] for row in connection.execute(statement, list(rows))}
    return tuple(ids[row["conversation_id"]] for row in rows)


def count_links(connection: Connection, folder: str) -> tuple[int, int]:
    """Count the links of a folder's notes: all, and those that no note answers to."""
    row = connection.execute(
        select(func.count(), func.count().filter(note_links.c.target_note_id.is_(None)))
        .select_from(
            note_links.join(notes, notes.c.id == note_links.c.source_note_id).join(
                conversations, conversations.c.id == notes.c.conversation_id
            )
        )
        .where(_IS_FILE, conversations.c.project_dir == folder)
    ).one()
    return row[0], row[1]
