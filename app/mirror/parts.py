"""The parts of a view: how each index is loaded, and how it follows the feed.

Owns the way from rows to index values. Must not hold state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from app.db import chunks, lexical, spaces
from app.domain.changes import (
    CHANGED_DOCUMENT,
    CHANGED_SPACE,
    CHANGED_VECTOR,
    OPERATION_ADD,
    Change,
    IndexState,
)
from app.domain.spaces import Space
from app.domain.words import StoredDocument
from app.embedding.scale import Means, centre_passages, means_of
from app.index.faiss_flat import FlatIndex, Merge
from app.index.protocol import VectorIndex
from app.lexical.documents import LexicalDocument, decode
from app.lexical.index import LexicalIndex, LexicalMerge
from app.mirror.view import View
from app.ranking.registry import PART_WORDS as WORDS


@dataclass(frozen=True, slots=True)
class Delta:
    """The net effect of some entries: ids to drop and ids to read."""

    removed: frozenset[int]
    added: frozenset[int]


def empty(connection: Connection, state: IndexState) -> View:
    """Return the view at a state with no part loaded."""
    space = spaces.active(connection)
    return View(state, space, means_of(space.spec) if space else None, {})


def with_parts(connection: Connection, view: View, wanted: Iterable[str]) -> View:
    """Return the view with the wanted parts loaded, from the snapshot of its own state."""
    vectors = dict(view.vectors)
    words = view.words
    for part in wanted:
        if part == WORDS:
            words = words or LexicalIndex.loaded(map(_document, lexical.every(connection)))
        elif part not in vectors and view.space and view.space.spec.dimension is not None:
            vectors[part] = _load_vectors(connection, view.space, view.means, part)
    return replace(view, vectors=vectors, words=words)


def missing(view: View, wanted: Iterable[str]) -> tuple[str, ...]:
    """Return the wanted parts that could be loaded and are not."""
    has_space = view.space is not None and view.space.spec.dimension is not None
    return tuple(
        part
        for part in wanted
        if (view.words is None if part == WORDS else has_space and part not in view.vectors)
    )


def _load_vectors(
    connection: Connection, space: Space, means: Means | None, kind: str
) -> VectorIndex:
    dimension = space.spec.dimension or 0
    return FlatIndex.loaded(
        dimension,
        chunks.count(connection, space.id, kind),
        _batches(connection, space.id, kind, dimension, means),
    )


def _batches(
    connection: Connection, space_id: int, kind: str, dimension: int, means: Means | None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    for batch in chunks.all_vectors(connection, space_id, kind, dimension):
        yield batch.ids, centre_passages(batch.vectors, batch.has_han, means)


def followed(
    connection: Connection, view: View, entries: Iterable[Change], state: IndexState
) -> View:
    """Return the view after some entries; after a change of space its vectors are loaded anew."""
    listed = list(entries)
    words = _followed_words(connection, view.words, listed)
    if any(entry.what == CHANGED_SPACE for entry in listed):
        fresh = replace(empty(connection, state), words=words)
        return with_parts(connection, fresh, view.vectors)
    vectors = {
        kind: _followed_vectors(connection, view, kind, index, listed)
        for kind, index in view.vectors.items()
    }
    return replace(view, state=state, vectors=vectors, words=words)


def _followed_words(
    connection: Connection, words: LexicalIndex | None, entries: Iterable[Change]
) -> LexicalIndex | None:
    delta = _delta(entry for entry in entries if entry.what == CHANGED_DOCUMENT)
    if words is None or not (delta.added or delta.removed):
        return words
    added = map(_document, lexical.some(connection, sorted(delta.added)))
    return words.changed(np.array(sorted(delta.removed), dtype=np.int64), added)


def _document(stored: StoredDocument) -> LexicalDocument:
    return LexicalDocument(stored.id, stored.kind, stored.note_id, decode(stored.postings))


def _followed_vectors(
    connection: Connection, view: View, kind: str, index: VectorIndex, entries: Iterable[Change]
) -> VectorIndex:
    space_id = view.space.id if view.space else None
    delta = _delta(
        entry
        for entry in entries
        if entry.what == CHANGED_VECTOR and entry.kind == kind and entry.space_id == space_id
    )
    if not (delta.added or delta.removed):
        return index
    batch = chunks.vectors(connection, sorted(delta.added), index.dimension)
    vectors = centre_passages(batch.vectors, batch.has_han, view.means)
    return index.changed(np.array(sorted(delta.removed), dtype=np.int64), batch.ids, vectors)


def _delta(entries: Iterable[Change]) -> Delta:
    last: Mapping[int, str] = {entry.target_id: entry.operation for entry in entries}
    added = frozenset(target for target, operation in last.items() if operation == OPERATION_ADD)
    return Delta(removed=frozenset(last) - added, added=added)


@dataclass(frozen=True, slots=True, eq=False)
class PartMerge:
    """Segments of one part, written into one."""

    part: str
    merge: Merge | LexicalMerge


def next_merge(view: View) -> PartMerge | None:
    """Write the segments of one part that should be one; None when all parts are well."""
    for kind, index in view.vectors.items():
        if isinstance(index, FlatIndex) and (merge := index.merge()):
            return PartMerge(kind, merge)
    if view.words is not None and (merged := view.words.merge()):
        return PartMerge(WORDS, merged)
    return None


def adopted(view: View, done: PartMerge) -> View:
    """Return a view, maybe a later one, with a merge in the place of its sources."""
    if isinstance(done.merge, LexicalMerge):
        return replace(view, words=view.words.adopt(done.merge) if view.words else None)
    index = view.vectors.get(done.part)
    if not isinstance(index, FlatIndex):
        return view
    return replace(view, vectors={**view.vectors, done.part: index.adopt(done.merge)})
