"""Stages 6 and 8, one per note and order.

Owns which chunk speaks for a note, and in which order notes stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.ranking.chatcrystal.judgement import Judgement


def best_of_notes(judgements: Iterable[Judgement]) -> dict[int, Judgement]:
    """Return each note's best kept chunk: adjusted score, then raw, then the first taken."""
    best: dict[int, Judgement] = {}
    for judgement in judgements:
        if judgement.adjusted is None or judgement.note is None:
            continue
        rival = best.get(judgement.note.note_id)
        if rival is None or _strength(judgement) > _strength(rival):
            best[judgement.note.note_id] = judgement
    return best


def _strength(judgement: Judgement) -> tuple[float, float]:
    return (judgement.adjusted or 0.0, judgement.raw)


def ordered(best: Mapping[int, Judgement]) -> list[Judgement]:
    """Order notes by adjusted score, then raw score, both descending, then note id."""
    return [
        best[note_id]
        for note_id in sorted(
            best, key=lambda note_id: (*(-value for value in _strength(best[note_id])), note_id)
        )
    ]
