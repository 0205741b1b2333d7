"""The table of rankers that parameters, help and documentation read.

Owns the names. Must not run a ranker.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.domain.chunks import KIND_CHUNK, KIND_FIELD, KIND_WHOLE
from app.ranking.chatcrystal.ranker import rank_chatcrystal, rank_v049, rank_vector
from app.ranking.fusion.ranker import rank_fusion
from app.ranking.hybrid.ranker import rank_hybrid
from app.ranking.run import Question, RankingRun

PART_WORDS = "words"
"""The part of a view that holds the lexical index."""


@dataclass(frozen=True, slots=True)
class Ranker:
    """A named way to order notes.

    ``parts`` are what of the view it reads. One that does without meaning answers from words
    alone, with a warning, when the query cannot be embedded.
    """

    name: str
    help: str
    rank: Callable[[Question], RankingRun]
    parts: tuple[str, ...] = (KIND_CHUNK,)
    does_without_meaning: bool = False


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
    Ranker(
        "fusion",
        "Meaning and words, each normalised within its own results and blended; titles and "
        "aliases boost, notes opened lately break ties. No border.",
        rank_fusion,
        parts=(KIND_CHUNK, PART_WORDS),
        does_without_meaning=True,
    ),
    Ranker(
        "hybrid",
        "Ours: whole notes and their fields by meaning, words where they could be found, and a "
        "cut, so that a query without an answer returns nothing.",
        rank_hybrid,
        parts=(KIND_CHUNK, KIND_WHOLE, KIND_FIELD, PART_WORDS),
        does_without_meaning=True,
    ),
)

BY_NAME: dict[str, Ranker] = {ranker.name: ranker for ranker in RANKERS}
