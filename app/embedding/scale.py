"""Centring: making the cosines of a space say more (search.md, stage 3).

Owns the arithmetic on vectors that are already unit length. Must not load, store or rank.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from app.domain.spaces import SpaceSpec

_ROWS_AT_ONCE: Final = 8_192


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """The mean vectors of a space, each (d,) float32, for texts without and with Han."""

    query: NDArray[np.float32]
    query_han: NDArray[np.float32]
    passage: NDArray[np.float32]
    passage_han: NDArray[np.float32]


def means_of(spec: SpaceSpec) -> Means | None:
    """Return the means of a space as arrays, or None when it has none."""
    stored = spec.means
    if stored is None:
        return None
    return Means(
        query=np.frombuffer(stored.query, dtype=np.float32),
        query_han=np.frombuffer(stored.query_han, dtype=np.float32),
        passage=np.frombuffer(stored.passage, dtype=np.float32),
        passage_han=np.frombuffer(stored.passage_han, dtype=np.float32),
    )


def lengths_of(means: Means | None) -> dict[str, float] | None:
    """Return how long each mean is, 0 for one that leaves its texts as they are."""
    if means is None:
        return None
    return {
        each.name: round(float(np.linalg.norm(getattr(means, each.name).astype(np.float64))), 4)
        for each in fields(means)
    }


def centre_passages(
    vectors: NDArray[np.float32],
    has_han: NDArray[np.bool_],
    means: Means | None,
    *,
    out: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Subtract the mean that belongs to each passage and make it unit length again.

    Args:
        vectors: (n, d), unit length.
        has_han: (n,), whether the passage's text holds a Han character.
        means: None leaves the vectors as they are and returns the same object.
        out: Where to write, (n, d); may be ``vectors`` itself to save its size in memory.

    Returns:
        (n, d) float32, unit length; a vector equal to its mean becomes zero.
    """
    if means is None:
        return vectors
    result = np.empty_like(vectors) if out is None else out
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        chosen = np.where(has_han[rows, None], means.passage_han, means.passage)
        result[rows] = _unit(vectors[rows].astype(np.float64) - chosen)
    return result


def centre_query(
    vector: NDArray[np.float32], has_han: bool, means: Means | None
) -> NDArray[np.float32]:
    """Subtract the queries' mean and make the vector unit length again.

    Args:
        vector: (d,), unit length.
        has_han: Whether the query holds a Han character.
        means: None returns the same object.

    Returns:
        (d,) float32, unit length; zero when the vector equals the mean.
    """
    if means is None:
        return vector
    mean = means.query_han if has_han else means.query
    unit: NDArray[np.float32] = _unit(vector[None, :].astype(np.float64) - mean)[0]
    return unit


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    # Float64 row by row: the result of a row must not depend on the rows beside it.
    lengths: NDArray[np.float64] = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0.0] = 1.0
    unit: NDArray[np.float32] = (rows / lengths).astype(np.float32)
    return unit
