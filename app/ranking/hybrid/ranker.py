"""The run of `hybrid`: what it needs, in which order, and which notes it weighs.

Owns the over-fetch, eligibility and the cut. What a note is worth is in ``scoring``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.domain.chunks import KIND_FIELD, KIND_WHOLE
from app.domain.evidence import LexicalHit, NoteFacts
from app.ranking.hybrid.record import HybridRecord
from app.ranking.hybrid.scoring import Measured, Row, row_of
from app.ranking.run import (
    Coverage,
    Hit,
    LexicalHits,
    NearestNotes,
    NoteCards,
    NoteCosines,
    Question,
    Ranking,
    RankingRun,
    Together,
)

OVER_FETCH = 10
"""Notes by each source that each wanted note makes the run ask for."""

FIELDS_PER_NOTE = 3

CUT_SHARE = 0.82
"""The cut, as a share of the space's border: scores of whole notes lie lower than those of their
best chunk. Measured on our own labelled queries (docs/evaluation.md)."""


def rank_hybrid(question: Question) -> RankingRun:
    """Weigh the notes that are near by meaning or found by words; leave out the irrelevant."""
    wanted = OVER_FETCH * question.limit
    whole, fields, words = yield Together(
        (
            NearestNotes(KIND_WHOLE, wanted),
            NearestNotes(KIND_FIELD, FIELDS_PER_NOTE * wanted),
            LexicalHits(wanted),
        )
    )
    worded: Sequence[LexicalHit] = words
    ids = tuple(dict.fromkeys([*whole, *fields, *(hit.note_id for hit in worded)]))
    facts: Mapping[int, NoteFacts] = yield NoteCards(ids)
    cosines: Mapping[int, Mapping[int, float]] = yield NoteCosines(KIND_WHOLE, ids)
    by_field: Mapping[int, Mapping[int, float]] = yield NoteCosines(KIND_FIELD, ids)
    coverage: Mapping[int, float] = yield Coverage(ids)

    best = max((hit.score for hit in worded), default=0.0)
    shares = {hit.note_id: hit.score / best for hit in worded} if best > 0 else {}
    refused = _refused(facts, shares)
    rows = [
        row_of(
            Measured(
                facts=facts[note_id],
                whole=cosines.get(note_id, {}).get(0),
                fields=by_field.get(note_id, {}),
                words=shares.get(note_id, 0.0),
                coverage=coverage.get(note_id, 0.0),
            ),
            question.query,
        )
        for note_id in ids
        if note_id in facts and note_id not in refused
    ]
    return _answer(question, rows, refused)


def _refused(facts: Mapping[int, NoteFacts], shares: Mapping[int, float]) -> dict[int, str]:
    """Return the notes that may not be found; words need no vectors, so they need no status."""
    refused = {}
    for note_id, known in sorted(facts.items()):
        reason = known.card.ineligible_because
        if reason is not None and (known.card.conversation_id is None or note_id not in shares):
            refused[note_id] = reason
    return refused


def _answer(question: Question, rows: Sequence[Row], refused: dict[int, str]) -> Ranking:
    ordered = sorted(rows, key=lambda row: (-row.score, row.note_id))
    # Without a single meaning the provider failed: what words found is all there is.
    has_meaning = any(row.meaning is not None for row in ordered)
    cut = CUT_SHARE * question.border if question.cut and has_meaning else None
    kept = [row for row in ordered if cut is None or row.score >= cut]
    hits = tuple(Hit(row.measured.facts.card, row.score) for row in kept[: question.limit])
    return Ranking(hits, HybridRecord(question.limit, cut, tuple(ordered), refused))
