"""Numbers in planes: every bit comes back, and what is scanned is as near as is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from app.index.planes import Planes, as_held

ROWS, DIMENSION = 6, 8
Vectors = NDArray[np.float32]
NUMBERS = st.floats(-1.5, 1.5, width=32, allow_subnormal=True)


def planes_of(vectors: Vectors, precision: str = "float32") -> Planes:
    memory = np.zeros(vectors.nbytes, dtype=np.uint8)
    planes = Planes.over(memory, len(vectors), vectors.shape[1], precision)
    return replace(planes, rounding=planes.put(slice(0, len(vectors)), vectors))


def scanned(planes: Planes) -> Vectors:
    """The bfloat16 numbers that a scan reads."""
    bits = planes.parts[0].astype(np.uint32) << np.uint32(16)
    return bits.view(np.float32)


@given(arrays(np.float32, (ROWS, DIMENSION), elements=NUMBERS))
def test_every_bit_comes_back(vectors: Vectors) -> None:
    planes = planes_of(vectors)
    assert planes.take(slice(None)).tobytes() == vectors.tobytes()
    some = np.array([4, 1], dtype=np.int64)
    assert planes.take(some).tobytes() == vectors[some].tobytes()


@given(arrays(np.float32, (ROWS, DIMENSION), elements=NUMBERS))
def test_what_is_scanned_is_as_near_as_told(vectors: Vectors) -> None:
    planes = planes_of(vectors)
    wide = vectors.astype(np.float64)
    distance = np.linalg.norm(wide - scanned(planes), axis=1)
    # Squares of numbers far below those of vectors are zero, and count for nothing.
    assert np.isclose(distance.max(), planes.rounding, rtol=1e-6, atol=1e-18)
    # A bfloat16 has eight bits.
    assert planes.rounding <= 2.0**-8 * np.linalg.norm(wide, axis=1).max() + 1e-37


def test_the_nearest_is_scanned_whichever_side_it_lies_on() -> None:
    step = np.float32(2.0**-7)
    vectors = np.array(
        [[1.0, 1.0 + 0.49 * step, 1.0 + 0.51 * step, -1.0 - 0.51 * step]], np.float32
    )
    assert scanned(planes_of(vectors)).tolist() == [[1.0, 1.0, 1.0 + step, -1.0 - step]]


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_vectors_come_back_as_they_are_said_to_be_held(precision: str) -> None:
    vectors = np.random.default_rng(0).standard_normal((ROWS, DIMENSION), dtype=np.float32)
    planes = planes_of(vectors, precision)
    assert np.array_equal(planes.take(slice(None)), as_held(vectors, precision))
    target = planes_of(np.zeros_like(vectors), precision)
    target.copy(np.array([3, 0]), planes, np.array([1, 2]))
    assert np.array_equal(target.take(np.array([3, 0])), as_held(vectors[1:3], precision))
