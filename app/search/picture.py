"""The picture of all notes: relations, and on demand links, shared tags, and where each lies.

Owns what is drawn. The forces of the layout are in ``app.graph.layout``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from sqlalchemy import Connection

from app.db import note_graph, relations
from app.domain.graph import LINK_CONFIDENCE, TYPE_LINK, TYPE_TAG
from app.domain.relations import GraphEdge, RelationGraph
from app.graph.common_tags import tag_edges
from app.graph.layout import layout

LINKS = "links"
TAGS = "tags"
INCLUDABLE = (LINKS, TAGS)

Places = dict[int, tuple[float, float]]


def picture(connection: Connection, project: str | None, include: Collection[str]) -> RelationGraph:
    """Return the notes, all or of one project, and what joins them.

    Relations stand first, by id, then links and shared tags, each pair of notes once, by ids.
    """
    found = relations.graph(connection, project)
    edges = list(found.edges)
    if LINKS in include:
        edges += _links(connection, found)
    if TAGS in include:
        edges += _shared_tags(found)
    return replace(found, edges=tuple(edges))


def _links(connection: Connection, found: RelationGraph) -> Iterator[GraphEdge]:
    shown = {node.id for node in found.nodes}
    for source, target in sorted(note_graph.link_pairs(connection)):
        if source in shown and target in shown:
            yield GraphEdge(source, target, TYPE_LINK, LINK_CONFIDENCE)


def _shared_tags(found: RelationGraph) -> Iterator[GraphEdge]:
    for edge in tag_edges({node.id: node.tags for node in found.nodes}):
        yield GraphEdge(edge.first, edge.second, TYPE_TAG, edge.share)


def places_in(found: RelationGraph) -> Places:
    """Return x and y of each note, from -1 to 1.

    Notes are laid out in the order of their titles, so that ids play no part unless titles agree.
    """
    ordered = sorted(found.nodes, key=lambda node: (node.title, node.project_name, node.id))
    number = {node.id: place for place, node in enumerate(ordered)}
    pairs = [(number[edge.source], number[edge.target]) for edge in found.edges]
    return dict(zip(number, layout(len(number), pairs), strict=True))
