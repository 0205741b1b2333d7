"""Where an answer ends: whether a query has one at all, and how far below the best it reaches.

Owns the two rules. The first looks at the query as a whole, by more than one number: how near the
nearest note is, and how much of the query some note holds. Constants are measured
(docs/evaluation.md); they are the same with one model and with two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from app.ranking.hybrid.scoring import Row

COVERAGE_WEIGHT = 0.4
"""A query whose every word is in one note is evidence like so much of a cosine."""

MARGIN = 0.045
"""How far beyond the border of relevance the evidence must go."""

SHARE_OF_BEST = 0.45
"""A note that is so good, beside the best, belongs to the answer."""


class Cut(NamedTuple):
    """What was decided of a query, with its numbers.

    ``evidence`` is the best ``meaning`` of a note with the ``coverage`` of the query, the most that
    a note holds, weighed; with less than ``needed`` there is no answer. ``least`` is the score
    from which on a note belongs to it.
    """

    meaning: float
    coverage: float
    evidence: float
    needed: float
    least: float

    @property
    def has_answer(self) -> bool:
        """Tell whether the evidence is enough."""
        return self.evidence >= self.needed

    def keeps(self, row: Row) -> bool:
        """Tell whether a note belongs to the answer."""
        return self.has_answer and row.score >= self.least


def cut_of(rows: Sequence[Row], border: float) -> Cut | None:
    """Decide on rows, best first.

    Without a single meaning there is no cut: the provider failed, and what words found is all
    there is.
    """
    meanings = [row.meaning for row in rows if row.meaning is not None]
    if not meanings:
        return None
    meaning, coverage = max(meanings), max(row.measured.coverage for row in rows)
    top = rows[0].score
    return Cut(
        meaning=meaning,
        coverage=coverage,
        evidence=meaning + COVERAGE_WEIGHT * coverage,
        needed=border + MARGIN,
        # A share of a score below zero would lie above it.
        least=min(top, SHARE_OF_BEST * top),
    )
