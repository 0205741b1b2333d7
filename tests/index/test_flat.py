"""The flat index against brute force, over every way in which vectors come and go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.domain.evidence import Candidate, Standing
from app.index import faiss_flat, shares
from app.index.core import Ids
from app.index.faiss_flat import FlatIndex, Merge
from app.index.protocol import Vectors

DIMENSIONS = (1, 3, 64)
Stored = dict[int, NDArray[np.float32]]


@pytest.fixture(autouse=True, scope="module")
def small_segments() -> Iterator[None]:
    """Bounds small enough that a handful of vectors makes tails, seals and merges."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(faiss_flat, "TAIL_ROWS", 6)
        patch.setattr(faiss_flat, "SEGMENT_ROWS", 24)
        patch.setattr(shares, "FIRST_SURPLUS", 1)
        yield


def brute_cosine(vector: NDArray[np.float32], query: NDArray[np.float32]) -> float:
    """The cosine, computed for this vector by itself."""
    return float((vector.astype(np.float64) * query.astype(np.float64)).sum())


def brute_force(stored: Stored, query: NDArray[np.float32], allowed: Ids | None) -> list[Candidate]:
    """Everything that may be found, best first."""
    wanted = set(stored) if allowed is None else set(stored) & set(allowed.tolist())
    found = [Candidate(key, brute_cosine(stored[key], query)) for key in wanted]
    return sorted(found, key=lambda candidate: (-candidate.cosine, candidate.chunk_id))


@dataclass
class Twin:
    """An index and the plain dictionary that it must agree with."""

    random: np.random.Generator
    dimension: int
    pool: Vectors = field(init=False)
    index: FlatIndex = field(init=False)
    stored: Stored = field(default_factory=dict)
    pending: Merge | None = None
    next_id: int = 1

    def __post_init__(self) -> None:
        self.index = FlatIndex(self.dimension)
        self.pool = self.random.standard_normal((4, self.dimension)).astype(np.float32)
        self.pool /= np.linalg.norm(self.pool, axis=1, keepdims=True)

    def vectors(self, count: int) -> Vectors:
        """Vectors with many equals, and many that differ by the last digit of one number."""
        chosen = self.pool[self.random.integers(len(self.pool), size=count)]
        place = self.random.integers(self.dimension, size=count)
        rows = np.arange(count)
        nudged = np.nextafter(chosen[rows, place], np.float32(9), dtype=np.float32)
        is_nudged = self.random.random(count) < 0.5
        chosen[rows, place] = np.where(is_nudged, nudged, chosen[rows, place])
        return chosen

    def some_ids(self, share: float) -> Ids:
        known = np.array(sorted(self.stored), dtype=np.int64)
        return known[self.random.random(len(known)) < share]

    def change(self, removed: Ids, added: Ids) -> None:
        vectors = self.vectors(len(added))
        self.index = self.index.changed(removed, added, vectors)
        for key in removed.tolist():
            self.stored.pop(key, None)
        self.stored.update(zip(added.tolist(), vectors, strict=True))

    def add(self, count: int) -> None:
        gaps = self.random.integers(1, 30 if self.random.random() < 0.2 else 3, size=count)
        added = self.next_id + np.cumsum(gaps)
        self.next_id = int(added[-1]) + 1
        # The caller promises no order of what it adds.
        self.change(np.empty(0, np.int64), self.random.permutation(added))

    def apply(self, operation: str, count: int) -> None:
        none = np.empty(0, np.int64)
        match operation:
            case "add":
                self.add(count)
            case "remove":
                self.change(self.some_ids(count / 20), none)
            case "remove unknown":
                self.change(np.array([self.next_id + count], np.int64), none)
            case "replace":
                self.change(none, self.some_ids(count / 20))
            case "add again":
                ids = self.some_ids(count / 20)
                self.change(ids, ids)
            case "merge":
                self.pending = self.index.merge()
            case "adopt" if self.pending is not None:
                self.index = self.index.adopt(self.pending)
            case "merge all":
                while (merge := self.index.merge()) is not None:
                    self.index = self.index.adopt(merge)


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["add", "add", "remove", "remove unknown", "replace", "add again", "merge", "adopt",
             "merge all"]
        ),
        st.integers(1, 20),
    ),
    min_size=1,
    max_size=14,
)  # fmt: skip


def grown(seed: int, dimension: int, operations: list[tuple[str, int]]) -> Twin:
    twin = Twin(np.random.default_rng(seed), dimension)
    for operation, count in operations:
        twin.apply(operation, count)
    return twin


def allowed_sets(twin: Twin) -> list[Ids | None]:
    """None; none at all; foreign ones only; few, most and all, with foreign ones between."""
    foreign = np.array([-5, 0, twin.next_id + 1, 10**12], dtype=np.int64)
    mixed = [np.union1d(foreign, twin.some_ids(share)) for share in (0.05, 0.5, 0.95, 1.0)]
    return [None, np.empty(0, np.int64), foreign, *mixed]


STATES = given(
    seed=st.integers(0, 2**32 - 1), dimension=st.sampled_from(DIMENSIONS), operations=OPERATIONS
)


@STATES
@example(seed=1, dimension=3, operations=[("add", 20), ("add", 20), ("merge", 1), ("remove", 8),
                                          ("adopt", 1)])  # fmt: skip
def test_search_is_brute_force(
    seed: int, dimension: int, operations: list[tuple[str, int]]
) -> None:
    twin = grown(seed, dimension, operations)
    query = twin.vectors(1)[0]
    for allowed in allowed_sets(twin):
        expected = brute_force(twin.stored, query, allowed)
        total = len(expected)
        for limit in {0, 1, 2, 5, total // 2, total - 1, total, total + 3, 10 * total}:
            found = twin.index.search(query, limit, allowed)
            assert found == expected[: max(limit, 0)]


@STATES
def test_standings_are_ranks_by_brute_force(
    seed: int, dimension: int, operations: list[tuple[str, int]]
) -> None:
    twin = grown(seed, dimension, operations)
    query = twin.vectors(1)[0]
    asked = [*twin.some_ids(0.3).tolist(), -1, twin.next_id + 7]
    for allowed in allowed_sets(twin):
        ranked = enumerate(brute_force(twin.stored, query, allowed), start=1)
        standings = {
            each.chunk_id: Standing(each.chunk_id, each.cosine, rank) for rank, each in ranked
        }
        found = twin.index.standings(query, asked, allowed)
        assert {standing.chunk_id: standing for standing in found} == {
            key: standings[key] for key in asked if key in standings
        }


@STATES
def test_count_is_that_of_what_may_be_found(
    seed: int, dimension: int, operations: list[tuple[str, int]]
) -> None:
    twin = grown(seed, dimension, operations)
    for allowed in allowed_sets(twin):
        wanted = set(twin.stored) if allowed is None else set(twin.stored) & set(allowed.tolist())
        assert twin.index.count(allowed) == len(wanted)


@STATES
def test_segments_do_not_show(seed: int, dimension: int, operations: list[tuple[str, int]]) -> None:
    """What was added, removed and merged in any order answers as what was loaded at once."""
    twin = grown(seed, dimension, operations)
    ids = np.array(sorted(twin.stored), dtype=np.int64)
    rows = [twin.stored[key] for key in ids.tolist()]
    vectors = np.array(rows, dtype=np.float32).reshape(len(ids), dimension)
    loaded = FlatIndex.loaded(dimension, len(ids), iter([(ids, vectors)]))
    query = twin.vectors(1)[0]
    asked = ids.tolist()
    assert twin.index.search(query, len(ids) + 1) == loaded.search(query, len(ids) + 1)
    mine = sorted(twin.index.standings(query, asked), key=lambda each: each.rank)
    assert mine == sorted(loaded.standings(query, asked), key=lambda each: each.rank)


@STATES
def test_what_was_removed_and_merged_leaves_memory(
    seed: int, dimension: int, operations: list[tuple[str, int]]
) -> None:
    twin = grown(seed, dimension, operations)
    while (merge := twin.index.merge()) is not None:
        twin.index = twin.index.adopt(merge)
    for segment in twin.index.segments:
        assert segment.living >= (1 - faiss_flat.DEAD_SHARE) * len(segment.core.ids)
        assert len(segment.core.ids) <= max(faiss_flat.SEGMENT_ROWS, faiss_flat.TAIL_ROWS)


@given(
    sizes=st.lists(st.integers(0, 9), max_size=12),
    seed=st.integers(0, 2**32 - 1),
)
def test_batches_of_any_size_load_alike(sizes: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    total = sum(sizes)
    ids = np.arange(1, total + 1, dtype=np.int64)
    vectors = random.standard_normal((total, 5)).astype(np.float32)
    ends = np.cumsum([0, *sizes]).tolist()
    batches = [(ids[a:b], vectors[a:b]) for a, b in pairwise(ends)]
    index = FlatIndex.loaded(5, total, iter(batches))
    query = random.standard_normal(5).astype(np.float32)
    stored = dict(zip(ids.tolist(), vectors, strict=True))
    assert index.search(query, total + 1) == brute_force(stored, query, None)


def test_a_merge_adopted_after_later_changes_brings_nothing_back() -> None:
    twin = Twin(np.random.default_rng(7), 3)
    for _ in range(4):
        twin.add(5)
    merge = twin.index.merge()
    assert merge is not None
    merged = set(merge.core.ids.tolist())
    dying, replaced = sorted(merged)[:2]
    twin.change(np.array([dying]), np.array([replaced]))
    twin.add(2)
    adopted = twin.index.adopt(merge)
    assert any(segment.core is merge.core for segment in adopted.segments)
    query = twin.vectors(1)[0]
    assert adopted.search(query, 99) == brute_force(twin.stored, query, None)


def test_a_merge_whose_source_is_gone_is_left_alone() -> None:
    twin = Twin(np.random.default_rng(7), 3)
    twin.add(12)
    twin.add(12)
    merge = twin.index.merge()
    assert merge is not None
    twin.change(merge.sources[0].core.ids, np.empty(0, np.int64))
    assert twin.index.adopt(merge) is twin.index


@pytest.mark.parametrize("has_filter", [False, True], ids=["all", "allowed"])
def test_ranks_hold_where_cosines_lie_closer_than_the_backends_error(has_filter: bool) -> None:
    """A step of 6e-8, the grain of float32, over the whole width of that error and beyond."""
    angles = 0.7 + np.arange(-120, 121) * 3e-8
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    ids = np.random.default_rng(3).permutation(len(angles)).astype(np.int64) + 1
    order = np.argsort(ids)
    index = FlatIndex.loaded(2, len(ids), iter([(ids[order], vectors[order])]))
    query = np.array([1.0, 0.0], dtype=np.float32)
    allowed = np.sort(ids[::2]) if has_filter else None
    stored = dict(zip(ids.tolist(), vectors, strict=True))
    expected = [
        Standing(each.chunk_id, each.cosine, rank)
        for rank, each in enumerate(brute_force(stored, query, allowed), start=1)
    ]
    found = index.standings(query, ids.tolist(), allowed)
    assert sorted(found, key=lambda each: each.rank) == expected


@pytest.mark.parametrize("seed", range(6))
def test_the_cut_is_exact_where_float32_is_not(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of vectors whose cosines differ by less than a float32 score can tell."""
    monkeypatch.setattr(faiss_flat, "SEGMENT_ROWS", 500)
    random = np.random.default_rng(seed)
    base = random.standard_normal(512)
    rows = base * (1 + 1e-6 * random.standard_normal((500, 512)))
    vectors = (rows / np.linalg.norm(base)).astype(np.float32)
    query = (base / np.linalg.norm(base)).astype(np.float32)
    ids = np.arange(1, 501, dtype=np.int64)
    index = FlatIndex.loaded(512, 500, iter([(ids, vectors)]))
    stored = dict(zip(ids.tolist(), vectors, strict=True))
    assert index.search(query, 20) == brute_force(stored, query, None)[:20]


def test_a_thousand_equal_vectors_are_ordered_by_id() -> None:
    ids = np.random.default_rng(5).permutation(1000).astype(np.int64) + 1
    vectors = np.tile(np.array([0.6, 0.8], np.float32), (1000, 1))
    index = FlatIndex(2)
    for start in range(0, 1000, 50):
        index = index.changed(
            np.empty(0, np.int64), ids[start : start + 50], vectors[start : start + 50]
        )
    found = index.search(np.array([0.0, 1.0], np.float32), 7)
    assert [candidate.chunk_id for candidate in found] == [1, 2, 3, 4, 5, 6, 7]


def test_an_old_index_is_not_disturbed_by_a_new_one() -> None:
    twin = Twin(np.random.default_rng(11), 3)
    twin.add(20)
    old, stored, query = twin.index, dict(twin.stored), twin.vectors(1)[0]
    twin.change(twin.some_ids(0.5), twin.some_ids(0.2))
    twin.add(9)
    twin.apply("merge all", 1)
    assert old.search(query, 99) == brute_force(stored, query, None)
    assert twin.index.search(query, 99) == brute_force(twin.stored, query, None)


@pytest.mark.parametrize("place", [0, 1, 2], ids=["first", "in the tail", "last"])
def test_the_error_of_a_scan_is_that_of_its_most_rounded_vector(place: int) -> None:
    """Halves are kept whole by bfloat16, thirds are not."""
    vectors = np.full((3, 4), 0.5, np.float32)
    vectors[place] = 1 / 3
    grown, query = FlatIndex(4), np.ones(4, np.float32)
    for number in range(3):
        added = np.array([number + 1], np.int64)
        grown = grown.changed(np.empty(0, np.int64), added, vectors[number : number + 1])
    at_once = FlatIndex.loaded(4, 3, iter([(np.arange(1, 4, dtype=np.int64), vectors)]))
    [tail], [whole] = grown.segments, at_once.segments
    assert tail.core.error(query) == whole.core.error(query)
    assert whole.core.error(query) > whole.core.error(np.zeros(4, np.float32))


@pytest.mark.parametrize("damage", [np.nan, np.inf])
@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "one by one"])
@pytest.mark.parametrize("place", [0, 2, 4], ids=["first", "between", "last"])
def test_a_vector_that_is_no_number_hides_no_other(
    place: int, at_once: bool, damage: float
) -> None:
    twin = Twin(np.random.default_rng(3), 64)
    vectors, ids, query = twin.vectors(5), np.arange(1, 6, dtype=np.int64), twin.vectors(1)[0]
    others = np.delete(ids, place)
    whole = FlatIndex.loaded(64, 4, iter([(others, np.delete(vectors, place, axis=0))]))
    vectors[place, 7] = damage
    index = FlatIndex(64)
    for chosen in [slice(0, 5)] if at_once else [slice(each, each + 1) for each in range(5)]:
        index = index.changed(np.empty(0, np.int64), ids[chosen], vectors[chosen])
    assert index.segments[0].core.error(query) == whole.segments[0].core.error(query)
    found = [each for each in index.search(query, 5) if np.isfinite(each.cosine)]
    assert found == whole.search(query, 4)
    assert index.standings(query, others.tolist()) == whole.standings(query, others.tolist())
