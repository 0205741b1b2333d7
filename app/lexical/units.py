"""What is scored: notes, each with all of its documents, or documents one by one.

Owns the sums over documents. They are sums of whole numbers, exact in any order, so no answer
depends on how the documents are spread over segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from app.lexical.bm25 import Values, length_norms
from app.lexical.documents import FIELDS, KINDS
from app.lexical.numbering import Numbering
from app.lexical.segment import NONE, Entries, Ids, Mask, Ordinals, Places, Segment

DENSE_SHARE = 8
"""From one entry to so many units on, arrays over all units are faster than sorting."""


Found = Sequence[tuple[int, Entries]]
"""The entries of a term, with the number of the segment that they are from."""

_Columns = tuple[Ordinals, NDArray[np.uint8], NDArray[np.uint16]]
"""Of some entries: the unit that each belongs to, field and count."""


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Where a term occurs: ordinals of units, ascending (n,), and frequencies (fields, n)."""

    ordinals: Places
    frequencies: Values

    def present(self, ordinals: Places) -> tuple[Mask, Places]:
        """Tell which of some units have the term, and at which place those are here."""
        if not len(self.ordinals):
            return np.zeros(len(ordinals), np.bool_), np.zeros(len(ordinals), np.intp)
        places = np.searchsorted(self.ordinals, ordinals)
        places[places == len(self.ordinals)] = 0
        return self.ordinals[places] == ordinals, places


@dataclass(frozen=True, eq=False)
class Units:
    """Units by ordinal: their ids and lengths, and which unit a segment's row belongs to.

    ``lengths`` is (fields, n), ``living`` counts the units that live; ``of_rows`` has for each
    segment the ordinals of its rows, NONE for a row that belongs to no unit.
    """

    numbering: Numbering
    lengths: Values
    living: int
    of_rows: tuple[Ordinals, ...]

    def __len__(self) -> int:
        return len(self.numbering)

    @property
    def ids(self) -> Ids:
        """Ids by ordinal (n,)."""
        return self.numbering.ids

    @cached_property
    def norms(self) -> Values:
        """What frequencies are divided by (fields, n)."""
        return length_norms(self.lengths)

    def occurrences(self, terms: Sequence[Found]) -> list[Occurrences]:
        """Sum the entries of each of some terms over units.

        Small terms are summed together: a call of numpy costs as much as thousands of entries.
        """
        columns = [self._columns(found) for found in terms]
        sizes = [len(ordinals) for ordinals, _, _ in columns]
        if not terms or sum(sizes) * DENSE_SHARE >= len(self):
            return [_summed(each, self._distinct(each[0])) for each in columns]
        ordinals, fields, counts = map(np.concatenate, zip(*columns, strict=True))
        keys = np.repeat(np.arange(len(terms)) * len(self), sizes) + ordinals
        all_terms = _summed((ordinals, fields, counts), np.unique(keys, return_inverse=True))
        bounds = np.searchsorted(all_terms.ordinals, np.arange(len(terms) + 1) * len(self))
        return [
            Occurrences(
                all_terms.ordinals[start:end] - number * len(self),
                all_terms.frequencies[:, start:end],
            )
            for number, (start, end) in enumerate(pairwise(bounds.tolist()))
        ]

    def _columns(self, found: Found) -> _Columns:
        """Return the ordinals, fields and counts of the entries of a term."""
        ordinals = [self.of_rows[number][entries.rows] for number, entries in found]
        fields = [entries.fields for _, entries in found]
        counts = [entries.counts for _, entries in found]
        columns = (
            np.concatenate([np.empty(0, np.int32), *ordinals]),
            np.concatenate([np.empty(0, np.uint8), *fields]),
            np.concatenate([np.empty(0, np.uint16), *counts]),
        )
        is_owned = columns[0] != NONE
        if is_owned.all():
            return columns
        return columns[0][is_owned], columns[1][is_owned], columns[2][is_owned]

    def _distinct(self, ordinals: Ordinals) -> tuple[Places, Places]:
        """Return the distinct ordinals ascending, and the place of each given one among them."""
        if len(ordinals) * DENSE_SHARE < len(self):
            return np.unique(ordinals.astype(np.intp), return_inverse=True)
        is_present = np.zeros(len(self), dtype=np.bool_)
        is_present[ordinals] = True
        units = np.flatnonzero(is_present)
        place_of = np.empty(len(self), dtype=np.intp)
        place_of[units] = np.arange(len(units))
        return units, place_of[ordinals]


def _summed(columns: _Columns, distinct: tuple[Places, Places]) -> Occurrences:
    """Sum counts by field and unit; ``distinct`` has the units and the place of each entry."""
    _, fields, counts = columns
    units, places = distinct
    cells = fields.astype(np.intp) * len(units) + places
    sums = np.bincount(cells, counts.astype(np.float64), len(FIELDS) * len(units))
    frequencies = np.asarray(sums, dtype=np.float64).reshape(len(FIELDS), len(units))
    return Occurrences(units, frequencies)


def notes_of(segments: Sequence[Segment], notes: Numbering) -> Units:
    """Make one unit of each note: the sum of its living documents."""
    size = len(notes)
    lengths = np.zeros((len(FIELDS), size))
    documents = np.zeros(size, dtype=np.int64)
    for segment in segments:
        living = segment.living_documents()
        # One bin more, which is then left out, for those without a note.
        owners = living.notes - NONE
        documents += np.bincount(owners, minlength=size + 1)[1:]
        for number in range(len(FIELDS)):
            lengths[number] += np.bincount(owners, living.lengths[number], size + 1)[1:]
    of_rows = tuple([segment.core.documents.notes for segment in segments])
    return Units(notes, lengths, int(np.count_nonzero(documents)), of_rows)


def documents_of(segments: Sequence[Segment], kinds: Sequence[str]) -> Units:
    """Make one unit of each living document of some kinds."""
    numbers = [KINDS.index(kind) for kind in kinds]
    ids, lengths, of_rows = [np.empty(0, np.int64)], [np.zeros((len(FIELDS), 0))], []
    size = 0
    for segment in segments:
        documents = segment.core.documents
        rows = segment.living_rows()
        rows = rows[np.isin(documents.kinds[rows], numbers)]
        ordinals = np.full(len(documents.ids), NONE, dtype=np.int32)
        ordinals[rows] = np.arange(size, size + len(rows), dtype=np.int32)
        of_rows.append(ordinals)
        ids.append(documents.ids[rows])
        lengths.append(documents.lengths[:, rows].astype(np.float64))
        size += len(rows)
    numbering = Numbering(np.concatenate(ids))
    return Units(numbering, np.concatenate(lengths, axis=1), size, tuple(of_rows))
