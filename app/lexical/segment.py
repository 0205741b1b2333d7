"""A run of documents that never changes, and the bitmap of those still alive.

Owns the arrays from terms to documents. Must not know other segments, or what a score is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.lexical.vocabulary import Vocabulary

Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]
Ordinals = NDArray[np.int32]
Places = NDArray[np.intp]

NONE = -1
"""The ordinal of what there is none of."""


class Entries(NamedTuple):
    """Where terms stand: row of the document, number of the field, occurrences; (n,) each."""

    rows: Ordinals
    fields: NDArray[np.uint8]
    counts: NDArray[np.uint16]

    def of(self, chosen: slice | Mask | Places) -> Entries:
        """Return some of the entries."""
        return Entries(self.rows[chosen], self.fields[chosen], self.counts[chosen])


@dataclass(frozen=True, eq=False, slots=True)
class Documents:
    """Documents by ascending id, without their terms.

    ``ids``, ``notes`` (ordinals in the index's numbering, NONE without one) and ``kinds``
    (numbers in ``KINDS``) are (n,); ``lengths`` (fields, n) counts occurrences of terms.
    """

    ids: Ids
    notes: Ordinals
    kinds: NDArray[np.uint8]
    lengths: NDArray[np.uint32]

    def of(self, rows: Places) -> Documents:
        """Return some of the documents, in that order."""
        return Documents(self.ids[rows], self.notes[rows], self.kinds[rows], self.lengths[:, rows])


@dataclass(frozen=True, eq=False, slots=True)
class Core:
    """Documents with the entries of each term of their vocabulary.

    The entries of the term at place p are those from ``starts[p]`` to ``starts[p + 1]``, by field,
    then row.
    """

    documents: Documents
    vocabulary: Vocabulary
    starts: NDArray[np.int64]
    entries: Entries

    def __len__(self) -> int:
        return len(self.documents.ids)

    def rows_of(self, ids: Ids) -> Places:
        """Return the rows of those ids that are here."""
        own = self.documents.ids
        if not len(own) or not len(ids):
            return np.empty(0, dtype=np.intp)
        found = np.searchsorted(own, ids)
        found[found == len(own)] = 0
        return np.asarray(found[own[found] == ids], dtype=np.intp)

    def span(self, place: int) -> slice:
        """Return which entries are those of the term at a place."""
        return slice(int(self.starts[place]), int(self.starts[place + 1]))


@dataclass(frozen=True, eq=False, slots=True)
class Segment:
    """A core and which of its documents are alive (None: all of them)."""

    core: Core
    alive: Mask | None = None

    @property
    def living(self) -> int:
        """Count the documents that are alive."""
        return len(self.core) if self.alive is None else int(self.alive.sum())

    def living_rows(self) -> Places:
        """Return the rows of the documents that are alive, ascending."""
        if self.alive is None:
            return np.arange(len(self.core), dtype=np.intp)
        return np.flatnonzero(self.alive)

    def living_documents(self) -> Documents:
        """Return the documents that are alive, by ascending id."""
        documents = self.core.documents
        return documents if self.alive is None else documents.of(self.living_rows())

    def without(self, removed: Ids) -> Segment:
        """Return the segment with some more dead; itself when none of the ids is here."""
        rows = self.core.rows_of(removed)
        if not len(rows):
            return self
        alive = np.ones(len(self.core), np.bool_) if self.alive is None else self.alive.copy()
        alive[rows] = False
        return replace(self, alive=alive)

    def entries(self, place: int) -> Entries:
        """Return the entries of the term at a place that stand in living documents."""
        entries = self.core.entries.of(self.core.span(place))
        return entries if self.alive is None else entries.of(self.alive[entries.rows])

    def has(self, place: int) -> bool:
        """Tell whether the term at a place stands in a living document."""
        return self.alive is None or len(self.entries(place).rows) > 0
