"""How cores are made: of documents, and of what lives in other cores.

Owns the order of the entries. Must not decide when anything is merged.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count, repeat

import numpy as np
from numpy.typing import NDArray

from app.lexical.documents import FIELDS, KINDS, LexicalDocument
from app.lexical.numbering import Numbering
from app.lexical.segment import Core, Documents, Entries, Ordinals, Segment
from app.lexical.vocabulary import Vocabulary

_FIELD_NUMBERS = {field: number for number, field in enumerate(FIELDS)}
_KIND_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}
_NO_NOTE_ID = -1


def built(documents: Iterable[LexicalDocument], notes: Numbering) -> tuple[Core, Numbering]:
    """Build a core from documents that come by ascending id; the numbering grows by their notes.

    Documents are read one by one and none is held on to.
    """
    builder = _Builder()
    for document in documents:
        builder.add(document)
    return builder.core(notes)


def merged(segments: Iterable[Segment]) -> Core:
    """Copy what lives in some segments into one core, by ascending id."""
    parts = list(segments)
    sources = [part.living_documents() for part in parts]
    order = np.argsort(np.concatenate([source.ids for source in sources]), kind="stable")
    new_rows = np.empty(len(order), dtype=np.int32)
    new_rows[order] = np.arange(len(order), dtype=np.int32)
    sizes = np.cumsum([len(source.ids) for source in sources])
    moved = [
        _moved(part, rows) for part, rows in zip(parts, np.split(new_rows, sizes[:-1]), strict=True)
    ]
    vocabulary = Vocabulary(tuple(sorted(set().union(*(terms for terms, _, _ in moved)))))
    place_of = {term: place for place, term in enumerate(vocabulary.terms)}
    places = [
        np.fromiter(map(place_of.__getitem__, terms), np.int32, len(terms))[numbers]
        for terms, numbers, _ in moved
    ]
    joined = Documents(
        np.concatenate([source.ids for source in sources]),
        np.concatenate([source.notes for source in sources]),
        np.concatenate([source.kinds for source in sources]),
        np.concatenate([source.lengths for source in sources], axis=1),
    )
    columns = zip(*(entries for _, _, entries in moved), strict=True)
    entries = Entries(*map(np.concatenate, columns))
    return _core(joined.of(order), vocabulary, np.concatenate(places), entries)


def _moved(segment: Segment, new_rows: Ordinals) -> tuple[Sequence[str], NDArray[np.intp], Entries]:
    """Return the living terms, per entry the number of its term among them, and the entries."""
    core = segment.core
    row_of = np.full(len(core), -1, dtype=np.int32)
    row_of[segment.living_rows()] = new_rows
    rows = row_of[core.entries.rows]
    places = np.repeat(np.arange(len(core.vocabulary.terms)), np.diff(core.starts))
    if segment.alive is not None:
        is_alive = rows >= 0
        rows, places = rows[is_alive], places[is_alive]
        kept = core.entries.of(is_alive)
    else:
        kept = core.entries
    used, numbers = np.unique(places, return_inverse=True)
    terms = [core.vocabulary.terms[place] for place in used.tolist()]
    return terms, numbers, Entries(rows, kept.fields, kept.counts)


class _Builder:
    """Collects documents as flat arrays, with terms numbered as they come."""

    def __init__(self) -> None:
        self._ids, self._notes = array("q"), array("q")
        self._kinds, self._lengths = array("B"), array("I")
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._terms, self._rows = array("i"), array("i")
        self._fields, self._counts = array("B"), array("H")

    def add(self, document: LexicalDocument) -> None:
        row = len(self._ids)
        lengths = [0] * len(FIELDS)
        number_of = self._numbers.__getitem__
        for field, counts in document.fields.items():
            field_number = _FIELD_NUMBERS[field]
            self._terms.extend(map(number_of, counts))
            self._counts.extend(counts.values())
            self._fields.extend(repeat(field_number, len(counts)))
            self._rows.extend(repeat(row, len(counts)))
            lengths[field_number] = sum(counts.values())
        self._ids.append(document.id)
        self._notes.append(_NO_NOTE_ID if document.note_id is None else document.note_id)
        self._kinds.append(_KIND_NUMBERS[document.kind])
        self._lengths.extend(lengths)

    def core(self, notes: Numbering) -> tuple[Core, Numbering]:
        terms = sorted(self._numbers)
        numbers = np.fromiter(map(self._numbers.__getitem__, terms), np.intp, len(terms))
        place_of = np.empty(len(terms), dtype=np.int32)
        place_of[numbers] = np.arange(len(terms))
        owners = np.array(self._notes, dtype=np.int64)
        notes = notes.with_ids(owners[owners != _NO_NOTE_ID])
        documents = Documents(
            np.array(self._ids, dtype=np.int64),
            notes.ordinals(owners),
            np.array(self._kinds, dtype=np.uint8),
            np.array(self._lengths, dtype=np.uint32).reshape(-1, len(FIELDS)).T.copy(),
        )
        entries = Entries(
            np.asarray(self._rows, dtype=np.int32),
            np.asarray(self._fields, dtype=np.uint8),
            np.asarray(self._counts, dtype=np.uint16),
        )
        places = place_of[np.asarray(self._terms, dtype=np.int32)]
        return _core(documents, Vocabulary(tuple(terms)), places, entries), notes


def _core(documents: Documents, vocabulary: Vocabulary, places: Ordinals, entries: Entries) -> Core:
    """Put the entries in order; ``places`` (n,) says which term each belongs to."""
    # One number per entry, each another: any way of sorting gives the same order.
    keys = places * np.int64(len(FIELDS))
    keys += entries.fields
    keys *= len(documents.ids)
    keys += entries.rows
    order = np.argsort(keys)
    # Here and not at the first search, so that no search waits for a merge.
    vocabulary.warm()
    starts = np.zeros(len(vocabulary.terms) + 1, dtype=np.int64)
    np.cumsum(np.bincount(places, minlength=len(vocabulary.terms)), out=starts[1:])
    return Core(documents, vocabulary, starts, entries.of(order))
