"""The table of rankers that parameters, help and documentation read.

Owns the names. Must not run a ranker.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.ranking.chatcrystal.ranker import rank_chatcrystal, rank_v049, rank_vector
from app.ranking.run import Question, RankingRun


@dataclass(frozen=True, slots=True)
class Ranker:
    """A named way to order notes."""

    name: str
    help: str
    rank: Callable[[Question], RankingRun]


RANKERS: tuple[Ranker, ...] = (
    Ranker(
        "chatcrystal",
        "Meaning first; a chunk that holds every term of the query is floored at 0.82, "
        "everything else below the border of relevance is left out.",
        rank_chatcrystal,
    ),
    Ranker(
        "v049",
        "As version 0.4.9 of the original: as many chunks as the limit, one a note, no border.",
        rank_v049,
    ),
    Ranker(
        "vector",
        "Meaning alone: the nearest notes until the limit is full, no border.",
        rank_vector,
    ),
)

BY_NAME: dict[str, Ranker] = {ranker.name: ranker for ranker in RANKERS}
