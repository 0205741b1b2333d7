"""Meaning, with the direct neighbours of a note lifted.

Owns the factor and the order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from app.ranking.notebrain.thresholds import is_kept

BOOST = 1.5
CANDIDATES_PER_RESULT = 3


class BoostedNote(NamedTuple):
    """A note with its best cosine, what that became, and how many queries it passes for."""

    note_id: int
    cosine: float
    score: float
    is_linked: bool
    passed: int


def boosted(
    topics: Sequence[Mapping[int, float]],
    linked: Collection[int],
    titles: Mapping[int, str],
    limit: int,
    boost: float = BOOST,
) -> list[BoostedNote]:
    """Rank the best ``3 · limit`` notes with the score of linked ones multiplied by ``boost``.

    Args:
        topics: The cosine of each note to each query, that of its best chunk; a note's own is the
            best over the queries. With several, those count first for which it passes the
            thresholds beside the best cosine of all.

    Returns:
        By queries passed (where there are several), score, title, id.
    """
    cosines: dict[int, float] = {}
    for topic in topics:
        for note_id, cosine in topic.items():
            cosines[note_id] = max(cosine, cosines.get(note_id, cosine))
    nearest = sorted(cosines, key=lambda note_id: (-cosines[note_id], note_id))
    best = max(cosines.values(), default=0.0)
    rows = []
    for note_id in nearest[: CANDIDATES_PER_RESULT * limit]:
        cosine, is_linked = cosines[note_id], note_id in linked
        passed = sum(note_id in topic and is_kept(topic[note_id], best) for topic in topics)
        score = cosine * boost if is_linked else cosine
        rows.append(BoostedNote(note_id, cosine, score, is_linked, passed))
    counts = len(topics) > 1
    rows.sort(key=lambda row: (-row.passed * counts, -row.score, titles[row.note_id], row.note_id))
    return rows[:limit]
