"""Answers that an index gave are kept as long as it stands, a few of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from app.domain.evidence import Candidate
from app.index import recent
from app.index.core import Core
from app.index.faiss_flat import FlatIndex
from app.index.recent import ANSWERS, RecentAnswers


def unit(number: int, dimension: int = 8) -> NDArray[np.float32]:
    vector = np.zeros(dimension, dtype=np.float32)
    vector[number] = 1.0
    return vector


@pytest.fixture
def index() -> FlatIndex:
    ids = np.arange(1, 5, dtype=np.int64)
    return FlatIndex(8).changed(np.empty(0, np.int64), ids, np.stack([unit(n) for n in range(4)]))


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many each scan was asked for."""
    scans: list[int] = []
    search = Core.search

    def counting(self: Core, query: object, limit: int, selected: object) -> object:
        scans.append(limit)
        return search(self, query, limit, selected)  # type: ignore[arg-type]

    monkeypatch.setattr(Core, "search", counting)
    return scans


def test_a_query_is_scanned_for_once(index: FlatIndex, counted: list[int]) -> None:
    first = index.search(unit(2), 2)
    assert first[0] == Candidate(3, 1.0)
    assert index.search(unit(2), 2) == first
    assert len(counted) == 1
    index.search(unit(2), 3)
    index.search(unit(1), 2)
    assert len(counted) == 3


def test_a_change_makes_it_scanned_anew(index: FlatIndex, counted: list[int]) -> None:
    index.search(unit(2), 2)
    changed = index.changed(np.array([3]), np.array([9]), unit(2)[np.newaxis, :])
    assert changed.search(unit(2), 2)[0] == Candidate(9, 1.0)
    assert len(counted) == 2
    assert index.search(unit(2), 2)[0] == Candidate(3, 1.0)
    assert len(counted) == 2


def test_what_filters_let_pass_is_scanned_each_time(index: FlatIndex) -> None:
    index.search(unit(2), 2)
    assert index.search(unit(2), 1, np.array([1, 2])) != index.search(unit(2), 1)
    assert [each.chunk_id for each in index.search(unit(2), 4, np.array([4]))] == [4]


def test_those_not_asked_for_the_longest_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = RecentAnswers()
    for number in range(ANSWERS):
        answers.keep(unit(0), number, [Candidate(number, 1.0)])
    assert answers.find(unit(0), 0) == [Candidate(0, 1.0)]
    answers.keep(unit(0), ANSWERS, [])
    assert answers.find(unit(0), 1) is None
    assert answers.find(unit(0), 0) is not None
    monkeypatch.setattr(recent, "LONGEST_ANSWER", 1)
    answers.keep(unit(1), 2, [Candidate(1, 1.0), Candidate(2, 1.0)])
    assert answers.find(unit(1), 2) is None


def test_they_belong_to_one_index(index: FlatIndex) -> None:
    assert index._recent is not replace(index)._recent
