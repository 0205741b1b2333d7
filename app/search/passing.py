"""The ids that pass the filters of one search.

Owns what is filtered: notes, vectors, documents. Each is read once at most.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from sqlalchemy import Connection

from app.db import chunks, lexical, notes
from app.domain.notes import NoteFilters
from app.index.protocol import Ids
from app.search.known_filters import KnownFilters


class Passing:
    """What a search may find; every method returns None when all passes."""

    def __init__(
        self, connection: Connection, epoch: str, filters: NoteFilters, known: KnownFilters
    ) -> None:
        """Read a snapshot of an epoch, which must have been read before."""
        self._connection = connection
        self._epoch = epoch
        self._filters = filters
        self._known = known
        self._read: dict[Hashable, Ids] = {}

    def notes(self) -> Ids | None:
        """Return the ids of notes."""
        return self._ids("notes", notes.ids_passing)

    def documents(self) -> Ids | None:
        """Return the ids of the documents of notes, and of all those of entities."""
        return self._ids("documents", lexical.fragment_ids_passing)

    def vectors(self, space_id: int, kind: str) -> Ids | None:
        """Return the ids of the vectors of a kind in a space."""

        def load(connection: Connection, filters: NoteFilters) -> Ids:
            return chunks.ids_passing(connection, space_id, kind, filters)

        return self._ids((space_id, kind), load)

    def _ids(self, what: Hashable, load: Callable[[Connection, NoteFilters], Ids]) -> Ids | None:
        if self._filters.is_empty:
            return None
        if what not in self._read:
            self._read[what] = self._known.read(
                self._connection,
                self._epoch,
                (what, self._filters),
                lambda: load(self._connection, self._filters),
            )
        return self._read[what]
