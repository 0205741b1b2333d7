"""Queries on many notes at a time, for imports that know ids and columns already.

Reading and changing single notes is in ``app.db.notes``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, insert, select

from app.db.models import note_tags, notes


def versions_by_conversation(
    connection: Connection, conversation_ids: Iterable[str]
) -> dict[str, tuple[int, str | None]]:
    """Return id and time of the last change of the note of each conversation that has one."""
    columns = notes.c
    rows = connection.execute(
        select(columns.conversation_id, columns.id, columns.updated_at).where(
            columns.conversation_id.in_(list(conversation_ids))
        )
    )
    return {row[0]: (row[1], row[2]) for row in rows}


def add_many(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store notes, ids included; every row names the same columns."""
    if rows:
        connection.execute(insert(notes), list(rows))


def add_tags(connection: Connection, rows: Sequence[Mapping[str, int]]) -> None:
    """Give notes tags, each as ``note_id`` and ``tag_id``."""
    if rows:
        connection.execute(insert(note_tags), list(rows))
