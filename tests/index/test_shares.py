"""How many each segment is asked for, and that what is found does not depend on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.index import shares
from app.index.core import Core
from app.index.faiss_flat import FlatIndex
from app.index.shares import first_wanted, next_wanted

INFINITY = 0x7F80
"""As the half of a number that is scanned."""


@given(limit=st.integers(1, 2000), sizes=st.lists(st.integers(0, 10**6), max_size=12))
def test_a_segment_is_asked_for_more_than_its_share_and_no_more_than_all(
    limit: int, sizes: Sequence[int]
) -> None:
    asked = first_wanted(limit, sizes)
    assert list(asked) == [place for place, size in enumerate(sizes) if size]
    for place, wanted in asked.items():
        assert wanted > limit * sizes[place] / sum(sizes)
        assert wanted <= limit + max(limit // 2, shares.FIRST_SURPLUS)
    if len(asked) == 1:
        assert list(asked.values()) == [limit + max(limit // 2, shares.FIRST_SURPLUS)]


def test_graphs_are_asked_for_all() -> None:
    """They look the further the more they are asked for."""
    assert first_wanted(100, [1000, 0, 3], is_exact=False) == {0: 150, 2: 150}


def test_who_may_have_more_is_asked_again() -> None:
    asked = {0: 10, 1: 20, 2: 30}
    assert next_wanted(asked, {0: 0.5, 1: 0.49, 2: None}, 0.5) == {0: 20}
    assert next_wanted(asked, {0: None, 1: None, 2: 0.9}, -np.inf) == {2: 60}


def in_four(vectors: NDArray[np.float32]) -> FlatIndex:
    """An index of four segments."""
    ids = np.arange(len(vectors), dtype=np.int64)
    index = FlatIndex.loaded(vectors.shape[1], len(ids), iter([(ids, vectors)]))
    assert len(index.segments) == 4
    return index


@pytest.mark.parametrize("place", [0, 2])
def test_all_may_lie_in_one_segment(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when all notes on a matter were written in one week."""
    monkeypatch.setattr("app.index.faiss_flat.PARALLEL_NUMBERS", 1)
    random = np.random.default_rng(7)
    vectors = random.standard_normal((4000, 16), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    query = vectors[0].copy()
    # A quarter of the ids is near to the query.
    near = slice(1000 * place, 1000 * (place + 1))
    vectors[near] = query + 0.01 * vectors[near]
    ids = np.arange(len(vectors), dtype=np.int64)
    index = in_four(vectors)
    asked: list[int] = []
    search = Core.search

    def counting(self: Core, query: object, limit: int, selected: object) -> object:
        asked.append(limit)
        return search(self, query, limit, selected)  # type: ignore[arg-type]

    monkeypatch.setattr(Core, "search", counting)
    found = index.search(query, 500)
    exact = np.multiply(vectors, query.astype(np.float64)).sum(axis=1)
    assert [each.chunk_id for each in found] == np.lexsort((ids, -exact))[:500].tolist()
    # The others were asked once, for less than all that is wanted.
    assert len(asked) > len(index.segments)
    assert min(asked) < 500


def test_scores_that_are_no_numbers_keep_no_segment_from_being_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As those of a damaged snapshot, until it is mended."""
    monkeypatch.setattr("app.index.faiss_flat.PARALLEL_NUMBERS", 1)
    vectors = np.random.default_rng(3).standard_normal((4000, 16), dtype=np.float32)
    query = np.eye(16, dtype=np.float32)[0]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[:800] = query + vectors[:800]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = in_four(vectors)
    index.segments[2].core.planes.parts[0][100:400, 0] = INFINITY
    found = {each.chunk_id for each in index.search(query, 500)}
    exact = np.multiply(vectors, query.astype(np.float64)).sum(axis=1)
    assert found == set(np.argsort(-exact)[:500].tolist())
