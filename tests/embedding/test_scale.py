"""Centring of vectors by the means of their space."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.domain.spaces import SpaceMeans, SpaceSpec
from app.embedding.scale import Means, centre_passages, centre_query, lengths_of, means_of

DIMENSION = 6


def unit(seed: int, rows: int) -> NDArray[np.float32]:
    drawn = np.random.default_rng(seed).normal(size=(rows, DIMENSION))
    vectors: NDArray[np.float64] = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return vectors.astype(np.float32)


def some_means() -> Means:
    query, query_han, passage, passage_han = 0.3 * unit(1, 4)
    return Means(query, query_han, passage, passage_han)


def test_means_have_lengths() -> None:
    lengths = lengths_of(some_means())
    assert lengths is not None
    assert list(lengths) == ["query", "query_han", "passage", "passage_han"]
    assert list(lengths.values()) == pytest.approx([0.3] * 4, abs=1e-4)
    assert lengths_of(None) is None


def test_means_come_from_the_spec() -> None:
    means = some_means()
    stored = SpaceMeans(
        means.query.tobytes(),
        means.query_han.tobytes(),
        means.passage.tobytes(),
        means.passage_han.tobytes(),
    )
    found = means_of(SpaceSpec("p", "m", DIMENSION, 100, 0.3, stored))
    assert found is not None
    for name in ("query", "query_han", "passage", "passage_han"):
        np.testing.assert_array_equal(getattr(found, name), getattr(means, name))
    assert means_of(SpaceSpec("p", "m", DIMENSION, 100)) is None


def test_without_means_nothing_is_copied() -> None:
    vectors = unit(2, 3)
    assert centre_passages(vectors, np.zeros(3, dtype=bool), None) is vectors
    assert centre_query(vectors[0], False, None).base is vectors


@given(st.integers(0, 1_000), st.lists(st.booleans(), min_size=1, max_size=20))
def test_passages_are_centred_by_script(seed: int, han: list[bool]) -> None:
    means = some_means()
    vectors = unit(seed, len(han))
    before = vectors.copy()
    centred = centre_passages(vectors, np.array(han), means)
    assert centred.dtype == np.float32
    np.testing.assert_array_equal(vectors, before)
    for row, vector, has_han in zip(centred, vectors, han, strict=True):
        moved = vector.astype(np.float64) - (means.passage_han if has_han else means.passage)
        np.testing.assert_allclose(row, moved / np.linalg.norm(moved), atol=1e-6)


@pytest.mark.parametrize("has_han", [False, True], ids=["latin", "han"])
def test_queries_have_means_of_their_own(has_han: bool) -> None:
    means = some_means()
    vector = unit(3, 1)[0]
    moved = vector - (means.query_han if has_han else means.query)
    centred = centre_query(vector, has_han, means)
    assert centred.dtype == np.float32
    np.testing.assert_allclose(centred, moved / np.linalg.norm(moved), atol=1e-6)


def test_a_vector_at_its_mean_is_zero_and_stays_so() -> None:
    vector = unit(4, 1)
    means = Means(vector[0], vector[0], vector[0], vector[0])
    assert not centre_query(vector[0], True, means).any()
    assert not centre_passages(vector, np.array([False]), means).any()


def test_in_place_and_in_blocks_agree_with_row_by_row() -> None:
    means = some_means()
    vectors = unit(5, 20_000)
    han = np.random.default_rng(6).random(20_000) < 0.5
    whole = centre_passages(vectors, han, means)
    for row in (0, 8_191, 8_192, 19_999):
        alone = centre_passages(vectors[row : row + 1], han[row : row + 1], means)
        np.testing.assert_array_equal(alone[0], whole[row])
    own = vectors.copy()
    assert centre_passages(own, han, means, out=own) is own
    np.testing.assert_array_equal(own, whole)
