"""Queries on tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, insert, select

from app.db.models import conversations, note_tags, notes, tags
from app.domain.notes import TagCount


def counted(connection: Connection) -> tuple[TagCount, ...]:
    """Return every tag with the number of listed notes that have it, most used first."""
    listed = note_tags.join(notes, notes.c.id == note_tags.c.note_id).join(
        conversations, conversations.c.id == notes.c.conversation_id
    )
    uses = (
        select(note_tags.c.tag_id, func.count().label("uses"))
        .select_from(listed)
        .group_by(note_tags.c.tag_id)
        .subquery()
    )
    count = func.coalesce(uses.c.uses, 0)
    rows = connection.execute(
        select(tags.c.id, tags.c.name, count)
        .select_from(tags.outerjoin(uses, uses.c.tag_id == tags.c.id))
        .order_by(count.desc(), tags.c.id)
    )
    return tuple(TagCount(*row) for row in rows)


def ids_by_name(connection: Connection, names: Iterable[str]) -> dict[str, int]:
    """Return the ids of tags by name; unknown ones are absent."""
    rows = connection.execute(select(tags.c.name, tags.c.id).where(tags.c.name.in_(list(names))))
    return {row[0]: row[1] for row in rows}


def add_many(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store tags; every row names the same columns."""
    if rows:
        connection.execute(insert(tags), list(rows))
