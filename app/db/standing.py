"""The status of a note where it is searched, which is not the active space while that is filled.

Owns one expression of SQL. Must not run queries.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, FromClause, func, select

from app.db.models import embedding_spaces, note_spaces, notes

STANDING_IN = 2
"""The mark of the space that answers searches until the active one is complete."""

_STAND_IN = (
    select(embedding_spaces.c.id).where(embedding_spaces.c.active == STANDING_IN).scalar_subquery()
)


def searched_status(notes: FromClause) -> ColumnElement[str]:
    """Return the status in the space that stands in, or without one in the active space.

    Args:
        notes: The table of notes, or an alias of it.
    """
    there = (
        select(note_spaces.c.status)
        .where(note_spaces.c.note_id == notes.c.id, note_spaces.c.space_id == _STAND_IN)
        .correlate(notes)
        .scalar_subquery()
    )
    return func.coalesce(there, notes.c.embedding_status).label("embedding_status")


SEARCHED_STATUS = searched_status(notes)
