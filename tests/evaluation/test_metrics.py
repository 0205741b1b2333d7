"""Figures worked out by hand, and what must hold for any answer."""

from collections.abc import Callable
from math import isclose, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.evaluation import metrics

GRADES = {"a": 2, "b": 1, "c": 2}
NO_ANSWER: dict[str, int] = {}
NOTES = st.lists(st.sampled_from("abcdefgh"), unique=True)
GRADED = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3))
IDEAL = 3 + 3 / log2(3) + 1 / log2(4)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (["a", "c", "b"], 1.0),
        (["c", "a", "b", "x"], 1.0),
        (["b", "a", "c"], (1 + 3 / log2(3) + 3 / log2(4)) / IDEAL),
        (["x", "a"], (3 / log2(3)) / IDEAL),
        (["x"], 0.0),
        ([], 0.0),
    ],
    ids=["ideal", "equal-grades-swapped", "worse-first", "late", "wrong", "empty"],
)
def test_ndcg_discounts_gains_by_rank(answer: list[str], expected: float) -> None:
    assert metrics.ndcg(answer, GRADES) == pytest.approx(expected)


def test_ndcg_looks_no_deeper_than_its_depth() -> None:
    many = {str(number): 1 for number in range(20)}
    assert metrics.ndcg(list(many), many) == pytest.approx(1)
    assert metrics.ndcg(["x"] * 10 + ["0"], {"0": 2}) == 0
    assert metrics.ndcg(["x", "0"], {"0": 2}, depth=1) == 0


@pytest.mark.parametrize(
    ("figure", "answer", "expected"),
    [
        (metrics.reciprocal_rank, ["x", "b"], 1 / 2),
        (metrics.reciprocal_rank, ["x"], 0),
        (metrics.recall, ["a", "x", "b"], 2 / 3),
        (metrics.recall, ["1", "2", "3", "4", "5", "a"], 0),
        (metrics.relevant_recall, ["a", "b"], 1 / 2),
        (metrics.relevant_recall, ["1", "2", "3", "4", "5", "a", "c"], 1),
        (metrics.precision, ["a", "x", "y", "b"], 1 / 2),
    ],
    ids=[
        "first-relevant-second",
        "none-relevant",
        "any-grade-is-recalled",
        "recall-at-five",
        "only-the-highest-grade",
        "however-deep",
        "precision",
    ],
)
def test_figure_of_an_answer(
    figure: Callable[[list[str], dict[str, int]], float | None],
    answer: list[str],
    expected: float,
) -> None:
    assert figure(answer, GRADES) == pytest.approx(expected)


@pytest.mark.parametrize("grades", [NO_ANSWER, {"a": 0}], ids=["no-grades", "only-zero"])
def test_figures_that_need_an_answer_do_not_apply_without_one(grades: dict[str, int]) -> None:
    for figure in (
        metrics.ndcg,
        metrics.reciprocal_rank,
        metrics.recall,
        metrics.relevant_recall,
    ):
        assert figure(["a"], grades) is None
    assert metrics.rejection([], grades) == 1
    assert metrics.rejection(["a"], grades) == 0
    assert metrics.precision(["a"], grades) == 0


def test_rejection_does_not_apply_with_an_answer() -> None:
    assert metrics.rejection([], GRADES) is None


def test_precision_does_not_apply_to_an_empty_answer() -> None:
    assert metrics.precision([], GRADES) is None


def test_mean_leaves_out_what_does_not_apply() -> None:
    assert metrics.mean([1.0, None, 0.0]) == 0.5
    assert metrics.mean([None]) is None
    assert metrics.mean([]) is None


@given(answer=NOTES, grades=GRADED)
def test_figures_are_shares(answer: list[str], grades: dict[str, int]) -> None:
    figures = [
        figure(answer, grades)
        for figure in (
            metrics.ndcg,
            metrics.reciprocal_rank,
            metrics.recall,
            metrics.relevant_recall,
            metrics.precision,
            metrics.rejection,
        )
    ]
    assert all(figure is None or 0 <= figure <= 1 + 1e-12 for figure in figures)


@given(answer=NOTES, grades=GRADED, other=st.sampled_from("abcdefgh"))
def test_a_further_note_never_lowers_ndcg_or_recall(
    answer: list[str], grades: dict[str, int], other: str
) -> None:
    longer = answer if other in answer else [*answer, other]
    for figure in (metrics.ndcg, metrics.recall, metrics.relevant_recall):
        before, after = figure(answer, grades), figure(longer, grades)
        assert before is None or after is None or after >= before


def test_bootstrapped_means_scatter_as_the_standard_error_says() -> None:
    figures = [0.0, 1.0] * 50
    means = metrics.bootstrap_means(figures)
    low, high = metrics.interval(means)
    # 1.96 standard errors of a mean of 100 figures with deviation 0.5 are 0.098.
    assert low == pytest.approx(0.402, abs=0.02)
    assert high == pytest.approx(0.598, abs=0.02)
    np.testing.assert_array_equal(means, metrics.bootstrap_means(figures))


def test_interval_of_equal_figures_is_that_figure() -> None:
    assert metrics.interval(metrics.bootstrap_means([0.25] * 7)) == (0.25, 0.25)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([0.5, 0.5], [0.5, 0.5], 1.0),
        ([1.0, 0.0], [0.0, 1.0], 1.0),
        # All of the 2^8 choices of signs give less but two.
        ([1.0] * 8, [0.5] * 8, 2 / 2**8),
        ([0.5] * 8, [1.0] * 8, 2 / 2**8),
        # Of the 2^4 choices, six have a sum of 0 and two that of the observed.
        ([0.3, 0.3, 0.3, 0.3], [0.2, 0.2, 0.2, 0.2], 2 / 2**4),
    ],
    ids=["equal", "balanced", "better", "worse", "few"],
)
def test_paired_p_value_is_that_of_all_signs(
    one: list[float], other: list[float], expected: float
) -> None:
    found = metrics.paired_p_value(one, other)
    assert isclose(found, expected, abs_tol=0.01)
    assert 0 < found <= 1
