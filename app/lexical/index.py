"""The lexical index: BM25 over segments in this process.

Owns the list of segments: a few big ones, a small tail that new documents go to, and merges of
neighbours. An index is a value: applying changes gives another one, and a search on the old one is
not disturbed. Must not know where documents come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice, pairwise

import numpy as np

from app.lexical.bm25 import Values
from app.lexical.building import built, merged
from app.lexical.documents import KINDS, LexicalDocument
from app.lexical.numbering import Numbering
from app.lexical.query import LexicalQuery
from app.lexical.results import LexicalHit
from app.lexical.run import LexicalRun
from app.lexical.segment import Core, Ids, Segment
from app.lexical.units import Units, documents_of, notes_of

TAIL_DOCUMENTS = 128
"""The tail is sealed at this size; adding a document builds at most so many anew (5 to 10 ms)."""

SEGMENT_DOCUMENTS = 262_144
"""No merge makes a segment larger than this."""

DEAD_SHARE = 0.3
"""A segment with a larger share of dead documents is written anew."""


@dataclass(frozen=True, eq=False, slots=True)
class LexicalMerge:
    """Segments written into one core; applies to any later state that still has them."""

    sources: tuple[Segment, ...]
    core: Core


@dataclass(frozen=True, eq=False)
class LexicalIndex:
    """An immutable list of segments and the numbering of their notes."""

    segments: tuple[Segment, ...] = ()
    numbering: Numbering = field(default_factory=Numbering)
    _documents: dict[tuple[str, ...], Units] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def loaded(cls, documents: Iterable[LexicalDocument]) -> LexicalIndex:
        """Build from documents that come by ascending id; none is held on to."""
        return cls()._with(documents)

    def count(self) -> int:
        """Count the documents."""
        return sum(segment.living for segment in self.segments)

    def search(self, text: str, limit: int, allowed: Ids | None = None) -> list[LexicalHit]:
        """Return the best notes by score, then id; only allowed note ids (ascending) if given.

        A filter changes no score and takes no places.
        """
        return self.run(text).best(limit, allowed)

    def coverage(self, text: str, note_ids: Sequence[int]) -> Values:
        """Return how much of the text's words notes hold (n,), by IDF, from 0 to 1."""
        return self.run(text).coverage(note_ids)

    def run(self, text: str) -> LexicalRun:
        """Score all notes; a note is the sum of its documents, those without a note count not."""
        return LexicalRun.of(LexicalQuery.of(text), self.segments, self._notes)

    def run_documents(self, text: str, kinds: Sequence[str] = KINDS) -> LexicalRun:
        """Score the documents of some kinds one by one; counts and averages are theirs alone."""
        chosen = tuple(kinds)
        if chosen not in self._documents:
            self._documents[chosen] = documents_of(self.segments, chosen)
        return LexicalRun.of(LexicalQuery.of(text), self.segments, self._documents[chosen])

    @cached_property
    def _notes(self) -> Units:
        return notes_of(self.segments, self.numbering)

    def changed(self, removed: Ids, added: Iterable[LexicalDocument]) -> LexicalIndex:
        """Return the index after a batch of changes; an id both removed and added is replaced."""
        documents = sorted(added, key=lambda document: document.id)
        gone = np.union1d(removed, np.array([each.id for each in documents], dtype=np.int64))
        segments = [segment.without(gone) for segment in self.segments]
        segments = [segment for segment in segments if segment.living]
        tail = segments[-1] if segments else None
        grown = LexicalIndex(tuple(segments), self.numbering)._with(documents)
        if tail and documents and tail.living + len(documents) <= TAIL_DOCUMENTS:
            joined = Segment(merged(grown.segments[-2:]))
            return LexicalIndex((*grown.segments[:-2], joined), grown.numbering)
        return grown

    def _with(self, documents: Iterable[LexicalDocument]) -> LexicalIndex:
        segments, numbering = list(self.segments), self.numbering
        rest = iter(documents)
        for first in rest:
            portion = chain([first], islice(rest, SEGMENT_DOCUMENTS - 1))
            core, numbering = built(portion, numbering)
            segments.append(Segment(core))
        return LexicalIndex(tuple(segments), numbering)

    @property
    def is_settled(self) -> bool:
        """Tell whether nothing is to be merged."""
        return not self._to_merge()

    def merge(self) -> LexicalMerge | None:
        """Write the segments that should be one into one core; None when all is well.

        Takes as long as the copying takes: run it beside the searches, then ``adopt`` it.
        """
        sources = self._to_merge()
        return LexicalMerge(sources, merged(sources)) if sources else None

    def _to_merge(self) -> tuple[Segment, ...]:
        for segment in self.segments:
            if segment.living < (1 - DEAD_SHARE) * len(segment.core):
                return (segment,)
        for left, right in pairwise(self.segments):
            total = left.living + right.living
            is_sealed = right.living > TAIL_DOCUMENTS // 2
            if is_sealed and left.living <= 2 * right.living and total <= SEGMENT_DOCUMENTS:
                return (left, right)
        return ()

    def adopt(self, merge: LexicalMerge) -> LexicalIndex:
        """Put a merge in the place of its sources; what died meanwhile stays dead.

        Returns the index itself when one of the sources is gone.
        """
        cores = [segment.core for segment in self.segments]
        wanted = [source.core for source in merge.sources]
        if any(core not in cores for core in wanted):
            return self
        mine = [segment for segment in self.segments if segment.core in wanted]
        living = np.concatenate([segment.living_documents().ids for segment in mine])
        dead = np.setdiff1d(merge.core.documents.ids, living)
        rest = [segment for segment in self.segments if segment.core not in wanted]
        place = cores.index(wanted[0])
        fresh = Segment(merge.core).without(dead)
        return LexicalIndex((*rest[:place], fresh, *rest[place:]), self.numbering)
