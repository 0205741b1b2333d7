"""The run of the default ranker and of the plain baselines made of the same stages.

Owns their composition. Every rule itself is in the module of its stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from app.domain.evidence import Candidate, ChunkRow
from app.ranking.chatcrystal.candidates import budget, raw_score
from app.ranking.chatcrystal.grouping import best_of_notes, ordered
from app.ranking.chatcrystal.growth import Round, Stop, next_size, stop_after
from app.ranking.chatcrystal.judgement import Judgement, Rules, kept_of
from app.ranking.chatcrystal.record import ChatcrystalRecord
from app.ranking.chatcrystal.terms import query_terms
from app.ranking.run import ChunkRows, Hit, NearestChunks, Question, Ranking, RankingRun

FIRST_ROWS_PER_RESULT = 3
"""Rows are read for so many candidates at first, and for the whole budget when that fails."""


class Growth(Enum):
    """How far a ranker looks for notes."""

    WITHIN_BUDGET = "within the budget"
    UNTIL_FULL = "until the limit is full"
    NONE = "one round"


@dataclass(frozen=True, slots=True)
class Policy:
    """Which stages are switched on."""

    floors: bool
    growth: Growth


CHATCRYSTAL = Policy(floors=True, growth=Growth.WITHIN_BUDGET)
VECTOR = Policy(floors=False, growth=Growth.UNTIL_FULL)
V049 = Policy(floors=False, growth=Growth.NONE)


def rank_chatcrystal(question: Question) -> RankingRun:
    """Rank by meaning, floor exact matches, drop what lies below the border."""
    return _rank(question, CHATCRYSTAL)


def rank_vector(question: Question) -> RankingRun:
    """Rank by meaning alone and take candidates until the limit is full."""
    return _rank(question, VECTOR)


def rank_v049(question: Question) -> RankingRun:
    """Rank as version 0.4.9 of the original: as many chunks as the limit, one per note."""
    return _rank(question, V049)


def _rank(question: Question, policy: Policy) -> RankingRun:
    rules = Rules(
        terms=query_terms(question.query) if policy.floors else (),
        border=question.border,
        floors=policy.floors,
        filters=policy.floors and question.cut,
    )
    most = _most_candidates(question, policy)
    size = min(question.limit, question.size)
    candidates: Sequence[Candidate] = ()
    rows: dict[int, ChunkRow] = {}
    read = 0
    rounds: list[Round] = []
    kept: list[Judgement] = []
    taken: Sequence[Candidate] = ()
    stop: Stop | None = None
    while stop is None:
        if size > len(candidates) and len(candidates) < most:
            asked = max(size, min(most, budget(question.limit, most)))
            found: Sequence[Candidate] = yield NearestChunks(asked)
            candidates = _continued(candidates, found) if candidates else found
        if size > read:
            reach = len(candidates) if rounds else FIRST_ROWS_PER_RESULT * question.limit
            wanted = tuple([candidate.chunk_id for candidate in candidates[read:reach]])
            rows |= yield ChunkRows(wanted)
            read += len(wanted)
        kept += kept_of(candidates[len(taken) : size], rows, rules)
        taken = candidates[:size]
        rounds.append(Round(size, len(best_of_notes(kept))))
        stop = (
            Stop.SINGLE_ROUND
            if policy.growth is Growth.NONE
            else stop_after(rounds[-1], question.limit, most, _worst(taken, rules), rules)
        )
        size = next_size(size, most)
    hits, order = _answer(kept, question.limit)
    return Ranking(
        hits, ChatcrystalRecord(rules, question.limit, tuple(rounds), stop, taken, rows, order)
    )


def _most_candidates(question: Question, policy: Policy) -> int:
    if policy.growth is Growth.UNTIL_FULL:
        return question.size
    if policy.growth is Growth.NONE:
        return min(question.limit, question.size)
    return budget(question.limit, question.size)


def _continued(known: Sequence[Candidate], found: Sequence[Candidate]) -> list[Candidate]:
    """Return what is known and what was found beyond it.

    An index that is not exact need not repeat the beginning of a shorter answer.
    """
    ids = {each.chunk_id for each in known}
    return [*known, *(each for each in found if each.chunk_id not in ids)]


def _worst(taken: Sequence[Candidate], rules: Rules) -> float | None:
    return raw_score(taken[-1].cosine, rules.border) if taken else None


def _answer(kept: Sequence[Judgement], limit: int) -> tuple[tuple[Hit, ...], tuple[Judgement, ...]]:
    """Return the hits, and each note's best chunk in order, those beyond the limit included."""
    order = tuple(ordered(best_of_notes(kept)))
    hits = tuple(
        Hit(judgement.note, judgement.adjusted)
        for judgement in order[:limit]
        if judgement.note is not None and judgement.adjusted is not None
    )
    return hits, order
