"""Queries on when notes were opened."""

from __future__ import annotations

from sqlalchemy import Connection, func, insert, select

from app.db.models import note_opens


def last(connection: Connection, note_id: int) -> str | None:
    """Return when a note was last opened."""
    found: str | None = connection.execute(
        select(func.max(note_opens.c.opened_at)).where(note_opens.c.note_id == note_id)
    ).scalar()
    return found


def add(connection: Connection, note_id: int, opened_at: str) -> None:
    """Record that a note was opened."""
    connection.execute(insert(note_opens).values(note_id=note_id, opened_at=opened_at))


def latest(connection: Connection, limit: int) -> list[int]:
    """Return the ids of the last opened notes, each once, latest first."""
    newest = func.max(note_opens.c.id)
    found = connection.execute(
        select(note_opens.c.note_id)
        .group_by(note_opens.c.note_id)
        .order_by(newest.desc())
        .limit(limit)
    )
    return list(found.scalars())
