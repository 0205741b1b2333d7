"""The best passage of each found note, for ``highlight=true``.

Owns which of a note's texts passages are taken from. The title is not among them: it is shown
anyway.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection

from app.db import notes
from app.domain.notes import Note
from app.lexical.passages import best_passage

SEPARATOR = "\n\n"


def passages_of(
    connection: Connection, note_ids: Iterable[int], query: str
) -> dict[int, dict[str, Any] | None]:
    """Return the best passage of each note as JSON values, None for a note without text."""
    found = notes.get_many(connection, note_ids)
    return {note.id: _passage(note, query) for note in found}


def _passage(note: Note, query: str) -> dict[str, Any] | None:
    passage = best_passage(_text(note), query)
    if passage is None:
        return None
    return {"text": passage.text, "extents": [list(extent) for extent in passage.extents]}


def _text(note: Note) -> str:
    conclusions = note.key_conclusions if isinstance(note.key_conclusions, list) else []
    parts = [note.summary, *conclusions, note.body]
    return SEPARATOR.join(part for part in parts if isinstance(part, str) and part)
