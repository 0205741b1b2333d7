"""Edges between notes that share tags, few enough to be drawn.

Owns what makes such an edge and its weight.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from itertools import combinations
from typing import NamedTuple

MOST_SHARERS = 50
"""A tag of more notes joins nothing: it would draw every pair of them, and says little."""


class TagEdge(NamedTuple):
    """Two notes, the lower id first, and the share of their tags that both have, 0 to 1."""

    first: int
    second: int
    share: float


def tag_edges(tags: Mapping[int, Collection[str]]) -> list[TagEdge]:
    """Join the notes that share a tag, by their ids.

    Args:
        tags: The tags of each note.
    """
    sharers: defaultdict[str, list[int]] = defaultdict(list)
    for note_id in sorted(tags):
        for name in set(tags[note_id]):
            sharers[name].append(note_id)
    shared: Counter[tuple[int, int]] = Counter()
    for note_ids in sharers.values():
        if len(note_ids) <= MOST_SHARERS:
            shared.update(combinations(note_ids, 2))
    return [
        TagEdge(first, second, count / len({*tags[first], *tags[second]}))
        for (first, second), count in sorted(shared.items())
    ]
