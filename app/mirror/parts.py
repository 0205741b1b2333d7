"""The parts of a view: how each index is loaded, and how it follows the feed.

Owns the way from rows to index values. Must not hold state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from app.db import coverage, lexical, message_documents, spaces
from app.domain.changes import (
    CHANGED_DOCUMENT,
    CHANGED_MESSAGES,
    CHANGED_SPACE,
    CHANGED_VECTOR,
    Change,
    IndexState,
)
from app.domain.chunks import KIND_WHOLE, SECOND_PARTS
from app.domain.fragments import FRAGMENT_KINDS
from app.domain.spaces import Space
from app.domain.words import StoredDocument
from app.embedding.scale import means_of
from app.index.faiss_flat import FlatIndex, Merge
from app.lexical.documents import LexicalDocument, decode
from app.lexical.index import LexicalIndex, LexicalMerge
from app.mirror import held_vectors
from app.mirror.held_vectors import IN_MEMORY, Holding, net_effect
from app.mirror.view import SecondView, View
from app.ranking.registry import PART_FRAGMENTS as FRAGMENTS
from app.ranking.registry import PART_WORDS as WORDS

MESSAGES = "messages"
"""The part of a view that holds the lexical index of messages; no ranker of notes reads it."""


def empty(connection: Connection, state: IndexState, second: int | None = None) -> View:
    """Return the view at a state with no part loaded; ``second`` is the second space's id."""
    space = spaces.searching(connection)
    beside = None
    if second is not None:
        other = spaces.get(connection, second)
        beside = SecondView(other, means_of(other.spec))
    return View(state, space, means_of(space.spec) if space else None, {}, second=beside)


def with_parts(
    connection: Connection, view: View, wanted: Iterable[str], holding: Holding = IN_MEMORY
) -> View:
    """Return the view with the wanted parts loaded, from the snapshot of its own state."""
    vectors = dict(view.vectors)
    words, second, fragments = view.words, view.second, view.fragments
    messages = view.messages
    for part in wanted:
        if part == WORDS:
            words = words or LexicalIndex.loaded(map(_document, lexical.every(connection)))
        elif part == FRAGMENTS:
            fragments = fragments or _load_fragments(connection, view)
        elif part == MESSAGES:
            messages = messages or _load_messages(connection)
        elif part not in vectors and _dimension(view, part) is not None:
            vectors[part] = held_vectors.loaded(connection, view, part, holding)
        if part in SECOND_PARTS and second and view.space and second.is_complete is None:
            second = replace(second, is_complete=_is_complete(connection, view.space, second.space))
    loaded = replace(view, vectors=vectors, words=words, second=second)
    return replace(loaded, fragments=fragments, messages=messages)


def _load_messages(connection: Connection) -> LexicalIndex:
    return LexicalIndex.loaded(map(_document, message_documents.every(connection)))


def _load_fragments(connection: Connection, view: View) -> LexicalIndex:
    stored = lexical.every_fragment(connection, _space_id(view))
    return LexicalIndex.loaded(map(_document, stored))


def _space_id(view: View) -> int | None:
    return view.space.id if view.space else None


def _is_complete(connection: Connection, active: Space, second: Space) -> bool:
    return coverage.every_note_has(connection, second.id, KIND_WHOLE, active.id)


def _dimension(view: View, part: str) -> int | None:
    held = view.held_in(part)
    return held[0].spec.dimension if held else None


def missing(view: View, wanted: Iterable[str]) -> tuple[str, ...]:
    """Return the wanted parts that could be loaded and are not."""
    return tuple(part for part in wanted if _is_missing(view, part))


def _is_missing(view: View, part: str) -> bool:
    if part == WORDS:
        return view.words is None
    if part == FRAGMENTS:
        return view.fragments is None
    if part == MESSAGES:
        return view.messages is None
    if _dimension(view, part) is None:
        return False
    is_undecided = part in SECOND_PARTS and view.second and view.second.is_complete is None
    return part not in view.vectors or bool(is_undecided and view.space)


def followed(
    connection: Connection,
    view: View,
    entries: Iterable[Change],
    state: IndexState,
    holding: Holding = IN_MEMORY,
) -> View:
    """Return the view after some entries; after a change of space its vectors are loaded anew."""
    listed = list(entries)
    words = _followed_words(connection, view.words, listed)
    messages = _followed_messages(connection, view.messages, listed)
    if any(entry.what == CHANGED_SPACE for entry in listed):
        second = view.second.space.id if view.second else None
        fresh = replace(empty(connection, state, second), words=words, messages=messages)
        beside = () if view.fragments is None else (FRAGMENTS,)
        return with_parts(connection, fresh, (*view.vectors, *beside), holding)
    vectors = {
        part: held_vectors.followed(
            connection, view, part, index, listed, sequence=state.sequence, holding=holding
        )
        for part, index in view.vectors.items()
    }
    followed_second = _followed_second(view.second, listed)
    return replace(
        view,
        state=state,
        vectors=vectors,
        words=words,
        second=followed_second,
        fragments=_followed_fragments(connection, view, listed),
        messages=messages,
    )


def _followed_second(second: SecondView | None, entries: Iterable[Change]) -> SecondView | None:
    """Forget whether the second space is complete, once a vector changed in any."""
    if second is not None and any(entry.what == CHANGED_VECTOR for entry in entries):
        return replace(second, is_complete=None)
    return second


def _followed_words(
    connection: Connection, words: LexicalIndex | None, entries: Iterable[Change]
) -> LexicalIndex | None:
    delta = net_effect(entry for entry in entries if _is_document(entry, lexical.NOTE_KINDS))
    if words is None or not (delta.added or delta.removed):
        return words
    added = map(_document, lexical.some(connection, sorted(delta.added)))
    return words.changed(np.array(sorted(delta.removed), dtype=np.int64), added)


def _followed_messages(
    connection: Connection, messages: LexicalIndex | None, entries: Iterable[Change]
) -> LexicalIndex | None:
    delta = net_effect(entry for entry in entries if entry.what == CHANGED_MESSAGES)
    if messages is None or not (delta.added or delta.removed):
        return messages
    added = map(_document, message_documents.some(connection, sorted(delta.added)))
    return messages.changed(np.array(sorted(delta.removed), dtype=np.int64), added)


def _followed_fragments(
    connection: Connection, view: View, entries: Iterable[Change]
) -> LexicalIndex | None:
    delta = net_effect(entry for entry in entries if _is_document(entry, FRAGMENT_KINDS))
    if view.fragments is None or not (delta.added or delta.removed):
        return view.fragments
    stored = lexical.some_fragments(connection, _space_id(view), sorted(delta.added))
    return view.fragments.changed(
        np.array(sorted(delta.removed), dtype=np.int64), map(_document, stored)
    )


def _is_document(entry: Change, kinds: Sequence[str]) -> bool:
    """Tell whether an entry is about a document of some kinds; older ones do not say of which."""
    return entry.what == CHANGED_DOCUMENT and (entry.kind is None or entry.kind in kinds)


def _document(stored: StoredDocument) -> LexicalDocument:
    return LexicalDocument(stored.id, stored.kind, stored.note_id, decode(stored.postings))


@dataclass(frozen=True, slots=True, eq=False)
class PartMerge:
    """Segments of one part, written into one."""

    part: str
    merge: Merge | LexicalMerge


def is_settled(view: View) -> bool:
    """Tell whether no part has anything to merge."""
    held: list[FlatIndex | LexicalIndex | None] = [view.words, view.fragments, view.messages]
    held += [each for each in view.vectors.values() if isinstance(each, FlatIndex)]
    return all(each.is_settled for each in held if each is not None)


def next_merge(view: View) -> PartMerge | None:
    """Write the segments of one part that should be one; None when all parts are well."""
    for kind, index in view.vectors.items():
        if isinstance(index, FlatIndex) and (merge := index.merge()):
            return PartMerge(kind, merge)
    if view.words is not None and (merged := view.words.merge()):
        return PartMerge(WORDS, merged)
    if view.fragments is not None and (merged := view.fragments.merge()):
        return PartMerge(FRAGMENTS, merged)
    if view.messages is not None and (merged := view.messages.merge()):
        return PartMerge(MESSAGES, merged)
    return None


def adopted(view: View, done: PartMerge) -> View:
    """Return a view, maybe a later one, with a merge in the place of its sources."""
    if isinstance(done.merge, LexicalMerge):
        # Each of these parts is called as the field of the view that holds it.
        merged = getattr(view, done.part)
        changed: dict[str, Any] = {done.part: merged.adopt(done.merge) if merged else None}
        return replace(view, **changed)
    index = view.vectors.get(done.part)
    if not isinstance(index, FlatIndex):
        return view
    return replace(view, vectors={**view.vectors, done.part: index.adopt(done.merge)})


def reread(connection: Connection, view: View, part: str, ids: NDArray[np.int64]) -> View:
    """Return the view with some vectors of a part read from their rows again."""
    index = held_vectors.reread(connection, view, part, ids)
    return replace(view, vectors={**view.vectors, part: index})


def without(view: View, part: str) -> View:
    """Return the view as if nobody had asked for a part of vectors."""
    return replace(
        view, vectors={name: each for name, each in view.vectors.items() if name != part}
    )
