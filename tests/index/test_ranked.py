"""What is read of an answer is in its exact order, however much of it is read, and how."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.domain.evidence import Candidate
from app.index.core import Core, Ids
from app.index.exact import exact_scores
from app.index.faiss_flat import FlatIndex
from app.index.planes import Planes
from app.index.ranked import FIRST, Ranked, Rough

DIMENSION = 16
COUNT = 900


@pytest.fixture(scope="module")
def vectors() -> NDArray[np.float32]:
    """Vectors of which many score alike."""
    random = np.random.default_rng(3)
    found = random.standard_normal((COUNT, DIMENSION), dtype=np.float32)
    found[: COUNT // 2] = found[0] + found[: COUNT // 2] / 500
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


@pytest.fixture(scope="module")
def index(vectors: NDArray[np.float32]) -> FlatIndex:
    ids = np.arange(1, COUNT + 1, dtype=np.int64)
    return FlatIndex.loaded(DIMENSION, COUNT, iter([(ids, vectors)]))


def in_full(vectors: NDArray[np.float32], query: NDArray[np.float32]) -> list[Candidate]:
    scores = exact_scores(vectors, query).tolist()
    found = [Candidate(number + 1, score) for number, score in enumerate(scores)]
    return sorted(found, key=lambda each: (-each.cosine, each.chunk_id))


slices = st.slices(700) | st.integers(0, 99)


@given(st.lists(slices, max_size=6), st.integers(100, 1_000), st.integers(0, COUNT - 1))
def test_it_is_a_list_of_the_best(
    index: FlatIndex,
    vectors: NDArray[np.float32],
    reads: list[slice | int],
    limit: int,
    which: int,
) -> None:
    query = vectors[which]
    due = in_full(vectors, query)[:limit]
    found = index._ranked(query, limit, None)
    assert len(found) == len(due)
    for place in reads:
        assert found[place] == due[place]
    assert list(found) == found == due
    assert found[-1] == due[-1]
    with pytest.raises(IndexError):
        found[len(due)]


def test_no_more_vectors_are_read_than_are_asked_for(
    vectors: NDArray[np.float32], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    take = Planes.take

    def counting(self: Planes, rows: Ids) -> NDArray[np.float32]:
        read.append(len(rows))
        return take(self, rows)

    far = vectors[COUNT // 2 :]
    ids = np.arange(len(far), dtype=np.int64)
    index = FlatIndex.loaded(DIMENSION, len(far), iter([(ids, far)]))
    monkeypatch.setattr(Planes, "take", counting)
    found = index.search(far[0], len(far))
    assert not read
    assert found[0].chunk_id == 0
    assert FIRST <= sum(read) < FIRST + 30
    found[:FIRST]
    assert len(read) == 1
    list(found)
    assert sum(read) == len(far)


def test_many_may_read_it_at_once(index: FlatIndex, vectors: NDArray[np.float32]) -> None:
    due = in_full(vectors, vectors[7])
    found = index._ranked(vectors[7], COUNT, None)
    places = np.random.default_rng(1).integers(0, COUNT, 400).tolist()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(found.__getitem__, places)) == [due[place] for place in places]


def test_scores_that_are_no_numbers_are_left_out(vectors: NDArray[np.float32]) -> None:
    def fill(ids: Ids, planes: Planes) -> float:
        ids[:] = np.arange(4)
        return planes.put(slice(0, 4), vectors[:4])

    core = Core.filled(4, DIMENSION, fill)
    rough = np.array([0.5, np.nan, np.inf, 0.4], dtype=np.float32)
    found = Ranked(vectors[0], [Rough(core, np.arange(4), rough)], 10, 1.0)
    assert [each.chunk_id for each in found] == [0, 3]
    # Its first plane is that of a number, both together are not.
    core.planes.parts[0][3], core.planes.parts[1][3] = 0, 0xFFFF
    found = Ranked(vectors[0], [Rough(core, np.arange(4), rough)], 10, 1.0)
    assert found[1] == Candidate(3, -1.0)
    assert not Ranked(vectors[0], [], 10, 0.0)
    assert Ranked(vectors[0], [], 10, 0.0) == []
