"""What the default ranker answers at any border, from how near each note is to a query.

Owns the figures of that answer. Pure: a hundred borders cost what one run of the ranker does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np
from numpy.typing import NDArray

from app.domain.spaces import PLAIN_BORDER
from app.maintenance.calibration.fitting import Sweep
from app.ranking.chatcrystal.judgement import FLOOR

LIMIT = 10
BORDERS: NDArray[np.float64] = np.arange(20, 991) / 1000
"""Every border from 0.020 to 0.990 in steps of 0.001."""


@dataclass(frozen=True, slots=True, eq=False)
class Nearness:
    """The notes near one query, best first: by the cosine of their best chunk, then by id.

    ``note_ids`` (n,), ``cosines`` (n,), ``is_floored`` (n,): a chunk holds every term of the query.
    """

    note_ids: NDArray[np.int64]
    cosines: NDArray[np.float64]
    is_floored: NDArray[np.bool_]


Grades = Mapping[int, int]
"""Note id to grade; a note that does not exist has an id below 0."""


def figures_at(near: Nearness, grades: Grades, borders: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return relevant recall at each border or, where nothing answers, 1 for an empty answer."""
    best = _best(grades)
    kept = _reachable(near)
    cosines, is_floored = near.cosines[kept], near.is_floored[kept]
    raw = _raw(cosines, borders)
    adjusted = np.where(is_floored, np.maximum(raw, FLOOR), raw)
    passes = is_floored | (cosines >= borders[:, None])
    if not best:
        return np.asarray(~passes.any(axis=1), dtype=np.float64)
    adjusted[~passes] = -np.inf
    # Stable: of equal ones the nearer comes first.
    places = np.argsort(-adjusted, axis=1, kind="stable")[:, :LIMIT]
    is_best = np.isin(near.note_ids[kept], sorted(best))
    hits = (is_best & passes)[np.arange(len(borders))[:, None], places]
    return np.asarray(hits.sum(axis=1) / len(best), dtype=np.float64)


def _best(grades: Grades) -> set[int]:
    highest = max(grades.values(), default=0)
    return {note for note, grade in grades.items() if grade == highest} if highest > 0 else set()


def _reachable(near: Nearness) -> NDArray[np.intp]:
    """Return the places of what any border can return: the first of each sort."""
    floored = np.flatnonzero(near.is_floored)[:LIMIT]
    plain = np.flatnonzero(~near.is_floored)[:LIMIT]
    return np.sort(np.concatenate([floored, plain]))


def _raw(cosines: NDArray[np.float64], borders: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the raw score of every cosine at every border, (borders, n) (search.md, stage 3)."""
    border = borders[:, None]
    above = PLAIN_BORDER + (1 - PLAIN_BORDER) * (cosines - border) / (1 - border)
    return np.where(cosines <= border, PLAIN_BORDER * cosines / border, above)


def sweep(
    near: Sequence[Nearness], grades: Sequence[Grades], borders: NDArray[np.float64] = BORDERS
) -> Sweep:
    """Work out the figure of every query at every border."""
    figures = np.stack(
        [figures_at(each, graded, borders) for each, graded in zip(near, grades, strict=True)]
    )
    return Sweep(borders, figures, np.array([bool(_best(graded)) for graded in grades]))


def ndcg(near: Sequence[Nearness], grades: Sequence[Grades]) -> float:
    """Return the mean nDCG@10 of the order by meaning alone, over the queries with an answer."""
    figures = []
    for each, graded in zip(near, grades, strict=True):
        ideal = _gain(sorted(graded.values(), reverse=True))
        if ideal > 0:
            order = each.note_ids[:LIMIT].tolist()
            figures.append(_gain([graded.get(note, 0) for note in order]) / ideal)
    return sum(figures) / len(figures)


def _gain(grades: Sequence[int]) -> float:
    places = enumerate(grades[:LIMIT], start=1)
    return sum((2.0**grade - 1) / log2(rank + 1) for rank, grade in places)
