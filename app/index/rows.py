"""A stream of vectors that comes in batches and is taken in portions of another size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from app.index.core import Ids
from app.index.planes import Planes

Batch = tuple[Ids, NDArray[np.float32]]


class Rows:
    """Hands out a stream of batches in portions of any size, without joining them."""

    def __init__(self, batches: Iterable[Batch]) -> None:
        self._batches: Iterator[Batch] = iter(batches)
        self._left: Batch | None = None

    def fill(self, ids: Ids, planes: Planes) -> float:
        """Write the next ``len(ids)`` rows into ids and planes; return their rounding."""
        done, rounding = 0, 0.0
        while done < len(ids):
            batch_ids, batch_vectors = self._left or next(self._batches)
            size = min(len(ids) - done, len(batch_ids))
            ids[done : done + size] = batch_ids[:size]
            put = planes.put(slice(done, done + size), batch_vectors[:size])
            rounding = max(rounding, put)
            rest = (batch_ids[size:], batch_vectors[size:])
            self._left = rest if len(rest[0]) else None
            done += size
        return rounding
