"""The best chunks for one vector: how many in all, and how many of one note.

Owns the two caps, and which queries count as different.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from app.text import js_trim

CHUNKS_PER_NOTE = 3
"""Chunks of a note that are shown, unless asked otherwise."""

LEAST_OF_A_NOTE = 6
LEAST_IN_ALL = 20
MOST_IN_ALL = 100


class Match(NamedTuple):
    """A chunk of a note, by its number in the note, and its cosine."""

    note_id: int
    chunk: int
    score: float


class Caps(NamedTuple):
    """How many chunks one vector may bring: in all, and of one note."""

    in_all: int
    of_a_note: int


def caps_of(limit: int, per_note: int) -> Caps:
    """Return the caps for so many wanted notes and shown chunks a note."""
    in_all = min(max(2 * limit, LEAST_IN_ALL), MOST_IN_ALL)
    return Caps(in_all, max(2 * per_note, LEAST_OF_A_NOTE))


def best_matches(
    matches: Iterable[Match], caps: Caps, *, only_positive: bool = True
) -> list[Match]:
    """Return the best matches within the caps, by score, note id, chunk."""
    taken: list[Match] = []
    of_note: Counter[int] = Counter()
    for match in sorted(matches, key=lambda each: (-each.score, each.note_id, each.chunk)):
        if len(taken) == caps.in_all or (only_positive and match.score <= 0):
            break
        if of_note[match.note_id] < caps.of_a_note:
            of_note[match.note_id] += 1
            taken.append(match)
    return taken


def distinct_topics(queries: Iterable[str]) -> tuple[str, ...]:
    """Trim queries, drop blanks and exact repeats, keep the order."""
    trimmed = map(js_trim, queries)
    return tuple(dict.fromkeys(query for query in trimmed if query))
