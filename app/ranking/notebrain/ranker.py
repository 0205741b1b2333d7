"""The run of `notebrain`: what it needs for each query, and what it hands to the rules.

Owns how far the chunks of a query are looked for, and the words for which it falls back.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from app.domain.evidence import Candidate, ChunkRow, LexicalHit, NoteCard, NoteFacts
from app.domain.spaces import PLAIN_BORDER
from app.ranking.chatcrystal.judgement import Judgement, Rules, judge_all
from app.ranking.notebrain.matches import Caps, Match, best_matches, caps_of
from app.ranking.notebrain.merging import ShownNote, merge
from app.ranking.notebrain.record import NotebrainRecord, WordMatch
from app.ranking.run import (
    ChunkRows,
    Headings,
    Hit,
    LexicalHits,
    NearestChunks,
    Need,
    NoteCards,
    Question,
    Ranking,
    RankingRun,
)
from app.text import round_half_up

FIRST_CHUNKS = 2
"""Chunks asked for at first, for each that the caps let through; four times as many each time
that this does not fill them."""

GROWTH = 4

OVER_FETCH = 10
"""Notes by words that each wanted one makes a query ask for: a bridge may stand deep in both."""

_COSINES_AS_THEY_ARE = Rules(terms=(), border=PLAIN_BORDER, floors=False, filters=False)

Judged = Generator[Need, Any, list[Judgement]]


def rank_notebrain(question: Question) -> RankingRun:
    """Rank by meaning for several queries at once; by words when meaning finds nothing."""
    caps = caps_of(question.limit, question.per_note)
    judged: dict[int, Judgement] = {}
    topics: list[list[Match]] = []
    for topic in range(len(question.topics)):
        found = yield from _judged(question, topic, caps)
        topics.append(_matches(found, caps))
        _keep_best(judged, found)
    merged = merge(topics, question.per_note, cuts=question.cut)
    chunk_ids = {_place(each): each.chunk_id for each in judged.values() if each.row is not None}
    cards = {each.note.note_id: each.note for each in judged.values() if each.note is not None}
    hits: tuple[Hit, ...]
    words: tuple[WordMatch, ...] = ()
    if merged.chunks:
        shown = merged.notes[: question.limit]
        ids = tuple(chunk_ids[note.note_id, c.chunk] for note in shown for c in note.chunks)
        headings: Mapping[int, str | None] = yield Headings(ids)
        hits = tuple(_hit(question, cards, note, chunk_ids, headings) for note in shown)
    else:
        words = yield from _by_words(question)
        hits = tuple(_word_hit(each) for each in words[: question.limit])
    record = NotebrainRecord(question, caps, tuple(judged.values()), chunk_ids, merged, words)
    return Ranking(hits, record)


def _judged(question: Question, topic: int, caps: Caps) -> Judged:
    """Take candidates of one query until the caps are filled beyond doubt."""
    size = min(FIRST_CHUNKS * caps.in_all, question.size)
    rows: dict[int, ChunkRow] = {}
    while True:
        candidates: Sequence[Candidate] = yield NearestChunks(size, topic)
        fresh = (each.chunk_id for each in candidates if each.chunk_id not in rows)
        rows |= yield ChunkRows(tuple(fresh))
        judged = judge_all(candidates, rows, _COSINES_AS_THEY_ARE)
        if size >= question.size or _is_settled(candidates, _matches(judged, caps), caps):
            return judged
        size = min(GROWTH * size, question.size)


def _keep_best(judged: dict[int, Judgement], found: Sequence[Judgement]) -> None:
    """Add the judgements of one query; a chunk keeps that of the query it is nearest to."""
    for judgement in found:
        rival = judged.get(judgement.chunk_id)
        if rival is None or rival.cosine < judgement.cosine:
            judged[judgement.chunk_id] = judgement


def _is_settled(candidates: Sequence[Candidate], matches: Sequence[Match], caps: Caps) -> bool:
    """Tell whether no further candidate can be among the best.

    One with the cosine of the last could: the index breaks ties by chunk id, the rules by note.
    """
    last = candidates[-1].cosine if candidates else 0.0
    return last <= 0 or (len(matches) == caps.in_all and last < matches[-1].score)


def _matches(judged: Sequence[Judgement], caps: Caps) -> list[Match]:
    kept = (each for each in judged if each.rule is None)
    return best_matches((Match(*_place(each), each.cosine) for each in kept), caps)


def _place(judgement: Judgement) -> tuple[int, int]:
    """Return note id and number of a chunk that has a row."""
    row = judgement.row
    return (row.note.note_id, row.chunk_index) if row else (0, 0)


def _hit(
    question: Question,
    cards: Mapping[int, NoteCard],
    note: ShownNote,
    chunk_ids: Mapping[tuple[int, int], int],
    headings: Mapping[int, str | None],
) -> Hit:
    chunks = [
        {
            "chunk_index": each.chunk,
            "heading_path": headings.get(chunk_ids[note.note_id, each.chunk]),
            "score": round_half_up(each.score),
            "matched": [question.topics[score.topic] for score in each.matched],
        }
        for each in note.chunks
    ]
    extra = {"matched_queries": note.matched_queries, "lexical": False, "chunks": chunks}
    return Hit(cards[note.note_id], note.score, extra=extra)


def _by_words(question: Question) -> Generator[Need, Any, tuple[WordMatch, ...]]:
    """Find notes by words: those that hold words of more queries first, then by score, id.

    As in other searches by words, a note that waits to be embedded is found.
    """
    found: dict[int, list[tuple[int, LexicalHit]]] = {}
    for topic in range(len(question.topics)):
        hits: Sequence[LexicalHit] = yield LexicalHits(OVER_FETCH * question.limit, topic)
        for hit in hits:
            found.setdefault(hit.note_id, []).append((topic, hit))
    facts: Mapping[int, NoteFacts] = yield NoteCards(tuple(found))
    matches = [
        WordMatch(
            facts[note_id].card,
            max(hit.score for _, hit in listed),
            tuple(question.topics[topic] for topic, _ in listed),
            tuple(dict.fromkeys(word for _, hit in listed for word in hit.matched)),
        )
        for note_id, listed in found.items()
        if note_id in facts and facts[note_id].card.conversation_id is not None
    ]
    order = sorted(matches, key=lambda each: (-len(each.topics), -each.weight, each.card.note_id))
    return tuple(order)


def _word_hit(match: WordMatch) -> Hit:
    extra = {"matched_queries": len(match.topics), "lexical": True, "chunks": []}
    return Hit(match.card, 0.0, extra=extra)
