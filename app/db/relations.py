"""Queries on typed relations between notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, or_, select

from app.db.idlist import in_ids
from app.db.models import conversations, note_relations, notes
from app.domain.evidence import Edge, NoteCard
from app.domain.relations import Relation, RelationDraft

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
    relation_id: int = connection.execute(
        insert(note_relations)
        .values(
            source_note_id=draft.source_note_id,
            target_note_id=draft.target_note_id,
            relation_type=draft.relation_type,
            confidence=draft.confidence,
            description=draft.description,
            created_by=draft.created_by,
            created_at=created_at,
        )
        .returning(note_relations.c.id)
    ).scalar_one()
    return relation_id


def add_many(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store relations; every row names the same columns."""
    if rows:
        connection.execute(insert(note_relations), list(rows))


def find(
    connection: Connection, source_note_id: int, target_note_id: int, relation_type: str
) -> int | None:
    """Return the id of the relation of this type between these notes."""
    columns = note_relations.c
    return connection.execute(
        select(columns.id).where(
            columns.source_note_id == source_note_id,
            columns.target_note_id == target_note_id,
            columns.relation_type == relation_type,
        )
    ).scalar()


def remove(connection: Connection, relation_id: int) -> bool:
    """Delete a relation; tell whether it was there."""
    result = connection.execute(delete(note_relations).where(note_relations.c.id == relation_id))
    return result.rowcount > 0


def edges_of(connection: Connection, note_ids: Iterable[int]) -> tuple[Edge, ...]:
    """Return the relations that touch one of these notes, by relation id, with both ends."""
    columns = note_relations.c
    ids = list(note_ids)
    ends = [
        column
        for note, conversation in (
            (_SOURCE, _SOURCE_CONVERSATION),
            (_TARGET, _TARGET_CONVERSATION),
        )
        for column in (
            note.c.id,
            note.c.title,
            note.c.embedding_status,
            conversation.c.id,
            conversation.c.project_name,
        )
    ]
    rows = connection.execute(
        select(columns.id, columns.relation_type, columns.confidence, *ends)
        .select_from(note_relations)
        .join(_SOURCE, _SOURCE.c.id == columns.source_note_id)
        .join(_TARGET, _TARGET.c.id == columns.target_note_id)
        .outerjoin(_SOURCE_CONVERSATION, _SOURCE_CONVERSATION.c.id == _SOURCE.c.conversation_id)
        .outerjoin(_TARGET_CONVERSATION, _TARGET_CONVERSATION.c.id == _TARGET.c.conversation_id)
        .where(or_(in_ids(columns.source_note_id, ids), in_ids(columns.target_note_id, ids)))
        .order_by(columns.id)
    )
    return tuple(
        Edge(row[0], row[1], row[2], NoteCard(*row[3:8]), NoteCard(*row[8:13])) for row in rows
    )
