"""The companions of notes as they are stored."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import select

from app.db.models import embeddings
from app.domain.chunks import COMPANION_KINDS
from app.factory import Application


class Companion(NamedTuple):
    """A stored vector of a whole note or of a field, by its text."""

    note_id: int
    kind: str
    number: int
    text: str


def companions(application: Application, space_id: int = 1) -> list[Companion]:
    """All companions in a space, by note, then whole before field, then number."""
    columns = embeddings.c
    with application.database.read() as connection:
        found = connection.execute(
            select(columns.note_id, columns.kind, columns.chunk_index, columns.chunk_text)
            .where(columns.kind.in_(COMPANION_KINDS), columns.space_id == space_id)
            .order_by(columns.note_id, columns.kind.desc(), columns.chunk_index)
        )
        return [Companion(*row) for row in found]


def notes_with_companions(application: Application) -> list[int]:
    """The ids of notes that have companions, ascending."""
    return sorted({each.note_id for each in companions(application)})
