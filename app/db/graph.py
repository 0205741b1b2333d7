"""Queries on the graph of fragments: the relations that touch some of them.

Owns how tables become relations. The number of statements is always the same, and what they cost
follows what is asked for, not the size of the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    Subquery,
    and_,
    func,
    literal,
    or_,
    select,
)

from app.db.idlist import in_ids
from app.db.models import (
    chunk_entities,
    embeddings,
    entities,
    note_entities,
    note_links,
    note_relations,
)
from app.domain.chunks import KIND_CHUNK
from app.domain.fragments import (
    CONTAINS,
    LEAST_CONFIDENCE,
    LINKS_TO,
    MENTIONS,
    ROOT,
    Fragment,
    FragmentRelation,
    GraphSlice,
    chunk,
    entity,
    root,
)

STATEMENTS = 5
"""So many statements answer a call, whatever it asks for."""

_BEYOND = 2**31 - 1
"""No id is greater."""

_CHUNK = (embeddings.c.note_id, embeddings.c.id)

Relation = FragmentRelation[Fragment]


@dataclass(frozen=True, slots=True)
class _Asked:
    """Ids of fragments by kind; of chunks only those in the space count.

    ``limit`` bounds the rows of each statement, ``degree`` those of an entity; ``is_inner`` asks
    for relations with both ends among the fragments.
    """

    space_id: int | None
    roots: tuple[int, ...]
    chunks: tuple[int, ...]
    entities: tuple[int, ...]
    limit: int
    degree: int
    is_inner: bool

    def between(self, source: Column[Any], target: Column[Any]) -> ColumnElement[bool]:
        """Return the condition that relations between roots touch some, or join two of them."""
        if self.is_inner:
            # The sum keeps the planner from looking every source up with every target.
            return and_(in_ids(source, self.roots), in_ids(target + 0, self.roots))
        return or_(in_ids(source, self.roots), in_ids(target, self.roots))


def relations_of(
    connection: Connection,
    space_id: int | None,
    fragments: Iterable[Fragment],
    *,
    limit: int,
    entity_degree: int,
    is_inner: bool = False,
) -> GraphSlice:
    """Return relations that touch some fragments, or join two of them, each once.

    Args:
        space_id: The space whose chunks count.
        limit: So many of each kind come at most, the first by source, then target.
        entity_degree: So many roots, and so many chunks, come at most that mention one of the
            entities and are not among the fragments themselves: the first by id.
        is_inner: Whether both ends must be among the fragments.
    """
    ids: tuple[list[int], list[int], list[int]] = ([], [], [])
    for fragment in fragments:
        ids[fragment.kind].append(fragment.id)
    roots, chunks, entity_ids = (tuple(each) for each in ids)
    asked = _Asked(space_id, roots, chunks, entity_ids, limit, entity_degree, is_inner)
    notes: dict[Fragment, int] = {}
    found = dict.fromkeys(
        [
            *_contained(connection, asked, notes),
            *_mentioned(connection, asked, notes),
            *_mentioning(connection, asked, notes),
            *_linked(connection, asked),
            *_typed(connection, asked),
        ]
    )
    ends = {end for each in found for end in (each.source, each.target)}
    return GraphSlice(tuple(found), notes | {end: end.id for end in ends if end.name == ROOT})


def _contained(
    connection: Connection, asked: _Asked, notes: dict[Fragment, int]
) -> Iterator[Relation]:
    columns = embeddings.c
    of_roots = select(*_CHUNK).where(
        in_ids(columns.note_id, asked.roots),
        columns.space_id == asked.space_id,
        columns.kind == KIND_CHUNK,
    )
    of_chunks = select(*_CHUNK).where(in_ids(columns.id, asked.chunks), columns.kind == KIND_CHUNK)
    join = of_roots.intersect if asked.is_inner else of_roots.union
    for note_id, chunk_id in connection.execute(_first(join(of_chunks).subquery(), asked.limit)):
        notes[chunk(chunk_id)] = note_id
        yield FragmentRelation(root(note_id), CONTAINS, chunk(chunk_id))


def _mentioned(
    connection: Connection, asked: _Asked, notes: dict[Fragment, int]
) -> Iterator[Relation]:
    """Yield what roots and chunks mention."""
    by_root, by_chunk = note_entities.c, chunk_entities.c
    of_roots = select(by_root.note_id, literal(0).label("chunk_id"), by_root.entity_id).where(
        in_ids(by_root.note_id, asked.roots)
    )
    of_chunks = (
        select(embeddings.c.note_id, by_chunk.chunk_id, by_chunk.entity_id)
        .join(embeddings, embeddings.c.id == by_chunk.chunk_id)
        .where(in_ids(by_chunk.chunk_id, asked.chunks))
    )
    if asked.is_inner:
        # Here as well, of every fragment with every entity.
        of_roots = of_roots.where(in_ids(by_root.entity_id + 0, asked.entities))
        of_chunks = of_chunks.where(in_ids(by_chunk.entity_id + 0, asked.entities))
    both = of_roots.union_all(of_chunks).subquery()
    return _mentions(connection, both, asked.limit, notes)


def _mentioning(
    connection: Connection, asked: _Asked, notes: dict[Fragment, int]
) -> Iterator[Relation]:
    """Yield who mentions entities: of each the first roots, and the first chunks, by id."""
    by_root, by_chunk = note_entities.c, chunk_entities.c
    # Nobody beside the fragments is asked for; what they mention is known by then.
    entity_ids = () if asked.is_inner else asked.entities
    last_root = _last(by_root.note_id, by_root.entity_id == entities.c.id, asked.degree)
    last_chunk = _last(
        by_chunk.chunk_id,
        and_(by_chunk.entity_id == entities.c.id, by_chunk.space_id == asked.space_id),
        asked.degree,
    )
    wanted = (
        select(entities.c.id, last_root.label("last_root"), last_chunk.label("last_chunk"))
        .where(in_ids(entities.c.id, entity_ids))
        .cte()
        # Else the last ids would be looked for again at every row.
        .prefix_with("MATERIALIZED")
    )
    of_roots = select(by_root.note_id, literal(0).label("chunk_id"), by_root.entity_id).join(
        wanted, and_(by_root.entity_id == wanted.c.id, by_root.note_id <= wanted.c.last_root)
    )
    of_chunks = (
        select(embeddings.c.note_id, by_chunk.chunk_id, by_chunk.entity_id)
        .join(
            wanted,
            and_(
                by_chunk.entity_id == wanted.c.id,
                by_chunk.space_id == asked.space_id,
                by_chunk.chunk_id <= wanted.c.last_chunk,
            ),
        )
        .join(embeddings, embeddings.c.id == by_chunk.chunk_id)
    )
    both = of_roots.union_all(of_chunks).subquery()
    return _mentions(connection, both, asked.limit, notes)


def _last(column: Column[Any], condition: ColumnElement[bool], degree: int) -> ColumnElement[int]:
    """Return the id up to which ``degree`` rows go, which an index finds by walking so far."""
    found = select(column).where(condition).order_by(column).offset(degree - 1).limit(1)
    return func.coalesce(found.correlate(entities).scalar_subquery(), _BEYOND)


def _mentions(
    connection: Connection, rows: Subquery, limit: int, notes: dict[Fragment, int]
) -> Iterator[Relation]:
    """Yield relations of rows of note, chunk (0 for the root) and entity; roots come first."""
    columns = rows.c
    order = (columns.chunk_id > 0, columns.chunk_id, columns.note_id, columns.entity_id)
    statement = select(rows).order_by(*order).limit(limit)
    for note_id, chunk_id, entity_id in connection.execute(statement):
        source = chunk(chunk_id) if chunk_id else root(note_id)
        notes[source] = note_id
        yield FragmentRelation(source, MENTIONS, entity(entity_id))


def _linked(connection: Connection, asked: _Asked) -> Iterator[Relation]:
    columns = note_links.c
    pairs = select(columns.source_note_id, columns.target_note_id).where(
        asked.between(columns.source_note_id, columns.target_note_id),
        columns.target_note_id.is_not(None),
    )
    for source_id, target_id in connection.execute(
        _first(pairs.distinct().subquery(), asked.limit)
    ):
        yield FragmentRelation(root(source_id), LINKS_TO, root(target_id))


def _typed(connection: Connection, asked: _Asked) -> Iterator[Relation]:
    columns = note_relations.c
    ends = (columns.source_note_id, columns.target_note_id)
    statement = (
        select(*ends, columns.relation_type, columns.confidence)
        .where(asked.between(*ends), columns.confidence >= LEAST_CONFIDENCE)
        .order_by(*ends, columns.relation_type)
        .limit(asked.limit)
    )
    for source_id, target_id, kind, confidence in connection.execute(statement):
        yield FragmentRelation(root(source_id), kind, root(target_id), confidence)


def _first(rows: Subquery, limit: int) -> Select[Any]:
    return select(rows).order_by(*rows.c).limit(limit)
