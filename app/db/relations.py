"""Queries on typed relations between notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, or_, select

from app.db.idlist import bound, in_bound_ids, in_ids
from app.db.models import conversations, note_relations, notes
from app.db.notes import tags_of
from app.db.standing import searched_status
from app.domain.evidence import Edge, NoteCard
from app.domain.relations import GraphEdge, GraphNode, Relation, RelationDraft, RelationGraph

_SOURCE = notes.alias("source_note")
_TARGET = notes.alias("target_note")
_SOURCE_CONVERSATION = conversations.alias("source_conversation")
_TARGET_CONVERSATION = conversations.alias("target_conversation")
_RELATION = select(
    *note_relations.c,
    _SOURCE.c.title.label("source_title"),
    _TARGET.c.title.label("target_title"),
).select_from(
    note_relations.join(_SOURCE, _SOURCE.c.id == note_relations.c.source_note_id).join(
        _TARGET, _TARGET.c.id == note_relations.c.target_note_id
    )
)

_EDGES = (
    select(
        note_relations.c.id,
        note_relations.c.relation_type,
        note_relations.c.confidence,
        _SOURCE.c.id,
        _SOURCE.c.title,
        searched_status(_SOURCE),
        _SOURCE_CONVERSATION.c.id,
        _TARGET.c.id,
        _TARGET.c.title,
        searched_status(_TARGET),
        _TARGET_CONVERSATION.c.id,
    )
    .select_from(note_relations)
    .join(_SOURCE, _SOURCE.c.id == note_relations.c.source_note_id)
    .join(_TARGET, _TARGET.c.id == note_relations.c.target_note_id)
    .outerjoin(_SOURCE_CONVERSATION, _SOURCE_CONVERSATION.c.id == _SOURCE.c.conversation_id)
    .outerjoin(_TARGET_CONVERSATION, _TARGET_CONVERSATION.c.id == _TARGET.c.conversation_id)
    .where(
        or_(
            in_bound_ids(note_relations.c.source_note_id),
            in_bound_ids(note_relations.c.target_note_id),
        )
    )
    .order_by(note_relations.c.id)
)


_ADD = insert(note_relations).returning(note_relations.c.id)
_FIND = select(note_relations.c.id).where(
    note_relations.c.source_note_id == bindparam("source"),
    note_relations.c.target_note_id == bindparam("target"),
    note_relations.c.relation_type == bindparam("type"),
)


def _relation(row: Any) -> Relation:
    return Relation(*row)


def of_note(connection: Connection, note_id: int) -> tuple[Relation, ...]:
    """Return a note's relations, surest first; among equals those that leave it come first."""
    columns = note_relations.c
    rows = connection.execute(
        _RELATION.where(
            or_(columns.source_note_id == note_id, columns.target_note_id == note_id)
        ).order_by(columns.id)
    )
    relations = [_relation(row) for row in rows]
    return tuple(sorted(relations, key=lambda relation: _listing_order(relation, note_id)))


def _listing_order(relation: Relation, note_id: int) -> tuple[bool, float, bool, int]:
    confidence = relation.confidence
    return (
        confidence is None,
        -(confidence or 0.0),
        relation.source_note_id != note_id,
        relation.id,
    )


def get(connection: Connection, relation_id: int) -> Relation | None:
    """Return one relation."""
    row = connection.execute(_RELATION.where(note_relations.c.id == relation_id)).one_or_none()
    return _relation(row) if row else None


def add(connection: Connection, draft: RelationDraft, created_at: str) -> int:
    """Store a relation and return its id."""
    relation_id: int = connection.execute(_ADD, row_of(draft, created_at)).scalar_one()
    return relation_id


def row_of(draft: RelationDraft, created_at: str) -> dict[str, Any]:
    """Return the columns of a relation to be made."""
    return {**asdict(draft), "created_at": created_at}


def add_many(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store relations; every row names the same columns."""
    if rows:
        connection.execute(insert(note_relations), list(rows))


def find(
    connection: Connection, source_note_id: int, target_note_id: int, relation_type: str
) -> int | None:
    """Return the id of the relation of this type between these notes."""
    ends = {"source": source_note_id, "target": target_note_id, "type": relation_type}
    return connection.execute(_FIND, ends).scalar()


def remove(connection: Connection, relation_id: int) -> bool:
    """Delete a relation; tell whether it was there."""
    result = connection.execute(delete(note_relations).where(note_relations.c.id == relation_id))
    return result.rowcount > 0


def edges_of(connection: Connection, note_ids: Iterable[int]) -> tuple[Edge, ...]:
    """Return the relations that touch one of these notes, by relation id, with both ends."""
    rows = connection.execute(_EDGES, bound(note_ids)).all()
    return tuple(
        Edge(row[0], row[1], row[2], NoteCard(*row[3:7]), NoteCard(*row[7:11])) for row in rows
    )


def graph(connection: Connection, project: str | None) -> RelationGraph:
    """Return the notes, all or of one project, and the relations with both ends among them."""
    nodes = (
        select(notes.c.id, notes.c.title, conversations.c.project_name)
        .join(conversations, conversations.c.id == notes.c.conversation_id)
        .order_by(notes.c.id)
    )
    columns = note_relations.c
    edges = (
        select(
            columns.source_note_id,
            columns.target_note_id,
            columns.relation_type,
            func.coalesce(columns.confidence, 0.0),
        )
        .select_from(note_relations)
        .join(_SOURCE, _SOURCE.c.id == columns.source_note_id)
        .join(_TARGET, _TARGET.c.id == columns.target_note_id)
        .join(_SOURCE_CONVERSATION, _SOURCE_CONVERSATION.c.id == _SOURCE.c.conversation_id)
        .join(_TARGET_CONVERSATION, _TARGET_CONVERSATION.c.id == _TARGET.c.conversation_id)
        .order_by(columns.id)
    )
    if project is not None:
        nodes = nodes.where(conversations.c.project_name == project)
        edges = edges.where(
            _SOURCE_CONVERSATION.c.project_name == project,
            _TARGET_CONVERSATION.c.project_name == project,
        )
    found = connection.execute(nodes).all()
    tags = tags_of(connection, [row.id for row in found])
    return RelationGraph(
        tuple(GraphNode(*row, tags.get(row.id, ())) for row in found),
        tuple(GraphEdge(*row) for row in connection.execute(edges)),
    )


def triples_from(
    connection: Connection, source_note_ids: Iterable[int]
) -> set[tuple[int, int, str]]:
    """Return source, target and type of every relation that leaves one of these notes."""
    columns = note_relations.c
    rows = connection.execute(
        select(columns.source_note_id, columns.target_note_id, columns.relation_type).where(
            in_ids(columns.source_note_id, source_note_ids)
        )
    )
    return {(row[0], row[1], row[2]) for row in rows}
