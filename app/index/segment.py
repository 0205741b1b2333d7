"""A core and the bitmap of those of its vectors that are still alive.

Owns what is dead, and the writing of several segments into one. Must not know other segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from app.index.core import Core, Form, Ids, Mask, Positions
from app.index.planes import Planes
from app.index.rows import Batch

NOTHING: Batch = (np.empty(0, np.int64), np.empty((0, 0), np.float32))


@dataclass(frozen=True, eq=False, slots=True)
class Segment:
    """A core and which of its vectors are alive (None: all of them)."""

    core: Core
    alive: Mask | None = None

    @property
    def living(self) -> int:
        """Count the vectors that are alive."""
        return len(self.core.ids) if self.alive is None else int(self.alive.sum())

    @property
    def living_ids(self) -> Ids:
        """The ids that are alive, ascending."""
        return self.core.ids if self.alive is None else self.core.ids[self.alive]

    def without(self, removed: Ids) -> Segment:
        """Return the segment with some more dead; itself when none of the ids lives here.

        The ids come ascending: those of new vectors are mostly higher than all that are known.
        """
        ids = self.core.ids
        if not len(ids) or not len(removed) or removed[0] > ids[-1]:
            return self
        positions = self.core.positions(removed)
        if not len(positions):
            return self
        alive = np.ones(len(self.core.ids), np.bool_) if self.alive is None else self.alive.copy()
        alive[positions] = False
        return replace(self, alive=alive)

    def without_graph(self) -> Segment:
        """Return the segment as one that is scanned."""
        return replace(self, core=replace(self.core, graph=None))

    def selected(self, allowed: Ids) -> Mask:
        """Tell for each position whether it is alive and among the allowed ids (ascending)."""
        mask = self.core.membership(allowed)
        return mask if self.alive is None else mask & self.alive

    def search(
        self, query: NDArray[np.float32], limit: int, selected: Mask | None
    ) -> tuple[Positions, NDArray[np.float32]]:
        """Return positions and scores of the best by a scan, in no promised order among equals."""
        return self.core.search(query, limit, selected)


def merged(segments: Sequence[Segment], form: Form, added: Batch | None = None) -> Core:
    """Copy what lives in some segments, and what is added, into one core, by ascending id."""
    added_ids, vectors = added or NOTHING
    ids = np.concatenate([*(part.living_ids for part in segments), added_ids])
    order = np.argsort(ids, kind="stable")
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))

    def fill(target_ids: Ids, target: Planes) -> float:
        target_ids[:] = ids[order]
        start = 0
        for part in segments:
            living = slice(None) if part.alive is None else part.alive
            end = start + part.living
            target.copy(places[start:end], part.core.planes, living)
            start = end
        put = target.put(places[start:], vectors) if len(vectors) else 0.0
        return max(put, *(part.core.planes.rounding for part in segments))

    return Core.filled(len(ids), segments[0].core.planes.dimension, fill, form)
