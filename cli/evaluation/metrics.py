"""Figures of one answer against the grades of its query, and what a mean of them is worth.

Owns the definitions (docs/evaluation.md). Pure: notes are named by any text, answers come best
first and name a note once. A grade above 0 is relevant; a query without one has no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log2

import numpy as np
from numpy.typing import NDArray

Grades = Mapping[str, int]

NDCG_DEPTH = 10
RECALL_DEPTH = 5

BOOTSTRAP_ROUNDS = 2_000
PERMUTATION_ROUNDS = 10_000
CONFIDENCE = 0.95
SEED = 0


def has_answer(grades: Grades) -> bool:
    """Tell whether any note answers the query."""
    return any(grade > 0 for grade in grades.values())


def best_notes(grades: Grades) -> frozenset[str]:
    """Return the notes with the query's highest grade, none when it has no answer."""
    highest = max(grades.values(), default=0)
    if highest <= 0:
        return frozenset()
    return frozenset(note for note, grade in grades.items() if grade == highest)


def ndcg(answer: Sequence[str], grades: Grades, depth: int = NDCG_DEPTH) -> float | None:
    """Return the discounted gain of an answer over that of the best order of the graded notes.

    Gain 2^grade - 1, discount log2(rank + 1). None when the query has no answer.
    """
    ideal = _discounted_gain(sorted(grades.values(), reverse=True)[:depth])
    if ideal == 0:
        return None
    return _discounted_gain([grades.get(note, 0) for note in answer[:depth]]) / ideal


def _discounted_gain(grades: Iterable[int]) -> float:
    return sum((2.0**grade - 1) / log2(rank + 1) for rank, grade in enumerate(grades, start=1))


def reciprocal_rank(answer: Sequence[str], grades: Grades) -> float | None:
    """Return 1 over the rank of the first relevant note, 0 without one.

    None when the query has no answer.
    """
    if not has_answer(grades):
        return None
    ranks = (rank for rank, note in enumerate(answer, start=1) if grades.get(note, 0) > 0)
    return 1 / next(ranks, float("inf"))


def recall(answer: Sequence[str], grades: Grades, depth: int = RECALL_DEPTH) -> float | None:
    """Return the share of the relevant notes that stand among the first ``depth``.

    None when the query has no answer.
    """
    relevant = {note for note, grade in grades.items() if grade > 0}
    return len(relevant.intersection(answer[:depth])) / len(relevant) if relevant else None


def relevant_recall(answer: Sequence[str], grades: Grades) -> float | None:
    """Return the share of the notes with the highest grade that the answer holds.

    None when the query has no answer.
    """
    best = best_notes(grades)
    return len(best.intersection(answer)) / len(best) if best else None


def precision(answer: Sequence[str], grades: Grades) -> float | None:
    """Return the share of the answer that is relevant, None when the answer is empty."""
    return sum(grades.get(note, 0) > 0 for note in answer) / len(answer) if answer else None


def rejection(answer: Sequence[str], grades: Grades) -> float | None:
    """Return 1 when a query without an answer got none, 0 when it got notes, None otherwise."""
    return None if has_answer(grades) else float(not answer)


def mean(figures: Iterable[float | None]) -> float | None:
    """Return the mean of the figures that apply, None when none does."""
    applying = [figure for figure in figures if figure is not None]
    return sum(applying) / len(applying) if applying else None


def bootstrap_means(
    figures: Sequence[float], rounds: int = BOOTSTRAP_ROUNDS, seed: int = SEED
) -> NDArray[np.float64]:
    """Return the means (rounds,) of as many figures drawn again with replacement."""
    values = np.asarray(figures, dtype=np.float64)
    drawn = np.random.default_rng(seed).integers(0, len(values), (rounds, len(values)))
    return np.asarray(values[drawn].mean(axis=1), dtype=np.float64)


def interval(means: NDArray[np.float64], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the bounds between which the middle ``confidence`` of bootstrapped means lies."""
    outside = (1 - confidence) / 2
    low, high = np.quantile(means, (outside, 1 - outside))
    return float(low), float(high)


def paired_p_value(
    one: Sequence[float], other: Sequence[float], rounds: int = PERMUTATION_ROUNDS, seed: int = SEED
) -> float:
    """Return how often chance alone parts the means of the same queries so far, both ways.

    A permutation test: under chance, either of a query's two figures could be either's. The
    observed difference counts as one round, so the value is never 0; it is 1 for equal figures.
    """
    differences = np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64)
    differences = differences[differences != 0]
    if not len(differences):
        return 1.0
    signs = np.random.default_rng(seed).choice((-1.0, 1.0), (rounds, len(differences)))
    # Sums that are equal but for rounding count as equal.
    least = abs(differences.sum()) - 1e-9
    return float((1 + (np.abs(signs @ differences) >= least).sum()) / (1 + rounds))
