"""Queries for finding related notes: who mentions what, and which relations are there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from app.db import relations
from app.db.columns import now
from app.db.entities import of_notes
from app.db.idlist import in_ids
from app.db.models import (
    conversations,
    entities,
    note_entities,
    note_relations,
    notes,
    notes_to_relate,
)
from app.distill.relating import Card
from app.domain.fragments import ERROR, FILE, TAG
from app.domain.relations import RelationDraft


def cards(connection: Connection, note_ids: Iterable[int]) -> dict[int, Card]:
    """Return what the rules read of notes that exist, by id."""
    ids = list(note_ids)
    mentioned = of_notes(connection, ids)
    rows = connection.execute(
        select(notes.c.id, conversations.c.project_name, notes.c.created_at, notes.c.outcome_type)
        .join(conversations, conversations.c.id == notes.c.conversation_id)
        .where(in_ids(notes.c.id, ids))
    )
    found = {}
    for row in rows:
        named = mentioned.get(row[0], {}).values()
        names = {
            kind: frozenset(each.name for each in named if each.kind == kind)
            for kind in (TAG, FILE, ERROR)
        }
        found[row[0]] = Card(*row, tags=names[TAG], files=names[FILE], errors=names[ERROR])
    return found


def mention_counts(connection: Connection, note_ids: Iterable[int]) -> dict[int, int]:
    """Return by how many notes each entity that these notes have is had."""
    had = select(note_entities.c.entity_id).where(in_ids(note_entities.c.note_id, note_ids))
    rows = connection.execute(
        select(note_entities.c.entity_id, func.count())
        .where(note_entities.c.entity_id.in_(had))
        .group_by(note_entities.c.entity_id)
    )
    return {row[0]: row[1] for row in rows}


def names_of(connection: Connection, entity_ids: Iterable[int]) -> dict[int, str]:
    """Return the names of entities."""
    rows = connection.execute(
        select(entities.c.id, entities.c.name).where(in_ids(entities.c.id, entity_ids))
    )
    return {row[0]: row[1] for row in rows}


def notes_with(connection: Connection, entity_ids: Iterable[int]) -> dict[int, set[int]]:
    """Return the notes that have each of these entities."""
    rows = connection.execute(
        select(note_entities.c.entity_id, note_entities.c.note_id).where(
            in_ids(note_entities.c.entity_id, entity_ids)
        )
    )
    found: defaultdict[int, set[int]] = defaultdict(set)
    for entity_id, note_id in rows:
        found[entity_id].add(note_id)
    return found


def touching(connection: Connection, note_ids: Iterable[int]) -> dict[int, RelationDraft]:
    """Return the relations that touch notes, by id."""
    columns = note_relations.c
    ids = list(note_ids)
    rows = connection.execute(
        select(
            columns.id,
            columns.source_note_id,
            columns.target_note_id,
            columns.relation_type,
            columns.confidence,
            columns.description,
            columns.created_by,
        ).where(or_(in_ids(columns.source_note_id, ids), in_ids(columns.target_note_id, ids)))
    )
    return {row[0]: RelationDraft(*row[1:]) for row in rows}


def add(connection: Connection, drafts: Sequence[RelationDraft]) -> None:
    """Store relations."""
    moment = now()
    relations.add_many(connection, [relations.row_of(draft, moment) for draft in drafts])


def retell(connection: Connection, relation_id: int, draft: RelationDraft) -> None:
    """Give a relation another confidence and description."""
    connection.execute(
        update(note_relations)
        .where(note_relations.c.id == relation_id)
        .values(confidence=draft.confidence, description=draft.description)
    )


def remove(connection: Connection, relation_ids: Iterable[int]) -> None:
    """Delete relations."""
    connection.execute(delete(note_relations).where(in_ids(note_relations.c.id, relation_ids)))


def await_relations(connection: Connection, note_id: int) -> None:
    """Remember that the relations of a note are to be found; once is enough."""
    known = select(notes_to_relate.c.note_id).where(notes_to_relate.c.note_id == note_id)
    if connection.execute(known).first() is None:
        connection.execute(insert(notes_to_relate).values(note_id=note_id))


def awaiting(connection: Connection) -> tuple[int, ...]:
    """Return the notes whose relations are to be found, by id."""
    return tuple(
        connection.execute(select(notes_to_relate.c.note_id).order_by("note_id")).scalars()
    )


def settled(connection: Connection, note_ids: Iterable[int]) -> None:
    """Forget that the relations of notes were to be found."""
    connection.execute(delete(notes_to_relate).where(in_ids(notes_to_relate.c.note_id, note_ids)))


def all_titles(connection: Connection) -> dict[int, str]:
    """Return id and title of every note that has a conversation, by id."""
    rows = connection.execute(
        select(notes.c.id, notes.c.title)
        .join(conversations, conversations.c.id == notes.c.conversation_id)
        .order_by(notes.c.id)
    )
    return {row[0]: row[1] for row in rows}
