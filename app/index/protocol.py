"""What every vector index can do, whatever its backend.

An index is a value: whoever holds one searches what it held when it was made, whatever comes
later. Scores are inner products in float64 of the vectors that the index holds, so every exact
backend and shard count gives the same answer. How an index changes is its own matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from app.domain.evidence import Candidate, Standing

Ids = NDArray[np.int64]
Vectors = NDArray[np.float32]
Query = NDArray[np.float32]


class VectorIndex(Protocol):
    """Vectors of one space and kind, by chunk id."""

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    def count(self, allowed: Ids | None = None) -> int:
        """Count the vectors, or those among the allowed ids (ascending)."""
        ...

    def search(self, query: Query, limit: int, allowed: Ids | None = None) -> Sequence[Candidate]:
        """Return the best vectors by score, then id; only allowed ids when these are given."""
        ...

    def scores(self, query: Query, ids: Sequence[int]) -> dict[int, float]:
        """Return the scores of the vectors of these ids that the index holds."""
        ...

    def standings(
        self, query: Query, ids: Sequence[int], allowed: Ids | None = None
    ) -> list[Standing]:
        """Return score and rank of the vectors of these ids that the index holds."""
        ...
