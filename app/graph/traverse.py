"""The graph questions of a note (notebrain.md): connections, backlinks, shared tags.

Owns what counts and in which order rows stand. Must not rank by meaning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from app.graph.walk import OUT, Pair, distances


class Reached(NamedTuple):
    """A note at its shortest distance from the seed."""

    note_id: int
    hops: int


class TagSharer(NamedTuple):
    """A note and the tags that it shares, by name."""

    note_id: int
    names: tuple[str, ...]


def by_title(note_ids: Iterable[int], titles: Mapping[int, str]) -> list[int]:
    """Order notes by title, code point by code point, then id."""
    return sorted(note_ids, key=lambda note_id: (titles[note_id], note_id))


def connections(
    seed: int, edges: Iterable[Pair], titles: Mapping[int, str], hops: int, direction: str = OUT
) -> list[Reached]:
    """Walk breadth-first and return who is reached, each once, by hops, title, id.

    Edges whose ends have no title are not walked: ``titles`` knows every note that exists.
    """
    known = [(source, target) for source, target in edges if source in titles and target in titles]
    found = distances(known, seed, hops, direction)
    rows = [Reached(note_id, distance) for note_id, distance in found.items()]
    return sorted(rows, key=lambda row: (row.hops, titles[row.note_id], row.note_id))


def backlinks(seed: int, edges: Iterable[Pair], titles: Mapping[int, str]) -> list[int]:
    """Return the notes with an edge to the seed, by title, id; one to itself counts."""
    sources = {source for source, target in edges if target == seed and source in titles}
    return by_title(sources, titles)


def shared_tags(
    seed: int,
    tags: Mapping[int, Iterable[str]],
    titles: Mapping[int, str],
    minimum: int = 1,
) -> list[TagSharer]:
    """Return the notes with at least ``minimum`` tags of the seed, most first, then title, id.

    ``minimum`` below 1 counts as 1.
    """
    wanted = frozenset(tags.get(seed, ()))
    rows = [
        TagSharer(note_id, tuple(sorted(wanted.intersection(names))))
        for note_id, names in tags.items()
        if note_id != seed and note_id in titles
    ]
    enough = [row for row in rows if len(row.names) >= max(1, minimum)]
    return sorted(enough, key=lambda row: (-len(row.names), titles[row.note_id], row.note_id))
