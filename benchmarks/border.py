"""The border of a space, swept on labelled queries by the default ranker itself.

Owns the figures and their uncertainty; how a border is chosen from them is what
``crystal calibrate`` does (``app.maintenance.calibration.fitting``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.maintenance.calibration.fitting import NOISE, Fold, Sweep, Worth, cross_validated
from benchmarks.collection import GradedQuery
from benchmarks.replay import Replay
from cli.evaluation import metrics

__all__ = ("NOISE", "Fold", "Sweep", "Worth", "bounds_at", "cross_validated", "figure_of", "sweep")

BORDERS: NDArray[np.float64] = np.arange(200, 401) / 1000
"""Every border from 0.200 to 0.400 in steps of 0.001."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Between what 95 % of the bootstrapped means at one border lie."""

    recall: tuple[float, float]
    rejection: tuple[float, float]
    mean: tuple[float, float]


def sweep(
    replay: Replay, queries: Sequence[GradedQuery], borders: NDArray[np.float64] = BORDERS
) -> Sweep:
    """Let the default ranker answer every query at every border."""
    figures = np.empty((len(queries), len(borders)))
    for number, query in enumerate(queries):
        # An answer holds other notes only when another chunk passes.
        passing = (replay.cosines[number] >= borders[:, None]).sum(axis=1).tolist()
        known: dict[int, float] = {}
        for place, border in enumerate(borders.tolist()):
            if passing[place] not in known:
                known[passing[place]] = figure_of(replay.answer(number, border), query)
            figures[number, place] = known[passing[place]]
    has_answer = np.array([metrics.has_answer(query.grades) for query in queries])
    return Sweep(borders, figures, has_answer)


def figure_of(answer: Sequence[str], query: GradedQuery) -> float:
    """Return an answer's relevant recall or, where nothing answers the query, its rejection."""
    recall = metrics.relevant_recall(answer, query.grades)
    return float(not answer) if recall is None else recall


def bounds_at(border: float, swept: Sweep) -> Bounds:
    """Bootstrap over queries, those with and those without an answer apart."""
    figures = swept.at(border)
    recall = metrics.bootstrap_means(figures[swept.has_answer].tolist())
    rejection = metrics.bootstrap_means(figures[~swept.has_answer].tolist(), seed=metrics.SEED + 1)
    return Bounds(
        metrics.interval(recall),
        metrics.interval(rejection),
        metrics.interval((recall + rejection) / 2),
    )
