"""Openings as a tiebreaker: strength, gate, cap and crowding at their edges."""

import pytest

from app.ranking.fusion.recency import bounds_of
from tests.ranking.fusion.sets import facts, order, ranked, row_of


@pytest.mark.parametrize(
    ("place", "strength"),
    [(0, 1.0), (1, 3.75 / 4.5), (5, 0.75 / 4.5), (6, 0.5 / 4.5), (19, 0.5 / 4.5)],
)
def test_strength_falls_with_every_note_opened_since(place: int, strength: float) -> None:
    opened = [100 + other for other in range(place)] + [1]
    recency = ranked([(1, 0.5)], opened=opened)[0].recency
    assert recency.place == place
    assert recency.strength == pytest.approx(strength)


def test_only_the_last_twenty_notes_are_recent() -> None:
    opened = [100 + other for other in range(20)] + [1]
    row = ranked([(1, 0.5)], opened=opened)[0]
    assert not row.recency.recent
    assert row.lift == 0


def test_a_note_opened_twice_counts_once_at_its_latest() -> None:
    opened = [*[7] * 30, 1, 7]
    row = ranked([(1, 0.5)], opened=opened)[0]
    assert row.recency.place == 1


@pytest.mark.parametrize(
    ("raw", "gated"), [(0.40, False), (0.39, True)], ids=["at-the-gate", "below-the-gate"]
)
def test_the_gate_is_four_fifths_of_the_best(raw: float, gated: bool) -> None:
    assert row_of(ranked([(1, 0.50), (2, raw)], opened=[2]), 2).recency.gated is gated


def test_the_gate_takes_cosines_before_scores_by_words() -> None:
    rows = ranked([(1, 0.5), (2, 0.2)], [(2, 9.0), (3, 8.0)], opened=[2, 3])
    assert row_of(rows, 2).recency.relevance == pytest.approx(0.4)
    assert row_of(rows, 3).recency.relevance == pytest.approx(8 / 9)


@pytest.mark.parametrize(
    ("bases", "gap", "cap"),
    [
        ([], 0.0, 0.02),
        ([0.7], 0.0, 0.02),
        ([0.0, 0.0], 0.0, 0.02),
        ([1.0, 0.95], 0.05, 0.10),
        ([1.0, 0.4], 0.6, 0.30),
        ([0.5, 0.46, 0.36], 0.2, 0.30),
        ([0.36, 0.5, 0.46, 0.35], 0.08, 0.16),
    ],
    ids=["none", "one", "all-zero", "within", "most", "upper-of-two", "middle-of-three"],
)
def test_the_cap_is_twice_the_upper_median_gap(bases: list[float], gap: float, cap: float) -> None:
    bounds = bounds_of(bases, 0)
    assert bounds.median_gap == pytest.approx(gap)
    assert bounds.cap == pytest.approx(cap)


@pytest.mark.parametrize(("lifted", "factor"), [(0, 1), (1, 1), (2, 1 / 4), (3, 1 / 9)])
def test_crowding_divides_by_the_square(lifted: int, factor: float) -> None:
    assert bounds_of([1.0], lifted).crowding == factor


@pytest.mark.parametrize(
    ("alias", "more"),
    [("ekx", 0.15), ("SAP EKX", 0.15), ("ekx-two", 0.1125), ("an aekx", 0.0), ("other", 0.0)],
    ids=["exact", "token", "prefix", "part", "none"],
)
def test_a_match_with_an_alias_wants_more_lift(alias: str, more: float) -> None:
    row = ranked([(1, 0.5)], opened=[1], query="ekx", notes=[facts(1, "Entry", alias)])[0]
    assert row.wanted_lift / row.base == pytest.approx(0.6 + more)


def test_a_weak_opening_bounds_the_lift_of_an_alias() -> None:
    opened = [*range(100, 119), 1]
    row = ranked([(1, 0.5)], opened=opened, query="ekx", notes=[facts(1, "Entry", "ekx")])[0]
    assert row.wanted_lift / row.base == pytest.approx((0.5 / 4.5) * (0.6 + 1.2))


def test_equal_scores_stand_by_their_original_rank_then_by_id() -> None:
    assert order(ranked((), [(3, 2.0), (1, 2.0), (2, 2.0)])) == [3, 1, 2]
    assert order(ranked([(3, -0.1), (1, -0.1), (2, -0.2)])) == [3, 1, 2]
    assert order(ranked([(1, 0.5), (2, 0.5)], [(2, 3.0), (1, 3.0)])) == [2, 1]
    assert order(ranked([(9, 0.0)], [(1, 0.0)])) == [1, 9]
