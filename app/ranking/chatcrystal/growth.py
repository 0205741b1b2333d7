"""Stage 7, growth: when too few notes were found, twice as many candidates are taken.

Owns the decision to stop. Growth can add candidates; it promises neither the count nor the note.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from app.ranking.chatcrystal.judgement import BORDER_OF_RELEVANCE, Rules

GROWTH_FACTOR = 2


class Stop(Enum):
    """Why no more candidates were taken."""

    ENOUGH = "enough notes"
    BUDGET = "the budget of candidates is used up"
    NOTHING_DEEPER = "no terms, and the worst candidate taken is below the border"
    SINGLE_ROUND = "this ranker takes one round"


@dataclass(frozen=True, slots=True)
class Round:
    """One round: how many candidates were taken, and how many notes they gave."""

    size: int
    notes: int


def stop_after(
    latest: Round, limit: int, budget: int, worst_raw: float | None, rules: Rules
) -> Stop | None:
    """Say why growth ends after a round, None when it goes on.

    ``worst_raw`` is the raw score of the last candidate taken, None when there was none.
    """
    if latest.notes >= limit:
        return Stop.ENOUGH
    if latest.size >= budget:
        return Stop.BUDGET
    only_meaning = rules.filters and not rules.terms
    if only_meaning and worst_raw is not None and worst_raw < BORDER_OF_RELEVANCE:
        return Stop.NOTHING_DEEPER
    return None


def next_size(size: int, budget: int) -> int:
    """Return how many candidates the next round takes."""
    return min(GROWTH_FACTOR * size, budget)
