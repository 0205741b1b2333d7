"""Queries on entities: the tags, files touched and error signatures that notes mention."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, delete, insert, or_, select

from app.db.columns import write_json
from app.db.idlist import bound, in_bound_ids, in_ids
from app.db.models import (
    chunk_entities,
    conversations,
    embeddings,
    entities,
    note_entities,
    note_tags,
    notes,
)
from app.domain.chunks import KIND_CHUNK, KIND_ENTITY
from app.domain.fragments import Entity

Key = tuple[str, str]
"""Kind and name: what an entity is told apart by."""

_NOTHING = (write_json([]), "null", "")


class ChunkText(NamedTuple):
    """A chunk row that may mention something."""

    chunk_id: int
    note_id: int
    space_id: int
    text: str


def ids(connection: Connection, keys: Iterable[Key]) -> dict[Key, int]:
    """Return the ids of entities; unknown ones are absent."""
    by_kind: defaultdict[str, list[str]] = defaultdict(list)
    for kind, name in sorted(set(keys)):
        by_kind[kind].append(name)
    columns = entities.c
    return {
        (kind, row[0]): row[1]
        for kind, names in by_kind.items()
        for row in connection.execute(
            select(columns.name, columns.id).where(columns.kind == kind, columns.name.in_(names))
        )
    }


def add(connection: Connection, keys: Sequence[Key]) -> dict[Key, int]:
    """Store new entities; return their ids."""
    if not keys:
        return {}
    statement = insert(entities).returning(entities.c.id, entities.c.kind, entities.c.name)
    rows = [{"kind": kind, "name": name} for kind, name in keys]
    return {(kind, name): id_ for id_, kind, name in sorted(connection.execute(statement, rows))}


def named(connection: Connection, entity_ids: Iterable[int]) -> dict[int, Entity]:
    """Return the entities of these ids that exist."""
    rows = connection.execute(select(entities).where(in_ids(entities.c.id, entity_ids)))
    return {row.id: Entity(row.id, row.kind, row.name) for row in rows}


_ANY_CHUNK = (
    select(embeddings.c.id, embeddings.c.note_id, embeddings.c.space_id, embeddings.c.chunk_text)
    .where(embeddings.c.kind == KIND_CHUNK)
    .order_by(embeddings.c.id)
)
_CHUNKS = _ANY_CHUNK.where(in_bound_ids(embeddings.c.id))
_CHUNKS_OF_NOTES = _ANY_CHUNK.where(in_bound_ids(embeddings.c.note_id))
_OF_NOTES = (
    select(note_entities.c.note_id, entities.c.id, entities.c.kind, entities.c.name)
    .join(entities, entities.c.id == note_entities.c.entity_id)
    .where(in_bound_ids(note_entities.c.note_id))
    .order_by(note_entities.c.note_id, entities.c.id)
)


def of_notes(connection: Connection, note_ids: Iterable[int]) -> dict[int, dict[int, Entity]]:
    """Return the entities that each note has, by their ids; notes without any are absent."""
    ids_ = list(note_ids)
    found: defaultdict[int, dict[int, Entity]] = defaultdict(dict)
    for note_id, *entity in connection.execute(_OF_NOTES, bound(ids_)) if ids_ else ():
        found[note_id][entity[0]] = Entity(*entity)
    return dict(found)


def forget_of_notes(connection: Connection, note_ids: Collection[int]) -> None:
    """Take all entities from notes."""
    if note_ids:
        connection.execute(delete(note_entities).where(in_ids(note_entities.c.note_id, note_ids)))


def give_notes(connection: Connection, wanted: dict[int, set[int]]) -> None:
    """Give notes that have none their entities."""
    rows = [
        {"note_id": note_id, "entity_id": entity_id}
        for note_id, entity_ids in sorted(wanted.items())
        for entity_id in sorted(entity_ids)
    ]
    if rows:
        connection.execute(insert(note_entities), rows)


def chunks_of_notes(connection: Connection, note_ids: Iterable[int]) -> list[ChunkText]:
    """Return the chunks of notes in every space, by id."""
    return _chunks(connection, _CHUNKS_OF_NOTES, note_ids)


def chunks(connection: Connection, chunk_ids: Iterable[int]) -> list[ChunkText]:
    """Return the chunks of these ids, by id."""
    return _chunks(connection, _CHUNKS, chunk_ids)


def _chunks(
    connection: Connection, statement: Select[Any], wanted: Iterable[int]
) -> list[ChunkText]:
    ids_ = list(wanted)
    return [ChunkText(*row) for row in connection.execute(statement, bound(ids_))] if ids_ else []


def forget_of_chunks(connection: Connection, chunk_ids: Collection[int]) -> None:
    """Let chunks mention nothing."""
    if chunk_ids:
        is_meant = in_ids(chunk_entities.c.chunk_id, chunk_ids)
        connection.execute(delete(chunk_entities).where(is_meant))


def give_chunks(connection: Connection, wanted: dict[ChunkText, set[int]]) -> None:
    """Let chunks that mention nothing mention these entities."""
    rows = [
        {"chunk_id": chunk.chunk_id, "entity_id": entity_id, "space_id": chunk.space_id}
        for chunk, entity_ids in sorted(wanted.items())
        for entity_id in sorted(entity_ids)
    ]
    if rows:
        connection.execute(insert(chunk_entities), rows)


def forsaken(connection: Connection, entity_ids: Iterable[int]) -> tuple[int, ...]:
    """Return which of these entities no note has any more, by id."""
    ids = list(entity_ids)
    if not ids:
        return ()
    is_had = select(note_entities.c.note_id).where(note_entities.c.entity_id == entities.c.id)
    rows = connection.execute(
        select(entities.c.id)
        .where(in_ids(entities.c.id, ids), ~is_had.exists())
        .order_by(entities.c.id)
    )
    return tuple(rows.scalars())


def all_forsaken(connection: Connection) -> tuple[int, ...]:
    """Return every entity that no note has, by id."""
    is_had = select(note_entities.c.note_id).where(note_entities.c.entity_id == entities.c.id)
    rows = connection.execute(select(entities.c.id).where(~is_had.exists()).order_by(entities.c.id))
    return tuple(rows.scalars())


def notes_without(connection: Connection) -> tuple[int, ...]:
    """Return the notes that have tags, files or errors but no entity, by id."""
    columns = notes.c
    has_entity = select(note_entities.c.note_id).where(note_entities.c.note_id == columns.id)
    has_tag = select(note_tags.c.note_id).where(note_tags.c.note_id == columns.id)
    listed = (columns.files_touched, columns.error_signatures)
    has_listed = [column.is_not(None) & column.not_in(_NOTHING) for column in listed]
    rows = connection.execute(
        select(columns.id)
        .join(conversations, conversations.c.id == columns.conversation_id)
        .where(~has_entity.exists(), or_(has_tag.exists(), *has_listed))
        .order_by(columns.id)
    )
    return tuple(rows.scalars())


def remove(connection: Connection, entity_ids: Iterable[int]) -> tuple[tuple[int, int, str], ...]:
    """Delete entities with their vectors; return (id, space, kind) of each vector."""
    listed = list(entity_ids)
    columns = embeddings.c
    found = connection.execute(
        delete(embeddings)
        .where(in_ids(columns.entity_id, listed))
        .returning(columns.id, columns.space_id, columns.kind)
    )
    removed = tuple(sorted((row[0], row[1], row[2]) for row in found))
    connection.execute(delete(entities).where(in_ids(entities.c.id, listed)))
    return removed


def remove_vectors(connection: Connection, space_id: int) -> tuple[tuple[int, int, str], ...]:
    """Delete the vectors of all entities in a space; return (id, space, kind) of each."""
    columns = embeddings.c
    found = connection.execute(
        delete(embeddings)
        .where(columns.space_id == space_id, columns.kind == KIND_ENTITY)
        .returning(columns.id, columns.space_id, columns.kind)
    )
    return tuple(sorted((row[0], row[1], row[2]) for row in found))


def remove_some_vectors(
    connection: Connection, vector_ids: Iterable[int]
) -> tuple[tuple[int, int, str], ...]:
    """Delete those of some vectors that are of entities; return (id, space, kind) of each."""
    columns = embeddings.c
    found = connection.execute(
        delete(embeddings)
        .where(in_ids(columns.id, vector_ids), columns.entity_id.is_not(None))
        .returning(columns.id, columns.space_id, columns.kind)
    )
    return tuple(sorted((row[0], row[1], row[2]) for row in found))


def lacking(
    connection: Connection, space_id: int, entity_ids: Iterable[int] | None = None
) -> tuple[int, ...]:
    """Return the entities, maybe of some, that have no vector in a space, by id."""
    has_vector = (
        select(embeddings.c.id)
        .where(embeddings.c.entity_id == entities.c.id, embeddings.c.space_id == space_id)
        .exists()
    )
    statement = select(entities.c.id).where(~has_vector).order_by(entities.c.id)
    if entity_ids is not None:
        statement = statement.where(in_ids(entities.c.id, entity_ids))
    return tuple(connection.execute(statement).scalars())


def of_vectors(connection: Connection, chunk_ids: Iterable[int]) -> dict[int, int]:
    """Return the entity of each of these vectors that is one's."""
    columns = embeddings.c
    rows = connection.execute(
        select(columns.id, columns.entity_id).where(
            in_ids(columns.id, chunk_ids), columns.kind == KIND_ENTITY
        )
    )
    return {row[0]: row[1] for row in rows}
