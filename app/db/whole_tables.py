"""Whole tables as streams of rows, for exports: in the order of their ids, whatever their size.

Owns the statements that walk a table from end to end. A row is its columns by name, JSON columns
as the text that is stored. Nothing is sorted that an index does not hold sorted already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, Select, func, select

from app.db import streaming
from app.db.idlist import in_ids
from app.db.models import (
    conversations,
    embeddings,
    messages,
    note_links,
    note_relations,
    note_tags,
    notes,
    tags,
)
from app.db.notes import tags_of
from app.domain.chunks import KIND_CHUNK

BATCH = 500
"""Rows held at a time."""

Row = Mapping[str, Any]

_SOURCE = notes.alias("source_note")
_TARGET = notes.alias("target_note")

_TAGS = select(tags).order_by(tags.c.id)
_NOTE_TAGS = select(note_tags).order_by(note_tags.c.note_id, note_tags.c.tag_id)
_CONVERSATIONS = select(conversations).order_by(conversations.c.id)
_MESSAGES = (
    select(messages, conversations.c.external_id.label("conversation_external_id"))
    .join(conversations, conversations.c.id == messages.c.conversation_id)
    .order_by(messages.c.conversation_id, messages.c.sort_order, messages.c.id)
)
_NOTES = (
    select(
        notes,
        conversations.c.external_id.label("conversation_external_id"),
        conversations.c.source,
        conversations.c.project_name,
    )
    .join(conversations, conversations.c.id == notes.c.conversation_id)
    .order_by(notes.c.id)
)
_RELATIONS = (
    select(
        note_relations,
        _SOURCE.c.external_id.label("source_external_id"),
        _SOURCE.c.conversation_id.label("source_conversation_id"),
        _TARGET.c.external_id.label("target_external_id"),
        _TARGET.c.conversation_id.label("target_conversation_id"),
    )
    .join(_SOURCE, _SOURCE.c.id == note_relations.c.source_note_id)
    .join(_TARGET, _TARGET.c.id == note_relations.c.target_note_id)
    .order_by(note_relations.c.id)
)
_LINKS = (
    select(
        note_links,
        _SOURCE.c.external_id.label("source_external_id"),
        _SOURCE.c.conversation_id.label("source_conversation_id"),
        _TARGET.c.external_id.label("target_external_id"),
        _TARGET.c.conversation_id.label("target_conversation_id"),
    )
    .join(_SOURCE, _SOURCE.c.id == note_links.c.source_note_id)
    .outerjoin(_TARGET, _TARGET.c.id == note_links.c.target_note_id)
    .order_by(note_links.c.source_note_id, note_links.c.position, note_links.c.id)
)
_CHUNKS = (
    select(
        embeddings.c.id,
        embeddings.c.note_id,
        embeddings.c.chunk_index,
        embeddings.c.chunk_text,
        embeddings.c.content_hash,
        embeddings.c.vectra_id,
        embeddings.c.created_at,
        notes.c.title,
        notes.c.conversation_id,
        conversations.c.project_name,
    )
    .join(notes, notes.c.id == embeddings.c.note_id)
    .join(conversations, conversations.c.id == notes.c.conversation_id)
    .order_by(embeddings.c.id)
)


def _stream(connection: Connection, statement: Select[Any]) -> Iterator[Row]:
    for row in streaming.rows(connection, statement, BATCH):
        yield row._asdict()


def all_tags(connection: Connection) -> Iterator[Row]:
    """Yield every tag, those of no note included."""
    return _stream(connection, _TAGS)


def all_note_tags(connection: Connection) -> Iterator[Row]:
    """Yield which note has which tag."""
    return _stream(connection, _NOTE_TAGS)


def all_conversations(connection: Connection) -> Iterator[Row]:
    """Yield every conversation, those that only carry a note included."""
    return _stream(connection, _CONVERSATIONS)


def all_messages(connection: Connection) -> Iterator[Row]:
    """Yield every message in its conversation's order, with ``conversation_external_id``."""
    return _stream(connection, _MESSAGES)


def all_notes(connection: Connection) -> Iterator[Row]:
    """Yield every note with what its conversation says of it, and ``tags`` in tag id order."""
    for batch in streaming.batches(connection, _NOTES, BATCH):
        names = tags_of(connection, [row.id for row in batch])
        for row in batch:
            yield {**row._asdict(), "tags": names.get(row.id, ())}


def all_relations(connection: Connection) -> Iterator[Row]:
    """Yield every relation with external id and conversation of both ends."""
    return _stream(connection, _RELATIONS)


def all_links(connection: Connection) -> Iterator[Row]:
    """Yield every link with external id and conversation of both ends, in the order of texts.

    Those of the other end are None where no note answers to the name.
    """
    return _stream(connection, _LINKS)


def all_chunks(
    connection: Connection, space_id: int, *, with_vectors: bool = False
) -> Iterator[Row]:
    """Yield the chunks of a space with what they are shown with.

    Args:
        with_vectors: Whether rows hold ``vector``, float32 bytes of unit length, too.
    """
    # The sum keeps the database from the index of spaces, after which it would sort all vectors.
    statement = _CHUNKS.where(
        embeddings.c.space_id + 0 == space_id, embeddings.c.kind == KIND_CHUNK
    )
    if with_vectors:
        statement = statement.add_columns(embeddings.c.vector)
    return _stream(connection, statement)


def relations_leaving(
    connection: Connection, note_ids: Iterable[int]
) -> dict[int, tuple[Row, ...]]:
    """Return the relations that leave each of these notes, by id, with title and slug of the end.

    Notes that none leaves are absent.
    """
    rows = connection.execute(
        select(note_relations, _TARGET.c.title, _TARGET.c.slug)
        .join(_TARGET, _TARGET.c.id == note_relations.c.target_note_id)
        .where(in_ids(note_relations.c.source_note_id, note_ids))
        .order_by(note_relations.c.id)
    )
    found: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        found[row.source_note_id].append(row._asdict())
    return {note_id: tuple(leaving) for note_id, leaving in found.items()}


def projects(connection: Connection) -> tuple[str, ...]:
    """Return the name of every project that has a note, in order."""
    return tuple(
        connection.execute(
            select(conversations.c.project_name)
            .join(notes, notes.c.conversation_id == conversations.c.id)
            .distinct()
            .order_by(conversations.c.project_name)
        ).scalars()
    )


def count_bodies(connection: Connection) -> int:
    """Count the notes that have a body."""
    return connection.execute(
        select(func.count()).select_from(notes).where(notes.c.body != "")
    ).scalar_one()


def sizes(connection: Connection, space_id: int | None) -> dict[str, int]:
    """Count what the streams yield, by kind; ``space_id`` is the space whose chunks are counted."""
    counted = {
        "tags": select(func.count()).select_from(tags),
        "note_tags": select(func.count()).select_from(note_tags),
        "conversations": select(func.count()).select_from(conversations),
        "messages": select(func.count()).select_from(messages),
        "notes": select(func.count()).select_from(notes),
        "relations": select(func.count()).select_from(note_relations),
        "links": select(func.count()).select_from(note_links),
        "chunks": select(func.count())
        .select_from(embeddings)
        .where(embeddings.c.space_id == space_id, embeddings.c.kind == KIND_CHUNK),
    }
    return {kind: connection.execute(statement).scalar_one() for kind, statement in counted.items()}
