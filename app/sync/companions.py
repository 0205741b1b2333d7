"""Vectors of whole notes and of their fields, made after the chunks.

Owns which texts they are made of. A note is found by its chunks at once; its companions follow,
and those in the second space, which holds no chunks, after them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from app.db import chunks, coverage, notes, spaces
from app.db.engine import Database
from app.domain.chunks import COMPANION_KINDS, KIND_FIELD, KIND_WHOLE, Chunk
from app.domain.notes import STATUS_DONE, Note
from app.embedding.active import ActiveEmbedder, SecondSpace
from app.embedding.base import Embedder
from app.sync.texts import LONGEST_PARAGRAPH, Prepared, of_note
from app.sync.transaction import Transaction, transaction
from app.sync.vectors import Outcome, embed, rows_of
from app.text import is_blank, js_trim

GROUP = 32

SECOND_GROUP = 4
"""Notes whose companions the second model makes in one go: some seconds of work."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the embedded notes have companions in a space."""

    done: int
    total: int

    @property
    def is_complete(self) -> bool:
        """Tell whether all have."""
        return self.done == self.total


@dataclass(frozen=True, slots=True, eq=False)
class _Target:
    """Where companions go, and in which space the notes are embedded that get some."""

    embedder: Embedder
    space_id: int
    embedded_in: int


class CompanionEmbedder:
    """Makes the companions of notes that are embedded and lack them, in one space."""

    def __init__(
        self, database: Database, active: ActiveEmbedder, second: SecondSpace | None = None
    ) -> None:
        """Make those in the active space, or in the second one if it is given."""
        self._database = database
        self._active = active
        self._second = second

    def _target(self) -> _Target:
        active = self._active.current
        target = self._second or active
        return _Target(target.embedder, target.space_id, active.space_id)

    def missing(self) -> tuple[int, ...]:
        """Return the embedded notes without companions in the space, by id."""
        with self._database.read() as connection:
            return _lacking(connection, self._target())

    def coverage(self) -> Coverage:
        """Count the embedded notes, and those that have companions in the space."""
        target = self._target()
        with self._database.read() as connection:
            total = spaces.count_with_status(connection, target.embedded_in, STATUS_DONE)
            return Coverage(total - len(_lacking(connection, target)), total)

    def clear(self) -> None:
        """Delete every companion in the space, so that all are made anew."""
        target = self._target()
        with transaction(self._database) as unit:
            removed = chunks.remove_of_notes(
                unit.connection, notes.all_ids(unit.connection), target.space_id, COMPANION_KINDS
            )
            unit.removed_vectors(removed)

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
        size = GROUP if self._second is None else SECOND_GROUP
        made = 0
        for start in range(0, len(note_ids), size):
            if is_cancelled():
                break
            made += self._fill_group(note_ids[start : start + size])
            if on_progress is not None:
                on_progress(min(start + size, len(note_ids)))
        return made

    def _fill_group(self, note_ids: Sequence[int]) -> int:
        target = self._target()
        max_chars = target.embedder.max_chars
        with self._database.read() as connection:
            found = notes.get_many(connection, note_ids)
        prepared = [Prepared("", companions_of(note, max_chars)) for note in found]
        outcomes = embed(target.embedder, prepared)
        raise_if_all_failed(outcomes)
        fresh = {
            note.id: outcome
            for note, outcome in zip(found, outcomes, strict=True)
            if outcome.failure is None
        }
        with transaction(self._database) as unit:
            lacking = _lacking(unit.connection, target, fresh)
            current = {
                note.id: fresh[note.id]
                for note in notes.get_many(unit.connection, lacking)
                if companions_of(note, max_chars) == fresh[note.id].prepared.chunks
            }
            _store(unit, target.space_id, current)
        return len(current)


def _lacking(
    connection: Connection, target: _Target, note_ids: Iterable[int] | None = None
) -> tuple[int, ...]:
    return coverage.notes_lacking(
        connection, target.space_id, KIND_WHOLE, note_ids, embedded_in=target.embedded_in
    )


def raise_if_all_failed(outcomes: Sequence[Outcome]) -> None:
    """Raise the error of a group in which nothing could be embedded; warn of single ones."""
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    for error in errors:
        if len(errors) == len(outcomes):
            raise error
        _log.warning("a text of a group is not embedded: %s", error.message)


def _store(unit: Transaction, space_id: int, outcomes: Mapping[int, Outcome]) -> None:
    rows = [
        row
        for note_id, outcome in outcomes.items()
        for row in rows_of(note_id, space_id, outcome.prepared.chunks, outcome.vectors)
    ]
    # Whole notes first, all of them.
    unit.add_vectors(sorted(rows, key=lambda row: COMPANION_KINDS.index(row["kind"])))


def drop_outdated(unit: Transaction, before: Note, after: Note) -> None:
    """Delete the companions of a note, in every space, if an edit changes what they are made of."""
    longest = LONGEST_PARAGRAPH
    if companions_of(before, longest) != companions_of(after, longest):
        removed = chunks.remove_of_notes(unit.connection, [after.id], kinds=COMPANION_KINDS)
        unit.removed_vectors(removed)


def companions_of(note: Note, max_chars: int) -> tuple[Chunk, ...]:
    """Return the texts of a note's companions; a blank field has none.

    The beginning of a body stands in for a summary, if the note has neither that nor conclusions.
    Where all is blank, the first chunk stands for the whole note.
    """
    longest = min(LONGEST_PARAGRAPH, max_chars)
    conclusions = note.key_conclusions if isinstance(note.key_conclusions, list) else []
    stated = "\n".join(text for text in conclusions if isinstance(text, str))
    summary = note.summary
    if is_blank(summary) and is_blank(stated):
        summary = js_trim(note.body or "")
    cut = {number: text[:longest] for number, text in enumerate((note.title, summary, stated))}
    texts = {number: text for number, text in cut.items() if not is_blank(text)}
    fields = (Chunk(number, text, KIND_FIELD) for number, text in texts.items())
    if texts:
        return (Chunk(0, "\n\n".join(texts.values())[:longest], KIND_WHOLE), *fields)
    first = of_note(note, max_chars).chunks[:1]
    return tuple(Chunk(0, chunk.text, KIND_WHOLE) for chunk in first)
