"""The graph questions that edges and tags answer: connections, backlinks, shared tags, tags.

Owns which rows are read for each. The order of an answer is in ``app.graph``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from sqlalchemy import Connection

from app.db import links, note_graph
from app.domain.graph import (
    Backlink,
    ConnectedNote,
    Connections,
    NoteEdge,
    NoteStub,
    TaggedNote,
    TagSharer,
    Unresolved,
)
from app.domain.notes import TagCount
from app.errors import NoteNotFound
from app.graph import traverse
from app.graph.walk import BOTH, IN, OUT
from app.markdown import names


def connections(
    connection: Connection, note_id: int, hops: int, direction: str, limit: int
) -> Connections:
    """Return who is reached from a note within so many edges, one statement a hop.

    Raises:
        NoteNotFound: there is no such note.
    """
    edges = _walked(connection, note_id, hops, direction)
    stubs = _stubs(connection, note_id, edges)
    titles = _titles(stubs)
    rows = traverse.connections(note_id, (edge.pair for edge in edges), titles, hops, direction)
    distances = {note_id: 0} | {row.note_id: row.hops for row in rows}
    ways = _ways(edges, distances, direction)
    found = [
        ConnectedNote(stubs[row.note_id], row.hops, tuple(sorted(ways[row.note_id])))
        for row in rows[:limit]
    ]
    followed = [each for each, distance in distances.items() if distance < hops]
    missing = _unresolved(connection, followed) if direction != IN else ()
    return Connections(tuple(found), len(rows), missing)


def _walked(connection: Connection, note_id: int, hops: int, direction: str) -> frozenset[NoteEdge]:
    """Read the edges around a note, hop by hop."""
    seen, frontier = {note_id}, {note_id}
    edges: set[NoteEdge] = set()
    for _ in range(hops):
        found = note_graph.edges_of(connection, frontier, direction) if frontier else frozenset()
        edges |= found
        frontier = {end for edge in found for end in edge.pair} - seen
        seen |= frontier
    return frozenset(edges)


def _ways(
    edges: Iterable[NoteEdge], distances: Mapping[int, int], direction: str
) -> dict[int, list[NoteEdge]]:
    """Return the edges by which each note was reached: those from a note one hop nearer."""
    ways: defaultdict[int, list[NoteEdge]] = defaultdict(list)
    for edge in edges:
        source, target = edge.pair
        if source not in distances or target not in distances:
            continue
        if direction != IN and distances[target] == distances[source] + 1:
            ways[target].append(edge)
        if direction != OUT and distances[source] == distances[target] + 1:
            ways[source].append(edge)
    return ways


def _unresolved(connection: Connection, note_ids: Iterable[int]) -> tuple[Unresolved, ...]:
    """Return the names that links of notes give and no note has, in the order of the notes."""
    ordered = list(note_ids)
    missing = links.unresolved(connection, ordered)
    return tuple(
        Unresolved(note_id, name) for note_id in ordered for name in missing.get(note_id, ())
    )


def backlinks(connection: Connection, note_id: int) -> tuple[Backlink, ...]:
    """Return the notes with an edge to this one, by title, id.

    Raises:
        NoteNotFound: there is no such note.
    """
    edges = note_graph.edges_of(connection, [note_id], IN)
    stubs = _stubs(connection, note_id, edges)
    by_source: defaultdict[int, list[NoteEdge]] = defaultdict(list)
    for edge in sorted(edges):
        by_source[edge.source_note_id].append(edge)
    sources = traverse.backlinks(note_id, (edge.pair for edge in edges), _titles(stubs))
    return tuple(Backlink(stubs[each], tuple(by_source[each])) for each in sources)


def shared_tags(connection: Connection, note_id: int, minimum: int) -> tuple[TagSharer, ...]:
    """Return the notes that share at least so many tags with this one.

    Raises:
        NoteNotFound: there is no such note.
    """
    found = note_graph.tags_beside(connection, note_id)
    stubs = note_graph.stubs(connection, {note_id, *found})
    if note_id not in stubs:
        raise NoteNotFound
    rows = traverse.shared_tags(note_id, found, _titles(stubs), minimum)
    return tuple(TagSharer(stubs[row.note_id], row.names) for row in rows)


def linked_to(connection: Connection, note_id: int) -> frozenset[int]:
    """Return the direct neighbours of a note, in either direction; itself is none."""
    edges = note_graph.edges_of(connection, [note_id], BOTH)
    return frozenset(end for edge in edges for end in edge.pair) - {note_id}


def tagged(connection: Connection, tag: str, listed: Iterable[TagCount]) -> list[TaggedNote]:
    """Return the notes with exactly this tag, without case and its ``#``, by title, id.

    Args:
        listed: All tags.
    """
    wanted = names.tag(tag)
    matching = {each.id: each.name for each in listed if names.tag(each.name) == wanted}
    found = note_graph.notes_with_tags(connection, matching)
    stubs = note_graph.stubs(connection, found)
    return [
        TaggedNote(stubs[note_id], min(found[note_id]))
        for note_id in traverse.by_title(stubs, _titles(stubs))
    ]


def _stubs(connection: Connection, note_id: int, edges: Iterable[NoteEdge]) -> dict[int, NoteStub]:
    ends = {end for edge in edges for end in edge.pair}
    stubs = note_graph.stubs(connection, {note_id, *ends})
    if note_id not in stubs:
        raise NoteNotFound
    return stubs


def _titles(stubs: Mapping[int, NoteStub]) -> dict[int, str]:
    return {note_id: stub.title for note_id, stub in stubs.items()}
