"""Exact scores: float64 inner products whose digits do not depend on who else is scored.

Owns the numbers that answers are ordered by. A BLAS product may round a row differently by its
place in the matrix; numpy's pairwise sum over one row does not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FLOAT32_ERROR = 1e-6
"""How far a backend's float32 score may be from the exact one."""


def exact_scores(vectors: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float64]:
    """Score vectors (n, d) against a query (d,); returns (n,)."""
    # Damaged vectors, not mended yet, may hold what is no number; their scores say so.
    with np.errstate(invalid="ignore"):
        products = np.multiply(vectors, query.astype(np.float64))
    return np.asarray(products.sum(axis=1), dtype=np.float64)


def best_first(ids: NDArray[np.int64], scores: NDArray[np.float64], limit: int) -> NDArray[np.intp]:
    """Return the positions of the best ``limit`` by score descending, then id."""
    return np.lexsort((ids, -scores))[:limit]
