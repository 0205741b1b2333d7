"""The border of a space: the cosine at which an answer begins, chosen on labelled queries.

Owns the choice and what it is worth. What is weighed is balanced accuracy: the mean of relevant
recall (queries with an answer) and rejection (queries without one), so that either counts for half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

NOISE = 0.01
"""Means that differ by less say nothing."""

FOLDS = 5


@dataclass(frozen=True, slots=True)
class Worth:
    """Relevant recall and rejection at one border, from 0 to 1."""

    recall: float
    rejection: float

    @property
    def mean(self) -> float:
        """What is weighed."""
        return (self.recall + self.rejection) / 2


@dataclass(frozen=True, slots=True)
class Fold:
    """A border chosen without some queries, and its worth on exactly these."""

    border: float
    worth: Worth


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """What the answers of queries are worth at each of a row of borders.

    ``figures`` (queries, borders) holds relevant recall where ``has_answer`` (queries,), and
    elsewhere 1 when the answer is empty; ``borders`` (borders,) ascend.
    """

    borders: NDArray[np.float64]
    figures: NDArray[np.float64]
    has_answer: NDArray[np.bool_]

    def of(self, chosen: NDArray[np.bool_]) -> Sweep:
        """Return the same of some of the queries."""
        return replace(self, figures=self.figures[chosen], has_answer=self.has_answer[chosen])

    def at(self, border: float) -> NDArray[np.float64]:
        """Return the figure of each query at the border nearest to the given one, (queries,)."""
        return self.figures[:, int(np.abs(self.borders - border).argmin())]

    def worth_at(self, border: float) -> Worth:
        """Return what a border is worth."""
        figures = self.at(border)
        return Worth(
            float(figures[self.has_answer].mean()), float(figures[~self.has_answer].mean())
        )

    def curve(self) -> NDArray[np.float64]:
        """Return the mean of relevant recall and rejection at each border, (borders,)."""
        recall = self.figures[self.has_answer].mean(axis=0)
        rejection = self.figures[~self.has_answer].mean(axis=0)
        return np.asarray((recall + rejection) / 2, dtype=np.float64)

    def plateau(self) -> NDArray[np.float64]:
        """Return the unbroken run of borders about the best that is within noise of it."""
        means = self.curve()
        is_good = means >= means.max() - NOISE
        start = stop = int(means.argmax())
        while start > 0 and is_good[start - 1]:
            start -= 1
        while stop + 1 < len(means) and is_good[stop + 1]:
            stop += 1
        return self.borders[start : stop + 1]

    def choose(self) -> float:
        """Return the middle of the plateau, to 3 decimals."""
        plateau = self.plateau()
        return round(float(plateau[0] + plateau[-1]) / 2, 3)


def cross_validated(swept: Sweep, groups: Sequence[str]) -> tuple[Fold, ...]:
    """Choose a border on four fifths of each class and weigh it on the last, five times.

    ``groups`` names the class of each query.
    """
    fold_of = folds_of(groups)
    found = []
    for fold in range(FOLDS):
        border = swept.of(fold_of != fold).choose()
        found.append(Fold(border, swept.of(fold_of == fold).worth_at(border)))
    return tuple(found)


def folds_of(groups: Sequence[str]) -> NDArray[np.int64]:
    """Deal the queries of each class to the folds in turn, (queries,)."""
    seen: dict[str, int] = {}
    fold_of = np.empty(len(groups), dtype=np.int64)
    for place, group in enumerate(groups):
        seen[group] = seen.get(group, -1) + 1
        fold_of[place] = seen[group] % FOLDS
    return fold_of


def balanced_folds(has_answer: NDArray[np.bool_], groups: Sequence[str]) -> NDArray[np.int64]:
    """Deal queries to the folds so that each has its share of either kind, (queries,).

    Class by class, so that each class is spread as well; of five of a kind every fold has one.
    """
    fold_of = np.empty(len(groups), dtype=np.int64)
    for kind in (True, False):
        places = np.flatnonzero(has_answer == kind).tolist()
        places.sort(key=lambda place: groups[place])
        fold_of[places] = np.arange(len(places)) % FOLDS
    return fold_of
