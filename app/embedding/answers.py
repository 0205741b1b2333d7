"""What a provider's answer must be before anything believes it.

Owns the checks and the normalising. Must not know which provider answered, or why.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from app.errors import ProviderAnswerInvalid

NUMBER_TYPES: Final = frozenset({int, float})
"""Exact types of JSON numbers; ``bool`` is an ``int`` to ``isinstance`` and no number here."""


def _invalid(what: str) -> ProviderAnswerInvalid:
    return ProviderAnswerInvalid(
        f"The embedding provider answered with {what}: check embedding.model and embedding.base_url"
    )


def unit_vectors(answer: object, count: int) -> NDArray[np.float32]:
    """Check an answer and make its vectors unit length.

    Args:
        answer: A list of ``count`` lists of numbers, or a numeric array (count, d).

    Returns:
        (count, d) float32, normalised in float64.

    Raises:
        ProviderAnswerInvalid: It is anything else, or a vector is not finite or all zero.
    """
    return normalised(_numbers(answer, count))


def normalised(vectors: NDArray[np.float64]) -> NDArray[np.float32]:
    """Make the rows of (n, d) unit length.

    Raises:
        ProviderAnswerInvalid: A row is not finite or all zero.
    """
    if not np.isfinite(vectors).all():
        raise _invalid("NaN or infinity")
    peaks = np.abs(vectors).max(axis=1, keepdims=True)
    if not peaks.all():
        raise _invalid("a vector of zeros")
    # A power of two changes no digit, and keeps the squares of extreme numbers in range.
    scaled = np.ldexp(vectors, -np.frexp(peaks)[1])
    lengths: NDArray[np.float64] = np.linalg.norm(scaled, axis=1, keepdims=True)
    unit: NDArray[np.float32] = (scaled / lengths).astype(np.float32)
    return unit


def _numbers(answer: object, count: int) -> NDArray[np.float64]:
    if isinstance(answer, np.ndarray):
        return _checked_array(answer, count)
    if not isinstance(answer, list):
        raise _invalid("no list of vectors")
    _check_count(len(answer), count)
    lengths = set()
    for vector in answer:
        if not isinstance(vector, list) or not vector:
            raise _invalid("an empty vector")
        if not NUMBER_TYPES.issuperset(map(type, vector)):
            raise _invalid("a non-number")
        lengths.add(len(vector))
    if len(lengths) > 1:
        raise _invalid("vectors of mixed length")
    try:
        return np.array(answer, dtype=np.float64)
    except OverflowError as error:
        raise _invalid("a number beyond all bounds") from error


def _checked_array(answer: NDArray[np.generic], count: int) -> NDArray[np.float64]:
    if answer.ndim != 2 or answer.shape[1] == 0 or answer.dtype.kind not in "fiu":
        raise _invalid("no array of vectors")
    _check_count(answer.shape[0], count)
    return answer.astype(np.float64)


def _check_count(found: int, count: int) -> None:
    if found != count:
        raise _invalid(f"{found} vectors for {count} texts")
