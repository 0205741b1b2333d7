"""Narrow numbers and graphs: what they hold, what they find, when they are not asked."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from app.domain.evidence import Candidate
from app.index import faiss_flat
from app.index.core import Form
from app.index.faiss_flat import FlatIndex
from app.index.graph import GraphForm
from app.index.recall import recall

DIMENSION = 32
ROWS = 1_500
Vectors = NDArray[np.float32]


@pytest.fixture(autouse=True, scope="module")
def small_graphs() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(faiss_flat, "GRAPH_ROWS", 200)
        patch.setattr(faiss_flat, "SEGMENT_ROWS", 800)
        yield


def vectors_of(count: int, seed: int = 0) -> Vectors:
    vectors = np.random.default_rng(seed).standard_normal((count, DIMENSION), dtype=np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def an_index(form: Form) -> FlatIndex:
    """All of the vectors by ids from 1, with all graphs that are due."""
    ids = np.arange(1, ROWS + 1, dtype=np.int64)
    index = FlatIndex.loaded(DIMENSION, ROWS, iter([(ids, vectors_of(ROWS))]), form)
    while merge := index.merge():
        index = index.adopt(merge)
    return index


def brute_force(vectors: NDArray[np.float16] | Vectors, query: Vectors) -> list[Candidate]:
    found = [
        Candidate(number, float((row.astype(np.float64) * query).sum()))
        for number, row in enumerate(vectors, start=1)
    ]
    return sorted(found, key=lambda each: (-each.cosine, each.chunk_id))


def test_narrow_numbers_answer_as_the_rounded_vectors_do() -> None:
    index = an_index(Form("float16"))
    rounded = vectors_of(ROWS).astype(np.float16)
    assert {segment.core.planes.parts[0].dtype for segment in index.segments} == {
        np.dtype(np.float16)
    }
    for query in vectors_of(5, seed=1):
        expected = brute_force(rounded, query)
        assert index.search(query, 40) == expected[:40]
        ranks = {each.chunk_id: each.rank for each in index.standings(query, [1, 700, ROWS])}
        places = {each.chunk_id: rank for rank, each in enumerate(expected, start=1)}
        assert ranks == {each: places[each] for each in (1, 700, ROWS)}


def test_narrow_numbers_take_half_the_memory() -> None:
    wide, narrow = (an_index(Form(each)) for each in ("float32", "float16"))
    sizes = [sum(each.core.planes.nbytes for each in index.segments) for index in (wide, narrow)]
    assert sizes[0] == 2 * sizes[1]


def test_graphs_find_nearly_all_and_score_it_exactly() -> None:
    index = an_index(Form(graph=GraphForm()))
    assert all(segment.core.graph for segment in index.segments)
    assert recall(index) >= 0.95
    query = vectors_of(1, seed=1)[0]
    cosines = {each.chunk_id: each.cosine for each in brute_force(vectors_of(ROWS), query)}
    assert all(each.cosine == cosines[each.chunk_id] for each in index.search(query, 30))


def test_a_poor_graph_has_a_poor_recall() -> None:
    good, poor = (
        recall(an_index(Form(graph=GraphForm(links, width, 8))))
        for links, width in ((16, 100), (4, 8))
    )
    assert poor < good


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_without_a_graph_the_recall_is_whole(precision: str) -> None:
    assert recall(an_index(Form(precision))) == 1.0


def test_narrow_filters_are_scanned() -> None:
    index = an_index(Form(graph=GraphForm(4, 8, 8)))
    allowed = np.arange(1, ROWS, 25, dtype=np.int64)
    for query in vectors_of(10, seed=1):
        expected = [e for e in brute_force(vectors_of(ROWS), query) if e.chunk_id in allowed]
        assert index.search(query, 10, allowed) == expected[:10]


def test_graphs_forget_what_is_removed_and_are_built_for_what_comes() -> None:
    index = an_index(Form(graph=GraphForm()))
    query = vectors_of(1, seed=1)[0]
    best = [each.chunk_id for each in index.search(query, 50)]
    more = np.arange(5_000, 5_900, dtype=np.int64)
    index = index.changed(np.array(best), more, vectors_of(900, seed=2))
    while merge := index.merge():
        index = index.adopt(merge)
    assert not {each.chunk_id for each in index.search(query, 50)} & set(best)
    assert recall(index) >= 0.95
    assert all(each.core.graph for each in index.segments if each.living >= 200)


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_numbers_that_are_none_are_not_found(precision: str) -> None:
    index = an_index(Form(precision))
    core = index.segments[0].core
    damaged = int(core.ids[3])
    core.planes.parts[0][3] = np.float16(np.nan) if precision == "float16" else 0x7FC0
    query = vectors_of(1, seed=1)[0]
    assert damaged not in {each.chunk_id for each in index.search(query, ROWS)}
    assert len(index.search(query, ROWS)) == ROWS - 1
    assert index.scores(query, [damaged]) == {}
    assert index.standings(query, [damaged]) == []
