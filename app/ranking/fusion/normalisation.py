"""What a raw score is worth within its own result set.

Owns the floor and the scale of a source. Sources never see each other here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

FLOOR_SHARE = 0.15
"""The floor lies below the worst score, so that the worst of a narrow band is not worth 0."""

Scored = tuple[int, float]
"""A note id and its raw score in one source."""


class SourceScore(NamedTuple):
    """A note's standing in one source; ranks count from 1."""

    raw: float
    rank: int
    normalised: float


def normalised(scores: Sequence[float]) -> list[float]:
    """Map raw scores to 0 to 1; all 0 when the best is not positive, all 1 when all are equal."""
    if not scores:
        return []
    worst, best = min(scores), max(scores)
    if best <= 0:
        return [0.0] * len(scores)
    if best == worst:
        return [1.0] * len(scores)
    floor = FLOOR_SHARE * max(0.0, worst)
    return [min(1.0, max(0.0, (score - floor) / (best - floor))) for score in scores]


def source_scores(found: Sequence[Scored]) -> dict[int, SourceScore]:
    """Return the standing of every note of a source, best first; equal scores stay as they came."""
    ordered = sorted(found, key=lambda scored: -scored[1])
    values = normalised([score for _, score in ordered])
    return {
        note_id: SourceScore(score, rank, value)
        for rank, ((note_id, score), value) in enumerate(zip(ordered, values, strict=True), start=1)
    }
