"""The means of a space: averages of the vectors that it holds and of queries, with and without Han.

Owns how much of an average of few texts is believed. Pure.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.domain.spaces import SpaceMeans
from app.embedding.scale import Means

BELIEF = 5
"""An average of n texts counts n / (n + 5): that of one text alone would take the text away."""


def means_of_vectors(
    queries: NDArray[np.float32],
    query_has_han: NDArray[np.bool_],
    passages: NDArray[np.float32],
    passage_has_han: NDArray[np.bool_],
) -> Means:
    """Average the unit vectors of queries (q, d) and passages (n, d), not normalised again."""
    return Means(
        query=_mean(queries[~query_has_han]),
        query_han=_mean(queries[query_has_han]),
        passage=_mean(passages[~passage_has_han]),
        passage_han=_mean(passages[passage_has_han]),
    )


def _mean(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    summed = vectors.sum(axis=0, dtype=np.float64)
    return np.asarray(summed / (len(vectors) + BELIEF), dtype=np.float32)


def stored_form(means: Means) -> SpaceMeans:
    """Return means as a space stores them."""
    return SpaceMeans(
        query=means.query.tobytes(),
        query_han=means.query_han.tobytes(),
        passage=means.passage.tobytes(),
        passage_han=means.passage_han.tobytes(),
    )
