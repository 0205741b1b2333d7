"""The run of `hybrid`: what it needs, in which order, and which notes it weighs.

Owns the over-fetch, eligibility and the cut. What a note is worth is in ``scoring``.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from app.domain.chunks import KIND_CHUNK, KIND_FIELD, KIND_WHOLE
from app.domain.evidence import LexicalHit, NoteFacts
from app.ranking.hybrid.record import HybridRecord
from app.ranking.hybrid.scoring import NO_COSINES, Cosines, Measured, Row, row_of
from app.ranking.run import (
    Coverage,
    Hit,
    LexicalHits,
    NearestNotes,
    Need,
    NoteCards,
    NoteCosines,
    Question,
    Ranking,
    RankingRun,
    Together,
)

OVER_FETCH = 10
"""Notes by each source that each wanted note makes the run ask for."""

VECTORS_PER_NOTE = 3
"""Fields of a note, and about as many chunks."""

CUT_SHARE = 0.82
"""The cut, as a share of the space's border: scores of whole notes lie lower than those of their
best chunk. Measured on our own labelled queries (docs/evaluation.md)."""


def rank_hybrid(question: Question) -> RankingRun:
    """Weigh the notes that are near by meaning or found by words; leave out the irrelevant."""
    wanted = OVER_FETCH * question.limit
    whole, fields, chunks, words = yield Together(
        (
            NearestNotes(KIND_WHOLE, wanted),
            NearestNotes(KIND_FIELD, VECTORS_PER_NOTE * wanted),
            NearestNotes(KIND_CHUNK, VECTORS_PER_NOTE * wanted),
            LexicalHits(wanted),
        )
    )
    found: Sequence[LexicalHit] = words
    ids = tuple(dict.fromkeys([*whole, *fields, *chunks, *(hit.note_id for hit in found)]))
    facts: Mapping[int, NoteFacts] = yield NoteCards(ids)
    shares = _shares(found, facts)
    refused = _refused(facts, shares)
    weighed = tuple(note_id for note_id in ids if note_id in facts and note_id not in refused)
    # A note that waits to be embedded may have vectors of an older text.
    embedded = tuple(
        note_id for note_id in weighed if facts[note_id].card.ineligible_because is None
    )
    cosines = yield from _cosines(embedded)
    coverage: Mapping[int, float] = yield Coverage(weighed)
    rows = [
        row_of(
            Measured(
                facts[note_id],
                cosines.get(note_id, NO_COSINES),
                shares.get(note_id, 0.0),
                coverage.get(note_id, 0.0),
            ),
            question.query,
            question.border,
        )
        for note_id in weighed
    ]
    return _answer(question, rows, refused)


def _shares(found: Sequence[LexicalHit], facts: Mapping[int, NoteFacts]) -> dict[int, float]:
    """Return the scores by words, of notes that may be found, as shares of the best one.

    Words need no vectors, so they need no status.
    """
    scores = {
        hit.note_id: hit.score
        for hit in found
        if hit.note_id in facts and facts[hit.note_id].card.conversation_id is not None
    }
    best = max(scores.values(), default=0.0)
    return {note_id: score / best for note_id, score in scores.items()} if best > 0 else {}


def _cosines(note_ids: tuple[int, ...]) -> Generator[Need, Any, dict[int, Cosines]]:
    """Measure notes by their companions, and by their chunks those that have none yet."""
    by_whole: Mapping[int, Mapping[int, float]] = yield NoteCosines(KIND_WHOLE, note_ids)
    by_field: Mapping[int, Mapping[int, float]] = yield NoteCosines(KIND_FIELD, note_ids)
    lacking = tuple(id_ for id_ in note_ids if id_ not in by_whole and id_ not in by_field)
    by_chunk: Mapping[int, Mapping[int, float]] = {}
    if lacking:
        by_chunk = yield NoteCosines(KIND_CHUNK, lacking)
    return {
        note_id: Cosines(
            by_whole.get(note_id, {}).get(0),
            by_field.get(note_id, {}),
            max(by_chunk.get(note_id, {}).values(), default=None),
        )
        for note_id in note_ids
    }


def _refused(facts: Mapping[int, NoteFacts], shares: Mapping[int, float]) -> dict[int, str]:
    """Return the notes that may not be found, with the reason: not by meaning, nor by words."""
    return {
        note_id: known.card.ineligible_because
        for note_id, known in sorted(facts.items())
        if known.card.ineligible_because is not None and note_id not in shares
    }


def _answer(question: Question, rows: Sequence[Row], refused: dict[int, str]) -> Ranking:
    ordered = sorted(rows, key=lambda row: (-row.score, row.note_id))
    # Without a single meaning the provider failed: what words found is all there is.
    has_meaning = any(row.meaning is not None for row in ordered)
    cut = CUT_SHARE * question.border if question.cut and has_meaning else None
    kept = [row for row in ordered if cut is None or row.score >= cut]
    hits = tuple(Hit(row.measured.facts.card, row.score) for row in kept[: question.limit])
    return Ranking(
        hits, HybridRecord(question.limit, question.border, cut, tuple(ordered), refused)
    )
