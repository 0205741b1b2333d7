"""The choice of a border, on figures made by hand."""

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.border import NOISE, Sweep, bounds_at, cross_validated


def steps(borders: NDArray[np.float64], found_to: list[float], rejected_from: list[float]) -> Sweep:
    """Queries found at borders up to one each, and queries rejected from a border on each."""
    found = [(borders <= last).astype(float) for last in found_to]
    rejected = [(borders >= first).astype(float) for first in rejected_from]
    has_answer = np.array([True] * len(found) + [False] * len(rejected))
    return Sweep(borders, np.array(found + rejected), has_answer)


BORDERS = np.arange(200, 401) / 1000


def test_the_border_is_the_middle_between_answers_and_others() -> None:
    swept = steps(BORDERS, [0.35, 0.36], [0.25, 0.24])
    assert swept.plateau()[[0, -1]].tolist() == [0.25, 0.35]
    assert swept.choose() == 0.3
    assert swept.worth_at(0.3).mean == 1


def test_both_kinds_count_for_half_whatever_their_number() -> None:
    swept = steps(BORDERS, [0.25] * 100, [0.35])
    recall_only, rejection_only = swept.worth_at(0.22), swept.worth_at(0.38)
    assert (recall_only.recall, recall_only.rejection, recall_only.mean) == (1, 0, 0.5)
    assert (rejection_only.recall, rejection_only.rejection, rejection_only.mean) == (0, 1, 0.5)


def test_a_plateau_spans_what_differs_by_noise_and_no_gap() -> None:
    borders = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    means = np.array([0.9, 0.9 - 2 * NOISE, 0.9 - NOISE / 2, 0.9, 0.9 - 1.5 * NOISE])
    figures = np.stack([means, means])
    swept = Sweep(borders, figures, np.array([True, False]))
    assert swept.plateau().tolist() == [0.1]
    raised = figures + np.array([0, 0, 0, 0.001, 0])
    later = Sweep(borders, raised, np.array([True, False]))
    assert later.plateau().tolist() == [0.3, 0.4]
    assert later.choose() == 0.35


def test_folds_hold_a_fifth_of_each_class_and_choose_without_it() -> None:
    # One query of each class would move the border alone; its fold must not see it.
    swept = steps(BORDERS, [0.34] * 9 + [0.30], [0.26] * 10)
    folds = cross_validated(swept, ["found"] * 10 + ["none"] * 10)
    assert [fold.border for fold in folds] == [0.28, 0.28, 0.28, 0.28, 0.3]
    assert [fold.worth.recall for fold in folds] == [1, 1, 1, 1, 1]
    missed = steps(BORDERS, [0.34] * 9 + [0.21], [0.26] * 10)
    worths = [fold.worth for fold in cross_validated(missed, ["found"] * 10 + ["none"] * 10)]
    assert [worth.recall for worth in worths] == [1, 1, 1, 1, 0.5]
    assert [worth.rejection for worth in worths] == [1] * 5


def test_bounds_hold_the_figure_and_narrow_with_more_queries() -> None:
    widths = []
    for count in (10, 1000):
        swept = steps(BORDERS, [0.34, 0.21] * count, [0.26, 0.39] * count)
        bounds = bounds_at(0.3, swept)
        for low, high in (bounds.recall, bounds.rejection, bounds.mean):
            assert low <= 0.5 <= high
        widths.append(bounds.mean[1] - bounds.mean[0])
        assert bounds.mean[1] - bounds.mean[0] < bounds.recall[1] - bounds.recall[0]
    assert widths[1] == pytest.approx(widths[0] / 10, rel=0.2)
