"""Who owns the vectors' memory, and what threads see of an index that others change."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
import pytest
from numpy.typing import NDArray

from app.domain.evidence import Candidate
from app.index import faiss_flat
from app.index.faiss_flat import FlatIndex

DIMENSION = 32
SEARCHERS = 3
CHANGES = 60


def random_vectors(random: np.random.Generator, size: int) -> NDArray[np.float32]:
    vectors = random.standard_normal((size, DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def best(
    ids: NDArray[np.int64], vectors: NDArray[np.float32], query: NDArray[np.float32]
) -> list[Candidate]:
    """The ten best by brute force."""
    scores = [float((row.astype(np.float64) * query).sum()) for row in vectors]
    ranked = sorted(zip(ids.tolist(), scores, strict=True), key=lambda pair: (-pair[1], pair[0]))
    return [Candidate(chunk_id, score) for chunk_id, score in ranked[:10]]


def scribble() -> list[NDArray[np.float32]]:
    """Write over memory that was just given back."""
    gc.collect()
    return [np.full((500, DIMENSION), np.nan, np.float32) for _ in range(40)]


def test_an_index_owns_its_memory() -> None:
    """Nothing that vectors came from, through loading, changing and merging, must stay alive."""
    random = np.random.default_rng(2)
    ids = np.arange(1, 1001, dtype=np.int64)
    vectors, query = random_vectors(random, 1000), random_vectors(random, 1)[0]
    expected = best(ids, vectors, query)
    given_ids, given_vectors = ids[:500].copy(), vectors[:500].copy()
    index = FlatIndex.loaded(DIMENSION, 500, iter([(given_ids, given_vectors)]))
    more_ids, more_vectors = ids[500:].copy(), vectors[500:].copy()
    index = index.changed(np.empty(0, np.int64), more_ids, more_vectors)
    given_vectors[:], more_vectors[:], given_ids[:], more_ids[:] = 9.0, 9.0, 0, 0
    del given_ids, given_vectors, more_ids, more_vectors, vectors
    kept = scribble()
    assert index.search(query, 10) == expected
    assert all(np.isnan(block).all() for block in kept)


def test_a_merged_index_outlives_its_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faiss_flat, "TAIL_ROWS", 100)
    random = np.random.default_rng(3)
    ids = np.arange(1, 801, dtype=np.int64)
    vectors, query = random_vectors(random, 800), random_vectors(random, 1)[0]
    index = FlatIndex(DIMENSION)
    for start in range(0, 800, 80):
        rows = slice(start, start + 80)
        index = index.changed(np.empty(0, np.int64), ids[rows], vectors[rows])
    merge = index.merge()
    assert merge is not None
    index = index.adopt(merge)
    del merge
    kept = scribble()
    assert index.search(query, 10) == best(ids, vectors, query)
    assert index.search(query, 10, ids[::3]) == best(ids[::3], vectors[::3], query)
    assert all(np.isnan(block).all() for block in kept)


@dataclass(frozen=True)
class Published:
    """An index and what it holds, swapped as one."""

    index: FlatIndex
    ids: NDArray[np.int64]
    vectors: NDArray[np.float32]


def changes(random: np.random.Generator) -> Iterator[Published]:
    """An index that grows and shrinks, step by step."""
    state = Published(
        FlatIndex(DIMENSION), np.empty(0, np.int64), np.empty((0, DIMENSION), np.float32)
    )
    new_ids = count(1)
    while True:
        keep = random.random(len(state.ids)) > 0.2
        added = np.array([next(new_ids) for _ in range(30)], dtype=np.int64)
        vectors = random_vectors(random, 30)
        state = Published(
            state.index.changed(state.ids[~keep], added, vectors),
            np.concatenate([state.ids[keep], added]),
            np.concatenate([state.vectors[keep], vectors]),
        )
        yield state


def test_searches_in_threads_see_one_state_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """While vectors come, go and are merged, every search answers for the state that it took."""
    monkeypatch.setattr(faiss_flat, "TAIL_ROWS", 40)
    steps = changes(np.random.default_rng(4))
    current = next(steps)
    finished = threading.Event()
    wrong: list[str] = []
    searched = [0] * SEARCHERS

    def search(number: int) -> None:
        random = np.random.default_rng(number)
        while not (finished.is_set() and searched[number] > 20):
            state, query = current, random_vectors(random, 1)[0]
            allowed = np.sort(random.permutation(state.ids)[:50]) if number % 2 else None
            mask = np.ones(len(state.ids), bool) if allowed is None else np.isin(state.ids, allowed)
            expected = best(state.ids[mask], state.vectors[mask], query)
            if state.index.search(query, 10, allowed) != expected:
                wrong.append(f"thread {number}")
            searched[number] += 1

    threads = [threading.Thread(target=search, args=(number,)) for number in range(SEARCHERS)]
    for thread in threads:
        thread.start()
    for _ in range(CHANGES):
        state = next(steps)
        merge = state.index.merge()
        index = state.index if merge is None else state.index.adopt(merge)
        current = Published(index, state.ids, state.vectors)
    finished.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert min(searched) > 20
