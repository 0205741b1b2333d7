"""Vectors of whole notes and of their fields, made after the chunks.

Owns which texts they are made of. A note is found by its chunks at once; its companions follow.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from app.db import chunks, notes
from app.db.engine import Database
from app.domain.chunks import COMPANION_KINDS, KIND_FIELD, KIND_WHOLE, Chunk
from app.domain.notes import Note
from app.embedding.active import ActiveEmbedder
from app.sync.texts import LONGEST_PARAGRAPH, Prepared, of_note
from app.sync.transaction import Transaction, transaction
from app.sync.vectors import Outcome, embed, rows_of
from app.text import is_blank

GROUP = 32

_log = logging.getLogger(__name__)


class CompanionEmbedder:
    """Makes the companions of notes that are embedded and lack them."""

    def __init__(self, database: Database, active: ActiveEmbedder) -> None:
        self._database = database
        self._active = active

    def missing(self) -> tuple[int, ...]:
        """Return the embedded notes without companions in the active space, by id."""
        with self._database.read() as connection:
            return chunks.notes_lacking(connection, self._active.current.space_id, KIND_WHOLE)

    def fill(
        self,
        on_progress: Callable[[int], None] | None = None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> int:
        """Make all that is missing, group by group; return the number of notes that got some.

        A note whose texts are refused is left without, and tried again the next time.

        Raises:
            ProviderError: the provider failed for a whole group; what was made by then is stored.
            SpaceMismatch: the provider answered with vectors of another dimension.
        """
        note_ids = self.missing()
        made = 0
        for start in range(0, len(note_ids), GROUP):
            if is_cancelled():
                break
            made += self._fill_group(note_ids[start : start + GROUP])
            if on_progress is not None:
                on_progress(min(start + GROUP, len(note_ids)))
        return made

    def _fill_group(self, note_ids: Sequence[int]) -> int:
        active = self._active.current
        max_chars = active.embedder.max_chars
        with self._database.read() as connection:
            found = notes.get_many(connection, note_ids)
        prepared = [Prepared("", companions_of(note, max_chars)) for note in found]
        outcomes = embed(active.embedder, prepared)
        _raise_if_all_failed(outcomes)
        fresh = {
            note.id: outcome
            for note, outcome in zip(found, outcomes, strict=True)
            if outcome.failure is None
        }
        with transaction(self._database) as unit:
            lacking = chunks.notes_lacking(unit.connection, active.space_id, KIND_WHOLE, fresh)
            current = {
                note.id: fresh[note.id]
                for note in notes.get_many(unit.connection, lacking)
                if companions_of(note, max_chars) == fresh[note.id].prepared.chunks
            }
            for note_id, outcome in current.items():
                _store(unit, active.space_id, note_id, outcome)
        return len(current)


def _raise_if_all_failed(outcomes: Sequence[Outcome]) -> None:
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    for error in errors:
        if len(errors) == len(outcomes):
            raise error
        _log.warning("companions of a note are not made: %s", error.message)


def _store(unit: Transaction, space_id: int, note_id: int, outcome: Outcome) -> None:
    rows = rows_of(note_id, space_id, outcome.prepared.chunks, outcome.vectors)
    for kind in COMPANION_KINDS:
        ids = chunks.add(unit.connection, [row for row in rows if row["kind"] == kind])
        unit.added_vectors(space_id, kind, ids)


def drop_outdated(unit: Transaction, before: Note, after: Note) -> None:
    """Delete the companions of a note, in every space, if an edit changes what they are made of."""
    longest = LONGEST_PARAGRAPH
    if companions_of(before, longest) != companions_of(after, longest):
        removed = chunks.remove_of_notes(unit.connection, [after.id], kinds=COMPANION_KINDS)
        unit.removed_vectors(removed)


def companions_of(note: Note, max_chars: int) -> tuple[Chunk, ...]:
    """Return the texts of a note's companions; a blank field has none.

    Where all three are blank, the first chunk stands for the whole note.
    """
    longest = min(LONGEST_PARAGRAPH, max_chars)
    conclusions = note.key_conclusions if isinstance(note.key_conclusions, list) else []
    stated = "\n".join(text for text in conclusions if isinstance(text, str))
    cut = {number: text[:longest] for number, text in enumerate((note.title, note.summary, stated))}
    texts = {number: text for number, text in cut.items() if not is_blank(text)}
    fields = (Chunk(number, text, KIND_FIELD) for number, text in texts.items())
    if texts:
        return (Chunk(0, "\n\n".join(texts.values())[:longest], KIND_WHOLE), *fields)
    first = of_note(note, max_chars).chunks[:1]
    return tuple(Chunk(0, chunk.text, KIND_WHOLE) for chunk in first)
