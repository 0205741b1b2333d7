"""From chunks to their note: the best chunk's score, lifted a little by the others.

Owns the bounded support. A sum over ranks would let a long note win by its length alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from app.ranking.chatcrystal.judgement import Judgement

MOST_SUPPORT = 0.15
"""However many chunks match, a note's score stays below its best chunk's by this share more."""
HALF_SUPPORT = 3.0
"""Support is half of the most when the other chunks amount to three as good as the best."""


class ChunkedNote(NamedTuple):
    """A note found by its chunks; ``best_chunk_id`` is the first of the best."""

    note_id: int
    score: float
    best_chunk_id: int
    best_score: float
    chunks: int


def aggregate(scores: Sequence[float]) -> float:
    """Return a note's score from those of its retrieved chunks, at least one, in any order."""
    best = max(scores)
    if best <= 0:
        return best
    support = (math.fsum(max(0.0, score) for score in scores) - best) / best
    return best * (1 + MOST_SUPPORT * support / (support + HALF_SUPPORT))


def chunked_notes(judgements: Iterable[Judgement]) -> tuple[ChunkedNote, ...]:
    """Group the kept chunks by note and order the notes by score, then id."""
    by_note: dict[int, list[Judgement]] = {}
    for judgement in judgements:
        if judgement.note is not None and judgement.adjusted is not None:
            by_note.setdefault(judgement.note.note_id, []).append(judgement)
    notes = [_chunked_note(note_id, chunks) for note_id, chunks in by_note.items()]
    return tuple(sorted(notes, key=lambda note: (-note.score, note.note_id)))


def _chunked_note(note_id: int, chunks: Sequence[Judgement]) -> ChunkedNote:
    best = min(chunks, key=lambda chunk: (-chunk.cosine, chunk.chunk_id))
    score = aggregate([chunk.cosine for chunk in chunks])
    return ChunkedNote(note_id, score, best.chunk_id, best.cosine, len(chunks))
