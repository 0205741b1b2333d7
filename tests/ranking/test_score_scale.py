"""What a cosine is worth, and how many candidates are taken: bounds that hold for all numbers."""

from __future__ import annotations

import math

from hypothesis import example, given
from hypothesis import strategies as st

from app.domain.spaces import PLAIN_BORDER
from app.ranking.chatcrystal.candidates import BUDGET_PER_RESULT, LEAST_BUDGET, budget, raw_score
from app.ranking.chatcrystal.growth import next_size

BORDERS = st.floats(0.001, 0.999)
COSINES = st.floats(-1.0, 1.0)


@given(cosine=COSINES)
def test_the_plain_border_changes_no_digit(cosine: float) -> None:
    assert raw_score(cosine, PLAIN_BORDER) == cosine


@given(border=BORDERS)
@example(border=0.21)
@example(border=0.35)
def test_an_answer_begins_exactly_at_the_border(border: float) -> None:
    assert raw_score(border, border) == PLAIN_BORDER
    assert raw_score(math.nextafter(border, -2), border) <= PLAIN_BORDER
    assert PLAIN_BORDER <= raw_score(math.nextafter(border, 2), border) < PLAIN_BORDER + 1e-9


@given(border=BORDERS, one=COSINES, other=COSINES)
def test_a_better_cosine_is_never_a_worse_score(border: float, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert raw_score(low, border) <= raw_score(high, border)
    if high - low > 1e-9:
        assert raw_score(low, border) < raw_score(high, border)


@given(border=BORDERS)
def test_neighbours_at_the_border_keep_their_order(border: float) -> None:
    cosines = [border]
    for _ in range(4):
        cosines = [math.nextafter(cosines[0], -2), *cosines, math.nextafter(cosines[-1], 2)]
    scores = [raw_score(cosine, border) for cosine in cosines]
    assert scores == sorted(scores)


@given(border=BORDERS)
def test_the_ends_of_the_scale_stay(border: float) -> None:
    assert raw_score(0.0, border) == 0.0
    assert math.isclose(raw_score(1.0, border), 1.0)


@given(limit=st.integers(0, 50), size=st.integers(0, 5_000))
def test_rounds_double_up_to_the_budget_and_never_beyond(limit: int, size: int) -> None:
    most = budget(limit, size)
    assert most == min(size, max(BUDGET_PER_RESULT * limit, LEAST_BUDGET))
    taken = min(limit, size)
    while 0 < taken < most:
        following = next_size(taken, most)
        assert following == min(2 * taken, most)
        taken = following
    assert taken <= most
