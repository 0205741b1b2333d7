"""The default index: exhaustive inner products by faiss over segments in this process.

Owns the list of segments: a few big ones, a small tail that new vectors go to, and merges of
neighbours that never copy more than one segment's bound. Must not know where vectors come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from app.domain.evidence import Candidate, Standing
from app.index.core import PLAIN, Core, Form, Ids, Mask, Positions
from app.index.ranked import Ranked, Rough, border_of
from app.index.recent import RecentAnswers
from app.index.rows import Batch, Rows
from app.index.scans import side_by_side
from app.index.segment import Segment, merged
from app.index.selections import Selected, Selections
from app.index.shares import first_wanted, next_wanted
from app.index.work import PROCESSORS

TAIL_ROWS = 1_024
"""The tail is sealed at this size; adding a vector copies at most so many."""

SEGMENT_ROWS = 131_072
"""No merge makes a segment larger than this."""

SHARDS = 2 * PROCESSORS
"""So many segments at least are made of what is scanned by threads."""

PARALLEL_NUMBERS = 8_000_000
"""From so many numbers on (30 MB), threads do; fewer are read before a thread has begun."""

GRAPH_ROWS = 16_384
"""Fewer are scanned faster than they are joined; merges would throw the graph away."""

DEAD_SHARE = 0.3
"""A segment with a larger share of dead vectors is written anew."""


@dataclass(frozen=True, eq=False, slots=True)
class Merge:
    """Segments written into one core; applies to any later state that still has them."""

    sources: tuple[Segment, ...]
    core: Core


@dataclass(frozen=True, eq=False, slots=True)
class FlatIndex:
    """An immutable list of segments; implements ``VectorIndex``."""

    dimension: int
    segments: tuple[Segment, ...] = ()
    form: Form = PLAIN
    _recent: RecentAnswers = field(default_factory=RecentAnswers, init=False, repr=False)
    _selections: Selections = field(default_factory=Selections, init=False, repr=False)

    @classmethod
    def loaded(
        cls, dimension: int, count: int, batches: Iterable[Batch], form: Form = PLAIN
    ) -> FlatIndex:
        """Build from ``count`` vectors that come in batches by ascending id.

        Memory for each segment is reserved once and filled in place, so the peak is the
        vectors' own size and one batch.
        """
        rows = Rows(batches)
        shards = SHARDS if count * dimension >= PARALLEL_NUMBERS else 1
        parts = max(-(-count // SEGMENT_ROWS), shards)
        borders = [count * number // parts for number in range(parts + 1)]
        return cls(
            dimension,
            tuple(
                Segment(Core.filled(end - start, dimension, rows.fill, form))
                for start, end in pairwise(borders)
                if end > start
            ),
            form,
        )

    def count(self, allowed: Ids | None = None) -> int:
        """Count the vectors, or those among the allowed ids (ascending)."""
        if allowed is None:
            return sum(segment.living for segment in self.segments)
        return sum(int(mask.sum()) for mask in self._selected(allowed) if mask is not None)

    def every_id(self) -> Ids:
        """Return all ids, ascending."""
        return np.sort(
            np.concatenate([np.empty(0, np.int64), *(s.living_ids for s in self.segments)])
        )

    def search(
        self, query: NDArray[np.float32], limit: int, allowed: Ids | None = None
    ) -> Sequence[Candidate]:
        """Return the best vectors by score, then id; only allowed ids when these are given."""
        if limit <= 0:
            return []
        known = self._recent.find(query, limit) if allowed is None else None
        if known is not None:
            return known
        found = self._ranked(query, limit, allowed)
        if allowed is None:
            self._recent.keep(query, limit, found)
        return found

    def _ranked(self, query: NDArray[np.float32], limit: int, allowed: Ids | None) -> Ranked:
        """Scan until all that may be among the best ``limit`` is found."""
        selected = self._selected(allowed)
        threaded = self.count() * self.dimension >= PARALLEL_NUMBERS
        error = max((segment.core.error(query) for segment in self.segments), default=0.0)
        found: dict[int, tuple[Positions, NDArray[np.float32]]] = {}
        sizes = _sizes(self.segments, selected)
        due = first_wanted(limit, sizes, is_exact=self.form.graph is None)
        while due:
            scans = [
                partial(self.segments[place].search, query, wanted, selected[place])
                for place, wanted in due.items()
            ]
            found |= zip(due, side_by_side(scans, threaded=threaded), strict=True)
            scores = np.concatenate([scores for _, scores in found.values()])
            # Those of a damaged snapshot may be no numbers until it is mended.
            border = border_of(scores[np.isfinite(scores)], limit) - 2 * error
            worst = {place: _worst(found[place][1], wanted) for place, wanted in due.items()}
            due = next_wanted(due, worst, border)
        rough = [Rough(self.segments[place].core, *scored) for place, scored in found.items()]
        return Ranked(query, rough, limit, error)

    def _selected(self, allowed: Ids | None) -> Selected:
        """Tell for each segment which of its vectors may be found."""
        if allowed is None:
            return [segment.alive for segment in self.segments]
        return self._selections.of(
            allowed, lambda: [segment.selected(allowed) for segment in self.segments]
        )

    def scanned(self) -> FlatIndex:
        """Return the index as it answers without graphs, exactly."""
        return replace(self, segments=tuple(segment.without_graph() for segment in self.segments))

    def vectors(self, ids: Ids) -> NDArray[np.float32]:
        """Return the vectors of these ids that the index holds, in no promised order."""
        held = (segment.core for segment in self.segments)
        rows = [core.planes.take(core.positions(ids)) for core in held]
        return np.concatenate([np.empty((0, self.dimension), np.float32), *rows])

    def scores(self, query: NDArray[np.float32], ids: Sequence[int]) -> dict[int, float]:
        """Return the scores of the vectors of these ids that the index holds."""
        return dict(self._scored(query, np.asarray(ids, dtype=np.int64), None))

    def _scored(
        self, query: NDArray[np.float32], wanted: Ids, allowed: Ids | None
    ) -> list[tuple[int, float]]:
        scored: list[tuple[int, float]] = []
        for segment, mask in zip(self.segments, self._selected(allowed), strict=True):
            positions = segment.core.positions(wanted)
            if mask is not None:
                positions = positions[mask[positions]]
            values = segment.core.exact(positions, query)
            ids, values = _numbers(segment.core.ids[positions], values)
            scored += zip(ids.tolist(), values.tolist(), strict=True)
        return scored

    def standings(
        self, query: NDArray[np.float32], ids: Sequence[int], allowed: Ids | None = None
    ) -> list[Standing]:
        """Return score and rank of the vectors of these ids that the index holds."""
        scored = self._scored(query, np.asarray(ids, dtype=np.int64), allowed)
        better = [0] * len(scored)
        for segment, mask in zip(self.segments, self._selected(allowed), strict=True):
            counts = _count_better(segment, query, mask, scored)
            better = [total + more for total, more in zip(better, counts, strict=True)]
        return [
            Standing(chunk_id, cosine, 1 + ahead)
            for (chunk_id, cosine), ahead in zip(scored, better, strict=True)
        ]

    def changed(self, removed: Ids, added: Ids, vectors: NDArray[np.float32]) -> FlatIndex:
        """Return the index after a batch of changes; an id both removed and added is replaced."""
        gone = np.union1d(removed, added)
        segments = [segment.without(gone) for segment in self.segments]
        segments = [segment for segment in segments if segment.living]
        if len(added):
            if segments and segments[-1].living + len(added) <= TAIL_ROWS:
                segments[-1] = Segment(merged(segments[-1:], self.form, (added, vectors)))
            else:
                order = np.argsort(added, kind="stable")
                batch = iter([(added[order], vectors[order])])
                segments += FlatIndex.loaded(self.dimension, len(added), batch, self.form).segments
        return replace(self, segments=tuple(segments))

    @property
    def is_settled(self) -> bool:
        """Tell whether nothing is to be merged or built."""
        return not self._to_merge() and self._without_graph() is None

    def merge(self) -> Merge | None:
        """Write the segments that should be one into one core; None when all is well.

        Takes as long as the copying takes: run it beside the searches, then ``adopt`` it.
        """
        sources = self._to_merge()
        if sources:
            return Merge(sources, merged(sources, self.form))
        joined = self._without_graph()
        if joined is None or self.form.graph is None:
            return None
        return Merge((joined,), joined.core.with_graph(self.form.graph))

    def _without_graph(self) -> Segment | None:
        """Return a large segment that lacks its graph; None when none does or none is wanted."""
        for segment in self.segments:
            if self.form.graph and not segment.core.graph and segment.living >= GRAPH_ROWS:
                return segment
        return None

    def _to_merge(self) -> tuple[Segment, ...]:
        alone = PARALLEL_NUMBERS // self.dimension
        for segment in self.segments:
            if segment.living < (1 - DEAD_SHARE) * len(segment.core.ids):
                return (segment,)
        for left, right in zip(self.segments, self.segments[1:], strict=False):
            total = left.living + right.living
            is_sealed = right.living > TAIL_ROWS // 2
            largest = min(SEGMENT_ROWS, max(self.count() // SHARDS + 1, alone))
            if is_sealed and left.living <= 2 * right.living and total <= largest:
                return (left, right)
        return ()

    def adopt(self, merge: Merge) -> FlatIndex:
        """Put a merge in the place of its sources; what died meanwhile stays dead.

        Returns the index itself when one of the sources is gone.
        """
        cores = [segment.core for segment in self.segments]
        wanted = [source.core for source in merge.sources]
        if any(core not in cores for core in wanted):
            return self
        mine = [segment for segment in self.segments if segment.core in wanted]
        living = np.sort(np.concatenate([part.living_ids for part in mine]))
        fresh = Segment(merge.core)
        dead = np.setdiff1d(merge.core.ids, living)
        replacement = fresh.without(dead) if len(dead) else fresh
        place = cores.index(wanted[0])
        rest = [segment for segment in self.segments if segment.core not in wanted]
        return replace(self, segments=(*rest[:place], replacement, *rest[place:]))


def _numbers(ids: Ids, scores: NDArray[np.float64]) -> tuple[Ids, NDArray[np.float64]]:
    """Leave out scores that are no numbers, as those of a damaged snapshot before it is mended."""
    is_number = np.isfinite(scores)
    return ids[is_number], scores[is_number]


def _sizes(segments: Sequence[Segment], selected: Selected) -> list[int]:
    """Count the vectors that may be found in each segment."""
    parts = zip(segments, selected, strict=True)
    return [len(part.core.ids) if mask is None else int(mask.sum()) for part, mask in parts]


def _worst(scores: NDArray[np.float32], wanted: int) -> float | None:
    """Return the lowest score, None when there are fewer than wanted: there are no others."""
    return float(scores.min(initial=np.inf)) if len(scores) == wanted else None


def _count_better(
    segment: Segment,
    query: NDArray[np.float32],
    selected: Mask | None,
    scored: Sequence[tuple[int, float]],
) -> list[int]:
    """Count, for each scored id, the vectors of the segment that come before it."""
    if not scored:
        return []
    core = segment.core
    error = core.error(query)
    positions, rough = core.above(query, min(cosine for _, cosine in scored) - 2 * error)
    if selected is not None:
        rough, positions = rough[selected[positions]], positions[selected[positions]]
    counts = []
    for chunk_id, cosine in scored:
        # As float64 scalars: numpy would round a Python float to float32, and count twice or not.
        near, far = np.float64(cosine - error), np.float64(cosine + error)
        surely = int((rough > far).sum())
        close = positions[(rough >= near) & (rough <= far)]
        exact = core.exact(close, query)
        tied_before = (exact == cosine) & (core.ids[close] < chunk_id)
        counts.append(surely + int((exact > cosine).sum()) + int(tied_before.sum()))
    return counts
