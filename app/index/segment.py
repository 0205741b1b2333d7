"""A run of vectors that never changes, and the bitmap of those still alive.

Owns the faiss call and the memory that faiss and numpy share. Must not know other segments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import faiss
import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Vectors = NDArray[np.float32]
Mask = NDArray[np.bool_]
Positions = NDArray[np.int64]

DENSE_SPAN = 8
"""A lookup table may span this many times the ids before a binary search is cheaper."""


@dataclass(frozen=True, eq=False, slots=True)
class Core:
    """Vectors in faiss with their ids ascending; ``vectors`` views faiss's own memory."""

    ids: Ids
    vectors: Vectors
    flat: faiss.IndexFlatIP

    @classmethod
    def filled(cls, count: int, dimension: int, fill: Callable[[Ids, Vectors], None]) -> Core:
        """Reserve the exact memory once and let ``fill`` write ids and vectors into it."""
        flat = faiss.IndexFlatIP(dimension)
        flat.codes.resize(count * dimension * np.dtype(np.float32).itemsize)
        flat.ntotal = count
        ids = np.empty(count, dtype=np.int64)
        if count:
            vectors = faiss.rev_swig_ptr(flat.get_xb(), count * dimension)
            vectors = vectors.reshape(count, dimension)
        else:
            vectors = np.empty((0, dimension), dtype=np.float32)
        fill(ids, vectors)
        return cls(ids, vectors, flat)

    def positions(self, ids: Ids) -> Positions:
        """Return the positions of those ids that are here."""
        if not len(self.ids) or not len(ids):
            return np.empty(0, dtype=np.int64)
        found = np.searchsorted(self.ids, ids)
        found[found == len(self.ids)] = 0
        return np.asarray(found[self.ids[found] == ids], dtype=np.int64)

    def membership(self, ids: Ids) -> Mask:
        """Tell for each position whether its id is among the (ascending) ids."""
        mask = np.zeros(len(self.ids), dtype=np.bool_)
        low = np.searchsorted(ids, self.ids[0])
        high = np.searchsorted(ids, self.ids[-1], side="right")
        wanted = ids[low:high]
        span = int(self.ids[-1] - self.ids[0]) + 1
        if not len(wanted):
            return mask
        if span == len(self.ids):
            mask[wanted - self.ids[0]] = True
        elif span <= DENSE_SPAN * len(self.ids):
            table = np.zeros(span, dtype=np.bool_)
            table[wanted - self.ids[0]] = True
            mask = table[self.ids - self.ids[0]]
        else:
            mask[self.positions(wanted)] = True
        return mask


@dataclass(frozen=True, eq=False, slots=True)
class Segment:
    """A core and which of its vectors are alive (None: all of them)."""

    core: Core
    alive: Mask | None = None

    @property
    def living(self) -> int:
        """Count the vectors that are alive."""
        return len(self.core.ids) if self.alive is None else int(self.alive.sum())

    def without(self, removed: Ids) -> Segment:
        """Return the segment with some more dead; itself when none of the ids lives here."""
        positions = self.core.positions(removed)
        if not len(positions):
            return self
        alive = np.ones(len(self.core.ids), np.bool_) if self.alive is None else self.alive.copy()
        alive[positions] = False
        return replace(self, alive=alive)

    def selected(self, allowed: Ids | None) -> Mask | None:
        """Tell for each position whether it may be found; None when all may."""
        if allowed is None:
            return self.alive
        mask = self.core.membership(allowed)
        return mask if self.alive is None else mask & self.alive

    def search(
        self, query: NDArray[np.float32], limit: int, selected: Mask | None
    ) -> tuple[Positions, NDArray[np.float32]]:
        """Return positions and float32 scores of the best, in no promised order among equals."""
        parameters = None
        if selected is not None:
            bits = np.packbits(selected, bitorder="little")
            selector = faiss.IDSelectorBitmap(bits)  # type: ignore[call-arg, arg-type]
            parameters = faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]
        scores, positions = self.core.flat.search(
            query[np.newaxis, :], min(limit, len(self.core.ids)), params=parameters
        )
        found = positions[0] >= 0
        return positions[0][found], scores[0][found]


def merged(segments: Iterable[Segment]) -> Core:
    """Copy what lives in some segments into one core, by ascending id."""
    parts = list(segments)
    ids = np.concatenate([_living_ids(part) for part in parts])
    order = np.argsort(ids, kind="stable")
    starts = np.cumsum([0, *(part.living for part in parts)])

    def fill(target_ids: Ids, target: Vectors) -> None:
        target_ids[:] = ids[order]
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        for part, start in zip(parts, starts[:-1], strict=True):
            vectors = part.core.vectors if part.alive is None else part.core.vectors[part.alive]
            target[place[start : start + len(vectors)]] = vectors

    return Core.filled(len(ids), parts[0].core.vectors.shape[1], fill)


def _living_ids(segment: Segment) -> Ids:
    return segment.core.ids if segment.alive is None else segment.core.ids[segment.alive]
