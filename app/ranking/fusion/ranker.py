"""The run of `fusion`: what it needs, in which order, and what it hands to the rules.

Owns the over-fetch and eligibility of either source. Every rule itself is in its own module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.domain.evidence import Candidate, LexicalHit, NoteFacts
from app.domain.spaces import PLAIN_BORDER
from app.ranking.chatcrystal.judgement import NO_ROW, NOT_ELIGIBLE, Rules, judge_all
from app.ranking.fusion.aggregation import chunked_notes
from app.ranking.fusion.recency import RECENT_OPENS
from app.ranking.fusion.record import FusionRecord, Refusal
from app.ranking.fusion.rows import rank
from app.ranking.run import (
    ChunkRows,
    Hit,
    LexicalHits,
    NearestChunks,
    NoteCards,
    Question,
    Ranking,
    RankingRun,
    RecentOpens,
    Together,
)

OVER_FETCH = 10
"""Chunks and notes by words that each wanted note makes the run ask for."""

_MEANING_ALONE = Rules(terms=(), border=PLAIN_BORDER, floors=False, filters=False)
"""Cosines as they are: nothing here compares a raw score with a constant."""


def rank_fusion(question: Question) -> RankingRun:
    """Fuse what is found by meaning with what is found by words; there is no border."""
    wanted = OVER_FETCH * question.limit
    found: Sequence[LexicalHit]
    candidates: Sequence[Candidate]
    nearest, words = NearestChunks(min(wanted, question.size)), LexicalHits(wanted)
    candidates, found = yield Together((nearest, words))
    rows = yield ChunkRows(tuple(candidate.chunk_id for candidate in candidates))
    judged = judge_all(candidates, rows, _MEANING_ALONE)
    by_meaning = chunked_notes(judged)
    ids = [hit.note_id for hit in found] + [note.note_id for note in by_meaning]
    facts: Mapping[int, NoteFacts] = yield NoteCards(tuple(dict.fromkeys(ids)))
    opened: Sequence[int] = yield RecentOpens(RECENT_OPENS)

    by_words, refused = _eligible(found, facts)
    ranked = rank(
        question.query,
        [(note.note_id, note.score) for note in by_meaning],
        [(hit.note_id, hit.score) for hit in by_words],
        facts,
        opened,
    )
    record = FusionRecord(
        limit=question.limit,
        chunks_asked=min(wanted, question.size),
        words_asked=wanted,
        judgements=tuple(judged),
        by_meaning=by_meaning,
        by_words=tuple(by_words),
        refused=tuple(refused),
        rows=ranked,
    )
    hits = tuple(Hit(facts[row.note_id].card, row.score) for row in ranked[: question.limit])
    return Ranking(hits, record)


def _eligible(
    found: Sequence[LexicalHit], facts: Mapping[int, NoteFacts]
) -> tuple[list[LexicalHit], list[Refusal]]:
    """Part the hits by words from those whose note or conversation is gone.

    Words need no vectors: a note that is still to be embedded is found by them.
    """
    kept: list[LexicalHit] = []
    refused: list[Refusal] = []
    for hit in found:
        known = facts.get(hit.note_id)
        if known is None:
            refused.append(Refusal(hit.note_id, NO_ROW, "no note row in the database"))
        elif known.card.conversation_id is None:
            refused.append(Refusal(hit.note_id, NOT_ELIGIBLE, "conversation deleted"))
        else:
            kept.append(hit)
    return kept, refused
