"""What filters let pass is worked out once for each state of an index."""

from __future__ import annotations

from weakref import ref

import numpy as np
import pytest
from numpy.typing import NDArray

from app.index.core import Core, Ids
from app.index.faiss_flat import FlatIndex
from app.index.selections import SELECTIONS

QUERY = np.eye(8, dtype=np.float32)[0]
EVEN = [2, 4]


def frozen(ids: list[int]) -> Ids:
    """Ids that nobody can change, as those that searches keep."""
    array = np.array(ids, dtype=np.int64)
    array.setflags(write=False)
    return array


def vectors(count: int) -> NDArray[np.float32]:
    return np.eye(8, dtype=np.float32)[:count]


@pytest.fixture
def index() -> FlatIndex:
    return FlatIndex(8).changed(np.empty(0, np.int64), np.arange(1, 6, dtype=np.int64), vectors(5))


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The ids of which masks were made."""
    asked: list[list[int]] = []
    membership = Core.membership

    def counting(self: Core, ids: Ids) -> object:
        asked.append(ids.tolist())
        return membership(self, ids)

    monkeypatch.setattr(Core, "membership", counting)
    return asked


def ids_of(index: FlatIndex, allowed: Ids) -> list[int]:
    return sorted(each.chunk_id for each in index.search(QUERY, 9, allowed))


def test_one_search_makes_them_once(index: FlatIndex, made: list[list[int]]) -> None:
    even = frozen(EVEN)
    for _ in range(3):
        assert index.count(even) == 2
        assert ids_of(index, even) == EVEN
        assert [each.rank for each in index.standings(QUERY, [4], even)] == [2]
    assert made == [EVEN]


def test_a_change_makes_them_anew(index: FlatIndex, made: list[list[int]]) -> None:
    even = frozen([*EVEN, 6])
    assert ids_of(index, even) == EVEN
    grown = index.changed(np.array([2]), np.array([6], dtype=np.int64), vectors(1))
    assert ids_of(grown, even) == [4, 6]
    assert ids_of(index, even) == EVEN
    assert made[0] == even.tolist()
    assert len(made) > 1


def test_an_array_that_may_change_is_read_each_time(index: FlatIndex) -> None:
    ids = np.array([1, 2], dtype=np.int64)
    assert ids_of(index, ids) == [1, 2]
    ids[:] = 3, 4
    assert ids_of(index, ids) == [3, 4]


def test_equal_ids_of_another_array_are_not_mixed_up(index: FlatIndex) -> None:
    """Also when an array is gone and another one lies where it lay."""
    for turn in range(3 * SELECTIONS):
        wanted = [1 + turn % 5]
        assert ids_of(index, frozen(wanted)) == wanted


def test_ids_that_nobody_has_any_more_are_let_go(index: FlatIndex) -> None:
    ids = frozen(EVEN)
    held = ref(ids)
    assert ids_of(index, ids) == EVEN
    del ids
    assert held() is None


def test_few_are_kept(index: FlatIndex, made: list[list[int]]) -> None:
    filters = [frozen([1 + number % 5]) for number in range(SELECTIONS + 1)]
    for each in [*filters, filters[-1], filters[1], filters[0]]:
        assert index.count(each) == 1
    assert len(made) == SELECTIONS + 2
