"""The run of `hybrid`: what it needs, in which order, and which notes it weighs.

Owns the over-fetch and eligibility. What a note is worth is in ``scoring``, where an answer ends
in ``cut``.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from app.domain.chunks import KIND_CHUNK, KIND_FIELD, KIND_WHOLE, SECOND_FIELD, SECOND_WHOLE
from app.domain.evidence import LexicalHit, NoteFacts
from app.ranking.hybrid.cut import cut_of
from app.ranking.hybrid.record import HybridRecord
from app.ranking.hybrid.scoring import NO_COSINES, Cosines, Measured, Row, row_of
from app.ranking.run import (
    Coverage,
    Hit,
    LexicalHits,
    Likeness,
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

Facts = Mapping[int, NoteFacts]
ByNote = dict[int, Cosines]


def rank_hybrid(question: Question) -> RankingRun:
    """Weigh the notes that are near by meaning or found by words; leave out the irrelevant."""
    *near, words = yield Together(_sources(question))
    found: Sequence[LexicalHit] = words
    by_words = (hit.note_id for hit in found)
    ids = tuple(dict.fromkeys([*(note_id for notes in near for note_id in notes), *by_words]))
    facts: Facts = yield NoteCards(ids)
    shares = _shares(found, facts)
    refused = _refused(facts, shares)
    weighed = tuple(note_id for note_id in ids if note_id in facts and note_id not in refused)
    # A note that waits to be embedded may have vectors of an older text.
    embedded = tuple(
        note_id for note_id in weighed if facts[note_id].card.ineligible_because is None
    )
    cosines = yield from _cosines(embedded, facts)
    second = yield from _second_cosines(embedded, question)
    coverage: Mapping[int, float] = yield Coverage(weighed)
    border = border_of(question)
    rows = [
        row_of(
            Measured(
                facts[note_id],
                cosines.get(note_id, NO_COSINES),
                shares.get(note_id, 0.0),
                coverage.get(note_id, 0.0),
                second.get(note_id, NO_COSINES),
            ),
            question.query,
            border,
        )
        for note_id in weighed
    ]
    likened = yield from _likened(rows, embedded, question)
    return _answer(question, likened, refused)


def border_of(question: Question) -> float:
    """Return the border on the scale of the scores: the mean of the spaces that are asked."""
    if question.second_border is None:
        return question.border
    return (question.border + question.second_border) / 2


def _sources(question: Question) -> tuple[NearestNotes | LexicalHits, ...]:
    wanted = OVER_FETCH * question.limit
    kinds = [(KIND_WHOLE, 1), (KIND_FIELD, VECTORS_PER_NOTE), (KIND_CHUNK, VECTORS_PER_NOTE)]
    if question.second_border is not None:
        kinds += [(SECOND_WHOLE, 1), (SECOND_FIELD, VECTORS_PER_NOTE)]
    return (*(NearestNotes(kind, many * wanted) for kind, many in kinds), LexicalHits(wanted))


def _shares(found: Sequence[LexicalHit], facts: Facts) -> dict[int, float]:
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


def _cosines(note_ids: tuple[int, ...], facts: Facts) -> Generator[Need, Any, ByNote]:
    """Measure notes by their companions, and by their chunks those that have none, or a body."""
    by_whole: Mapping[int, Mapping[int, float]] = yield NoteCosines(KIND_WHOLE, note_ids)
    by_field: Mapping[int, Mapping[int, float]] = yield NoteCosines(KIND_FIELD, note_ids)
    chunked = tuple(
        note_id
        for note_id in note_ids
        if facts[note_id].has_body or (note_id not in by_whole and note_id not in by_field)
    )
    by_chunk: Mapping[int, Mapping[int, float]] = {}
    if chunked:
        by_chunk = yield NoteCosines(KIND_CHUNK, chunked)
    return {
        note_id: Cosines(
            by_whole.get(note_id, {}).get(0),
            by_field.get(note_id, {}),
            max(by_chunk.get(note_id, {}).values(), default=None),
        )
        for note_id in note_ids
    }


def _second_cosines(note_ids: tuple[int, ...], question: Question) -> Generator[Need, Any, ByNote]:
    """Measure notes by the second model, which has no chunks."""
    if question.second_border is None:
        return {}
    by_whole: Mapping[int, Mapping[int, float]] = yield NoteCosines(SECOND_WHOLE, note_ids)
    by_field: Mapping[int, Mapping[int, float]] = yield NoteCosines(SECOND_FIELD, note_ids)
    return {
        note_id: Cosines(by_whole.get(note_id, {}).get(0), by_field.get(note_id, {}), None)
        for note_id in note_ids
    }


def _likened(
    rows: Sequence[Row], note_ids: tuple[int, ...], question: Question
) -> Generator[Need, Any, list[Row]]:
    """Measure how like the best note the others are, as the models that were asked see them."""
    best = min(rows, key=lambda row: (-row.joined, row.note_id), default=None)
    if best is None or best.meaning is None:
        return list(rows)
    kinds = (KIND_WHOLE,) if question.second_border is None else (KIND_WHOLE, SECOND_WHOLE)
    found: list[Mapping[int, float]] = []
    for kind in kinds:
        found.append((yield Likeness(kind, best.note_id, note_ids)))
    return [row._replace(likeness=_likeness(row.note_id, found)) for row in rows]


def _likeness(note_id: int, found: Sequence[Mapping[int, float]]) -> float | None:
    known = [cosines[note_id] for cosines in found if note_id in cosines]
    return sum(known) / len(known) if known else None


def _refused(facts: Facts, shares: Mapping[int, float]) -> dict[int, str]:
    """Return the notes that may not be found, with the reason: not by meaning, nor by words."""
    return {
        note_id: known.card.ineligible_because
        for note_id, known in sorted(facts.items())
        if known.card.ineligible_because is not None and note_id not in shares
    }


def _answer(question: Question, rows: Sequence[Row], refused: dict[int, str]) -> Ranking:
    ordered = tuple(sorted(rows, key=lambda row: (-row.score, row.note_id)))
    border, has_second = border_of(question), question.second_border is not None
    cut = cut_of(ordered, border) if question.cut else None
    kept = [row for row in ordered if cut is None or cut.keeps(row)]
    hits = tuple(Hit(row.measured.facts.card, row.score) for row in kept[: question.limit])
    return Ranking(
        hits, HybridRecord(question.limit, border, cut, ordered, refused, has_second=has_second)
    )
