"""Where answers of `hybrid` could end: rules with one free margin, fitted and cross-validated.

Owns the rules that were compared. What is weighed is the mean of relevant recall and rejection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.maintenance.calibration.fitting import Sweep
from app.ranking.hybrid import cut
from benchmarks.border import figure_of
from benchmarks.weighing import Numbers, Weighed, Weights
from cli.evaluation import metrics

MARGINS: Numbers = np.arange(-150, 251, 2) / 1000
"""Every margin beyond the border from -0.150 to 0.250 in steps of 0.002."""

RANKS_BELOW = slice(5, 20)
"""The ranks whose mean the nearest note is compared with, where that is tried."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Evidence of a query, and the share of the best score that a note must have.

    ``coverage`` and ``gap`` weigh the best coverage, and how far the nearest note stands above
    others; a ``share`` of None asks of every note what is asked of the best.
    """

    name: str
    coverage: float = 0.0
    gap: float = 0.0
    share: float | None = None


RULES = (
    Rule("the score of each note"),
    Rule("the nearest, a share of the best", share=cut.SHARE_OF_BEST),
    Rule("and the coverage of the query", cut.COVERAGE_WEIGHT, share=cut.SHARE_OF_BEST),
    Rule("and how far the nearest stands out", cut.COVERAGE_WEIGHT, 0.5, cut.SHARE_OF_BEST),
)
CHOSEN = RULES[2]


def sweep_margins(found: Sequence[Weighed], weights: Weights, border: float, rule: Rule) -> Sweep:
    """Return what every margin is worth."""
    figures = np.empty((len(found), len(MARGINS)))
    for number, each in enumerate(found):
        scores, keeps = each.scores(weights), _keeper(each, weights, border, rule)
        figures[number] = [
            figure_of(each.answer(scores, keeps(margin)), each.query) for margin in MARGINS.tolist()
        ]
    has_answer = np.array([metrics.has_answer(each.query.grades) for each in found])
    return Sweep(MARGINS, figures, has_answer)


def precision_at(margin: float, found: Sequence[Weighed], weights: Weights, border: float) -> float:
    """Return the mean precision of what is returned."""
    answers = [
        (each.answer(each.scores(weights), _keeper(each, weights, border, CHOSEN)(margin)), each)
        for each in found
    ]
    precisions = (metrics.precision(answer, each.query.grades) for answer, each in answers)
    return metrics.mean(precisions) or 0.0


def _keeper(
    each: Weighed, weights: Weights, border: float, rule: Rule
) -> Callable[[float], NDArray[np.bool_]]:
    """Return which notes belong to the answer, by the margin."""
    meaning, scores = each.meaning(weights), each.scores(weights)
    if rule.share is None:
        return lambda margin: scores >= border + margin
    nearest = float(meaning.max(initial=0.0))
    below = np.sort(meaning)[::-1][RANKS_BELOW]
    gap = nearest - float(below.mean()) if len(below) else nearest
    coverage = float(each.coverage.max(initial=0.0))
    evidence = nearest + rule.coverage * coverage + rule.gap * gap
    is_near_the_best = scores >= rule.share * scores.max(initial=0.0)
    return lambda margin: is_near_the_best & (evidence >= border + margin)
