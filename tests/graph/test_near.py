"""Near names against a plain Levenshtein distance."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.graph.near import LONGEST_NAME, distances, near_names

NAMES = st.text(st.sampled_from("abcé库🎉 "), max_size=7)


@cache
def plain_distance(one: str, other: str) -> int:
    if not one or not other:
        return len(one) + len(other)
    return min(
        plain_distance(one[1:], other) + 1,
        plain_distance(one, other[1:]) + 1,
        plain_distance(one[1:], other[1:]) + (one[0] != other[0]),
    )


@given(NAMES, st.lists(NAMES, max_size=6))
def test_distances_are_those_of_levenshtein(one: str, others: list[str]) -> None:
    assert distances(one, others).tolist() == [plain_distance(one, other) for other in others]


@given(NAMES, st.dictionaries(NAMES, st.integers(0, 2), max_size=8), st.integers(0, 4))
def test_the_nearest_come_first_and_the_name_itself_never(
    name: str, uses: dict[str, int], limit: int
) -> None:
    wanted = name.strip().casefold()
    rivals = [other for other in uses if other.strip().casefold() != wanted]
    rivals.sort(key=lambda other: (plain_distance(wanted, other.strip()), -uses[other], other))
    assert near_names(name, uses, limit) == rivals[:limit]


def test_long_names_are_compared_by_their_beginning() -> None:
    long = "a" * LONGEST_NAME
    assert near_names(f"{long}b", {f"{long}c": 1, "b": 1}) == ["b"]


@pytest.mark.parametrize("name", ["", "  ", "x"])
def test_without_names_there_is_none_near(name: str) -> None:
    assert near_names(name, {}) == []
