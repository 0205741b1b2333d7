"""An index that lies elsewhere and that all processes share: what is asked of it, and how.

Owns the exact scores: a store gives the vectors that it thinks best, and they are scored here as
those of every other index. Must not know which store it is, nor write to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from app.domain.evidence import Candidate, Standing
from app.index.exact import FLOAT32_ERROR, best_first, exact_scores
from app.index.protocol import Ids, Query, Vectors

FIRST_SURPLUS = 16
"""How many more than wanted are asked for first, to see what lies within the error of the cut."""


class Progress(NamedTuple):
    """How far a store is: the sequence it stands at, and the highest id that it was given.

    Of states before ``since`` it does not know what was removed.
    """

    sequence: int
    last_id: int
    is_complete: bool
    since: int


class Batch(NamedTuple):
    """Changes of a store, with the sequence number of each: (n,), and vectors (n, d)."""

    removed: Ids
    removed_at: Ids
    added: Ids
    added_at: Ids
    vectors: Vectors


class Found(NamedTuple):
    """Vectors (n, d) with their ids (n,)."""

    ids: Ids
    vectors: Vectors


class Better(NamedTuple):
    """How many vectors surely score higher than some number, and those too near it to say."""

    surely: int
    close: Found


class Store(Protocol):
    """Vectors of one space and kind, by chunk id, as they were at a sequence number.

    ``at`` is that number: what was added later is not there yet. A store is exact when ``nearest``
    gives the best by a score that is within ``FLOAT32_ERROR`` of the exact one.
    """

    @property
    def most(self) -> int:
        """The most vectors that it gives at once."""
        ...

    def count(self, allowed: Ids | None, at: int) -> int:
        """Count the vectors, or those among the allowed ids."""
        ...

    def nearest(self, query: Query, limit: int, allowed: Ids | None, at: int) -> Found:
        """Return the best vectors, in no promised order."""
        ...

    def vectors(self, ids: Ids, at: int) -> Found:
        """Return the vectors of those ids that are there."""
        ...

    def better(self, query: Query, score: float, allowed: Ids | None, at: int) -> Better:
        """Count the vectors that score higher than a number."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class SharedIndex:
    """A store at a sequence number; implements ``VectorIndex``."""

    store: Store
    dimension: int
    at: int

    def count(self, allowed: Ids | None = None) -> int:
        """Count the vectors, or those among the allowed ids (ascending)."""
        return self.store.count(allowed, self.at)

    def search(self, query: Query, limit: int, allowed: Ids | None = None) -> Sequence[Candidate]:
        """Return the best vectors by score, then id; only allowed ids when these are given."""
        if limit <= 0 or (allowed is not None and not len(allowed)):
            return []
        ids, scores = self._near_the_top(query, limit, allowed)
        order = best_first(ids, scores, limit)
        pairs = zip(ids[order].tolist(), scores[order].tolist(), strict=True)
        return [Candidate(*pair) for pair in pairs]

    def _near_the_top(
        self, query: Query, limit: int, allowed: Ids | None
    ) -> tuple[Ids, NDArray[np.float64]]:
        wanted = limit + FIRST_SURPLUS
        while True:
            found = self.store.nearest(query, min(wanted, self.store.most), allowed, self.at)
            scores = exact_scores(found.vectors, query)
            if len(scores) < wanted:
                return found.ids, scores
            cut = np.partition(scores, len(scores) - limit)[len(scores) - limit]
            if scores.min() < cut - 2 * FLOAT32_ERROR:
                return found.ids, scores
            wanted *= 2

    def scores(self, query: Query, ids: Sequence[int]) -> dict[int, float]:
        """Return the scores of the vectors of these ids that the index holds."""
        if not len(ids):
            return {}
        found = self.store.vectors(np.asarray(ids, dtype=np.int64), self.at)
        scores = exact_scores(found.vectors, query)
        return dict(zip(found.ids.tolist(), scores.tolist(), strict=True))

    def standings(
        self, query: Query, ids: Sequence[int], allowed: Ids | None = None
    ) -> list[Standing]:
        """Return score and rank of the vectors of these ids that the index holds."""
        wanted = np.asarray(ids, dtype=np.int64)
        if allowed is not None:
            wanted = np.intersect1d(wanted, allowed)
        return [
            Standing(chunk_id, score, 1 + self._before(query, chunk_id, score, allowed))
            for chunk_id, score in self.scores(query, wanted.tolist()).items()
        ]

    def _before(self, query: Query, chunk_id: int, score: float, allowed: Ids | None) -> int:
        surely, close = self.store.better(query, score, allowed, self.at)
        exact = exact_scores(close.vectors, query)
        tied_before = (exact == score) & (close.ids < chunk_id)
        return surely + int((exact > score).sum()) + int(tied_before.sum())
