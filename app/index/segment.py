"""A core and the bitmap of those of its vectors that are still alive.

Owns what is dead, and the writing of several segments into one. Must not know other segments.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from app.index.core import Core, Form, Ids, Mask, Positions
from app.index.planes import Planes


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
        """Return the segment with some more dead; itself when none of the ids lives here."""
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


def merged(segments: Iterable[Segment], form: Form) -> Core:
    """Copy what lives in some segments into one core, by ascending id."""
    parts = list(segments)
    ids = np.concatenate([part.living_ids for part in parts])
    order = np.argsort(ids, kind="stable")
    starts = np.cumsum([0, *(part.living for part in parts)])

    def fill(target_ids: Ids, target: Planes) -> float:
        target_ids[:] = ids[order]
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        for part, start in zip(parts, starts[:-1], strict=True):
            living = slice(None) if part.alive is None else part.alive
            target.copy(place[start : start + part.living], part.core.planes, living)
        return max(part.core.planes.rounding for part in parts)

    return Core.filled(len(ids), parts[0].core.planes.dimension, fill, form)
