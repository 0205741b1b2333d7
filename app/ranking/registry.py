"""The table of rankers that parameters, help and documentation read.

Owns the names. Must not run a ranker.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.domain.chunks import (
    KIND_CHUNK,
    KIND_ENTITY,
    KIND_FIELD,
    KIND_WHOLE,
    SECOND_FIELD,
    SECOND_PARTS,
    SECOND_WHOLE,
)
from app.ranking.chatcrystal.ranker import rank_chatcrystal, rank_v049, rank_vector
from app.ranking.finder.ranker import rank_finder
from app.ranking.fusion.ranker import rank_fusion
from app.ranking.hybrid.ranker import rank_hybrid
from app.ranking.notebrain.ranker import rank_notebrain
from app.ranking.run import Question, RankingRun

PART_WORDS = "words"
"""The part of a view that holds the lexical index."""

PART_FRAGMENTS = "fragments"
"""The part of a view that holds the lexical index of roots, chunks and entities, one by one."""


@dataclass(frozen=True, slots=True)
class Ranker:
    """A named way to order notes.

    ``parts`` are what of the view it reads. One that does without meaning answers from words
    alone, with a warning, when the query cannot be embedded. One that takes topics may be asked
    several queries at once. ``fields`` of notes are shown whether they are asked for or not.
    """

    name: str
    help: str
    rank: Callable[[Question], RankingRun]
    parts: tuple[str, ...] = (KIND_CHUNK,)
    does_without_meaning: bool = False
    takes_topics: bool = False
    fields: tuple[str, ...] = ()

    @property
    def weighs_two(self) -> bool:
        """Tell whether it weighs what a second model says, where there is one."""
        return not SECOND_PARTS.keys().isdisjoint(self.parts)


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
        parts=(KIND_CHUNK, KIND_WHOLE, KIND_FIELD, PART_WORDS, SECOND_WHOLE, SECOND_FIELD),
        does_without_meaning=True,
    ),
    Ranker(
        "finder",
        "Fragments found by words and by meaning, then relevance that flows along relations: a "
        "note that never names the topic is found when everything that does leads to it.",
        rank_finder,
        parts=(KIND_CHUNK, KIND_WHOLE, KIND_ENTITY, PART_FRAGMENTS),
        does_without_meaning=True,
        fields=("summary",),
    ),
    Ranker(
        "notebrain",
        "Several queries at once: chunks that bridge them first, then by meaning, with thresholds "
        "beside the best; by words when meaning finds nothing.",
        rank_notebrain,
        parts=(KIND_CHUNK, PART_WORDS),
        takes_topics=True,
    ),
)

BY_NAME: dict[str, Ranker] = {ranker.name: ranker for ranker in RANKERS}
