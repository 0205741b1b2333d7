"""Queries on lexical documents. The stored form of postings is not read here.

Notes are found by documents of ``NOTE_KINDS``; fragments by those of ``FRAGMENT_KINDS``, each by
itself, of chunks only those of the space at hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Select, delete, func, insert, or_, select, update

from app.db import streaming
from app.db.filters import note_conditions
from app.db.idlist import bound, in_bound_ids, in_ids
from app.db.models import conversations, embeddings, lexical_documents, notes
from app.domain import fragments
from app.domain.chunks import KIND_CHUNK
from app.domain.fragments import CHUNK, ENTITY, FRAGMENT_KINDS, ROOT, Fragment
from app.domain.notes import NoteFilters
from app.domain.words import DocumentDraft, StoredDocument

NOTE_KINDS = (ROOT, "message")

LOAD_BATCH = 1_000

_DOCUMENT = select(
    lexical_documents.c.id,
    lexical_documents.c.kind,
    lexical_documents.c.note_id,
    lexical_documents.c.postings,
)


_OWNERS = select(
    lexical_documents.c.id,
    lexical_documents.c.kind,
    lexical_documents.c.note_id,
    lexical_documents.c.chunk_id,
    lexical_documents.c.entity_id,
).where(in_bound_ids(lexical_documents.c.id))

_ADD = insert(lexical_documents).returning(lexical_documents.c.id, lexical_documents.c.kind)


def every(connection: Connection) -> Iterator[StoredDocument]:
    """Read all documents of notes, by ascending id."""
    return _stream(connection, _DOCUMENT.where(lexical_documents.c.kind.in_(NOTE_KINDS)))


def every_fragment(connection: Connection, space_id: int | None) -> Iterator[StoredDocument]:
    """Read all documents of fragments, of chunks those in a space, by ascending id."""
    return _stream(connection, _of_fragments(space_id))


def _stream(connection: Connection, statement: Select[Any]) -> Iterator[StoredDocument]:
    ordered = statement.order_by(lexical_documents.c.id)
    for row in streaming.rows(connection, ordered, LOAD_BATCH):
        yield StoredDocument(*row)


def _of_fragments(space_id: int | None) -> Select[Any]:
    columns = lexical_documents.c
    return (
        _DOCUMENT.select_from(
            lexical_documents.outerjoin(embeddings, embeddings.c.id == columns.chunk_id)
        )
        .where(columns.kind.in_(FRAGMENT_KINDS))
        .where(or_(columns.kind != CHUNK, embeddings.c.space_id == space_id))
    )


def some(connection: Connection, ids: Iterable[int]) -> list[StoredDocument]:
    """Read the documents of notes, of these ids, that exist, by ascending id."""
    return _some(connection, ids, _DOCUMENT.where(lexical_documents.c.kind.in_(NOTE_KINDS)))


def some_fragments(
    connection: Connection, space_id: int | None, ids: Iterable[int]
) -> list[StoredDocument]:
    """Read the documents of fragments, of these ids, that exist, by ascending id."""
    return _some(connection, ids, _of_fragments(space_id))


def _some(
    connection: Connection,
    ids: Iterable[int],
    statement: Select[Any],
) -> list[StoredDocument]:
    columns = lexical_documents.c
    rows = connection.execute(statement.where(in_ids(columns.id, ids)).order_by(columns.id))
    return [StoredDocument(*row) for row in rows]


def owners(connection: Connection, ids: Iterable[int]) -> dict[int, tuple[Fragment, int | None]]:
    """Return the fragment that each of these documents is of, with its note if it has one."""
    found: dict[int, tuple[Fragment, int | None]] = {}
    for id_, kind, note_id, chunk_id, entity_id in connection.execute(_OWNERS, bound(ids)):
        if kind == ROOT and note_id is not None:
            found[id_] = (fragments.root(note_id), note_id)
        elif kind == CHUNK and chunk_id is not None:
            found[id_] = (fragments.chunk(chunk_id), note_id)
        elif kind == ENTITY and entity_id is not None:
            found[id_] = (fragments.entity(entity_id), None)
    return found


def fragment_ids_passing(connection: Connection, filters: NoteFilters) -> NDArray[np.int64]:
    """Return the ids of documents whose note passes the filters, and of all entities, ascending."""
    columns = lexical_documents.c
    passing = (
        select(columns.id)
        .select_from(lexical_documents)
        .join(notes, notes.c.id == columns.note_id)
        .join(conversations, conversations.c.id == notes.c.conversation_id)
        .where(*note_conditions(filters))
    )
    others = select(columns.id).where(columns.kind == ENTITY)
    found = connection.execute(passing.union_all(others))
    return np.sort(np.fromiter(found.scalars(), dtype=np.int64))


def add(connection: Connection, documents: Sequence[DocumentDraft]) -> tuple[tuple[int, str], ...]:
    """Store documents, which get ascending ids; return id and kind of each, by id."""
    if not documents:
        return ()
    rows = [document._asdict() for document in documents]
    return tuple(sorted((row[0], row[1]) for row in connection.execute(_ADD, rows)))


def remove_of_notes(
    connection: Connection, note_ids: Iterable[int], kinds: Sequence[str] | None = None
) -> tuple[tuple[int, str], ...]:
    """Delete the documents of notes, of some kinds or of all; return id and kind, by id."""
    ids = list(note_ids)
    if not ids:
        return ()
    condition = in_ids(lexical_documents.c.note_id, ids)
    if kinds is not None:
        condition = condition & lexical_documents.c.kind.in_(kinds)
    return _remove(connection, condition)


def remove_of_no_chunk(connection: Connection) -> tuple[tuple[int, str], ...]:
    """Delete the documents of chunks that are gone; return id and kind, by id."""
    columns = lexical_documents.c
    return _remove(connection, columns.chunk_id.is_(None) & (columns.kind == CHUNK))


def remove_of_entities(
    connection: Connection, entity_ids: Iterable[int]
) -> tuple[tuple[int, str], ...]:
    """Delete the documents of entities; return id and kind, by id."""
    return _remove(connection, in_ids(lexical_documents.c.entity_id, entity_ids))


def _remove(connection: Connection, condition: ColumnElement[bool]) -> tuple[tuple[int, str], ...]:
    columns = lexical_documents.c
    found = connection.execute(
        delete(lexical_documents).where(condition).returning(columns.id, columns.kind)
    )
    return tuple(sorted((row[0], row[1]) for row in found))


def release_gone_chunks(connection: Connection) -> int:
    """Make documents whose chunk row was deleted past us say so; return their number."""
    columns = lexical_documents.c
    has_chunk = select(embeddings.c.id).where(embeddings.c.id == columns.chunk_id).exists()
    return connection.execute(
        update(lexical_documents)
        .where(columns.chunk_id.is_not(None), ~has_chunk)
        .values(chunk_id=None)
    ).rowcount


def count_of_no_chunk(connection: Connection) -> int:
    """Count the documents of chunks that are gone."""
    columns = lexical_documents.c
    statement = select(func.count()).where(columns.chunk_id.is_(None), columns.kind == CHUNK)
    return connection.execute(statement).scalar_one()


def count_chunks_without(connection: Connection, space_id: int) -> int:
    """Count the chunks in a space that have no document."""
    return connection.execute(
        select(func.count()).select_from(embeddings).where(*_lacks_document(space_id))
    ).scalar_one()


def _lacks_document(space_id: int) -> tuple[ColumnElement[bool], ...]:
    columns = embeddings.c
    has_document = select(lexical_documents.c.id).where(lexical_documents.c.chunk_id == columns.id)
    return (columns.space_id == space_id, columns.kind == KIND_CHUNK, ~has_document.exists())


def chunks_without(connection: Connection, space_id: int, limit: int) -> tuple[int, ...]:
    """Return chunks in a space that have no document of their own, by id."""
    columns = embeddings.c
    found = connection.execute(
        select(columns.id).where(*_lacks_document(space_id)).order_by(columns.id).limit(limit)
    )
    return tuple(found.scalars())


def notes_without(connection: Connection) -> tuple[int, ...]:
    """Return the ids of notes with a conversation that have no document of their own, by id."""
    has_document = (
        select(lexical_documents.c.id)
        .where(lexical_documents.c.note_id == notes.c.id, lexical_documents.c.kind == ROOT)
        .exists()
    )
    listed = notes.join(conversations, conversations.c.id == notes.c.conversation_id)
    found = connection.execute(
        select(notes.c.id).select_from(listed).where(~has_document).order_by(notes.c.id)
    )
    return tuple(found.scalars())
