"""What an answer says beside a note: the fragments that speak for it, and its replicas, as JSON.

Owns the keys. Computes no score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.domain.fragments import CHUNK, Fragment, FragmentText
from app.ranking.finder.replicas import Shown
from app.text import round_half_up


def hints_of(
    fragments: Sequence[tuple[Fragment, float]], texts: Mapping[Fragment, FragmentText]
) -> list[dict[str, Any]]:
    """Return the hints of a note, best first; fragments without a text have none."""
    return [
        _hint(fragment, score, texts[fragment])
        for fragment, score in fragments
        if fragment in texts
    ]


def _hint(fragment: Fragment, score: float, text: FragmentText) -> dict[str, Any]:
    is_placed = text.start is not None and text.end is not None
    return {
        "preview": text.preview,
        "chunk_id": fragment.id if fragment.name == CHUNK else None,
        "heading_path": text.heading_path,
        "extent": [text.start, text.end] if is_placed else None,
        "extent_of": text.part,
        "score": round_half_up(score),
    }


def replicas_of(shown: Shown) -> list[dict[str, Any]]:
    """Return the notes of the same content, best first."""
    return [
        {"note_id": card.note_id, "title": card.title, "score": round_half_up(source.score)}
        for source, card in shown.replicas
    ]
