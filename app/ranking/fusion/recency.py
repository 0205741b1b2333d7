"""Recency, a bounded tiebreaker: notes opened lately rise among notes about as good.

Owns gate, lift, cap and crowding. Must never lower a note.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from app.ranking.fusion.identity import EXACT, PREFIX, TOKEN

RECENT_OPENS = 20
_LATEST_BOOST = 4.5
_BOOST_STEP = 0.75
_LEAST_BOOST = 0.5

GATE = 0.80
"""A share of the best raw score of the same source, so that no rank decides."""
LIFT_SHARE = 0.6
ALIAS_LIFT_SHARE = 1.2
MOST_ALIAS_LIFT = 0.15
ALIAS_WEIGHTS = {EXACT: 1.0, TOKEN: 1.0, PREFIX: 0.75}

CAP_PER_GAP = 2.0
LEAST_CAP = 0.02
MOST_CAP = 0.30


class Recency(NamedTuple):
    """What is known of a note's opening; ``relevance`` is the number of the gate.

    ``place`` counts from 0 for the note opened last, None for one not opened lately; ``strength``
    is 1 for the latest.
    """

    place: int | None
    strength: float
    relevance: float

    @property
    def recent(self) -> bool:
        """Tell whether the note is among those opened last."""
        return self.place is not None

    @property
    def gated(self) -> bool:
        """Tell whether a recent note is too far from the best to be lifted."""
        return self.recent and self.relevance < GATE

    @property
    def lifts(self) -> bool:
        """Tell whether the note is recent and past the gate."""
        return self.recent and not self.gated


class Bounds(NamedTuple):
    """What bounds every lift of one answer; ``lifted`` notes are recent and past the gate.

    ``median_gap`` and ``cap`` are shares of the top base score and of a note's own.
    """

    median_gap: float
    cap: float
    lifted: int
    crowding: float


def places(opened: Iterable[int]) -> dict[int, int]:
    """Return the place of each of the last opened notes; ``opened`` is latest first."""
    latest = list(dict.fromkeys(opened))[:RECENT_OPENS]
    return {note_id: place for place, note_id in enumerate(latest)}


def recency_of(place: int | None, raw: float, best_raw: float) -> Recency:
    """Judge a note by its place and by its raw score in the source that speaks for it."""
    return Recency(place, _strength(place), max(0.0, raw) / best_raw if best_raw > 0 else 0.0)


def _strength(place: int | None) -> float:
    if place is None:
        return 0.0
    return max(_LATEST_BOOST - _BOOST_STEP * place, _LEAST_BOOST) / _LATEST_BOOST


def bounds_of(bases: Sequence[float], lifted: int) -> Bounds:
    """Bound the lifts of an answer by the gaps between its base scores and by their number."""
    gap = _median_gap(sorted(bases, reverse=True))
    cap = min(MOST_CAP, max(LEAST_CAP, CAP_PER_GAP * gap))
    return Bounds(gap, cap, lifted, 1 / lifted**2 if lifted else 1.0)


def _median_gap(bases: Sequence[float]) -> float:
    """Return the upper median of the gaps between neighbours as a share of the top score."""
    gaps = sorted(higher - lower for higher, lower in pairwise(bases))
    if not gaps or bases[0] <= 0:
        return 0.0
    return gaps[len(gaps) // 2] / bases[0]


def unbounded_lift(base: float, recency: Recency, alias_kind: str | None) -> float:
    """Return the lift of a note before cap and crowding; a match with an alias adds to it."""
    if not recency.lifts:
        return 0.0
    weight = ALIAS_WEIGHTS.get(alias_kind or "", 0.0)
    of_alias = min(base * recency.strength * ALIAS_LIFT_SHARE, base * MOST_ALIAS_LIFT) * weight
    return base * recency.strength * LIFT_SHARE + of_alias


def bounded_lift(base: float, unbounded: float, bounds: Bounds) -> float:
    """Apply the cap, then the crowding."""
    return min(unbounded, base * bounds.cap) * bounds.crowding
