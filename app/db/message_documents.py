"""Queries on the documents in which messages are found. Their postings are not read here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Select, delete, func, insert, select

from app.db import streaming
from app.db.idlist import in_ids
from app.db.models import conversations, message_documents, messages, notes
from app.db.patterns import contains
from app.domain.conversations import HIDDEN_SOURCES, MessageQuery
from app.domain.words import MessageDocument, MessageStretch, StoredDocument

KIND = "message"
LOAD_BATCH = 500

_DOCUMENT = select(message_documents.c.id, message_documents.c.postings)
_STRETCH = select(
    message_documents.c.id,
    message_documents.c.conversation_id,
    message_documents.c.turn,
    message_documents.c.first_message,
    message_documents.c.last_message,
)


def every(connection: Connection) -> Iterator[StoredDocument]:
    """Read all documents, by ascending id."""
    return _stream(connection, _DOCUMENT)


def some(connection: Connection, ids: Iterable[int]) -> Iterator[StoredDocument]:
    """Read the documents of these ids that exist, by ascending id."""
    return _stream(connection, _DOCUMENT.where(in_ids(message_documents.c.id, ids)))


def _stream(connection: Connection, statement: Select[tuple[int, str]]) -> Iterator[StoredDocument]:
    ordered = statement.order_by(message_documents.c.id)
    for row in streaming.rows(connection, ordered, LOAD_BATCH):
        yield StoredDocument(row.id, KIND, None, row.postings)


def stretches(connection: Connection, ids: Sequence[int]) -> dict[int, MessageStretch]:
    """Return where documents are, by id."""
    rows = connection.execute(_STRETCH.where(in_ids(message_documents.c.id, ids)))
    return {row.id: MessageStretch(*row) for row in rows}


def allowed(connection: Connection, query: MessageQuery) -> NDArray[np.int64]:
    """Return the ids of the documents in conversations that a search wants, ascending."""
    columns = conversations.c
    conditions: list[ColumnElement[bool]] = [columns.source.not_in(HIDDEN_SOURCES)]
    if query.source:
        conditions.append(columns.source == query.source)
    if query.project:
        conditions.append(contains(columns.project_name, query.project, literal=True))
    if query.since:
        conditions.append(columns.last_message_at >= query.since)
    chosen = (
        select(message_documents.c.id)
        .join(conversations, columns.id == message_documents.c.conversation_id)
        .where(*conditions)
        .order_by(message_documents.c.id)
    )
    return np.fromiter(connection.execute(chosen).scalars(), dtype=np.int64)


def add(
    connection: Connection, conversation_id: str, documents: Sequence[MessageDocument]
) -> tuple[int, ...]:
    """Store documents of a conversation, which get ascending ids; return these."""
    if not documents:
        return ()
    statement = insert(message_documents).returning(message_documents.c.id)
    rows = [
        {
            "conversation_id": conversation_id,
            "turn": document.turn,
            "first_message": document.first_message,
            "last_message": document.last_message,
            "postings": document.postings,
        }
        for document in documents
    ]
    return tuple(sorted(connection.execute(statement, rows).scalars()))


def remove(connection: Connection, conversation_id: str) -> tuple[int, ...]:
    """Delete the documents of a conversation; return their ids, ascending."""
    found = connection.execute(
        delete(message_documents)
        .where(message_documents.c.conversation_id == conversation_id)
        .returning(message_documents.c.id)
    )
    return tuple(sorted(found.scalars()))


def conversations_without(connection: Connection) -> tuple[str, ...]:
    """Return the ids of conversations with messages that have no document, by id."""
    has_document = (
        select(message_documents.c.id)
        .where(message_documents.c.conversation_id == conversations.c.id)
        .exists()
    )
    has_message = (
        select(messages.c.id).where(messages.c.conversation_id == conversations.c.id).exists()
    )
    found = connection.execute(
        select(conversations.c.id).where(has_message, ~has_document).order_by(conversations.c.id)
    )
    return tuple(found.scalars())


def count(connection: Connection) -> int:
    """Count the documents."""
    return connection.execute(select(func.count()).select_from(message_documents)).scalar_one()


def notes_of(connection: Connection, conversation_ids: Iterable[str]) -> dict[str, int]:
    """Return the ids of conversations' notes; those without one are absent."""
    rows = connection.execute(
        select(notes.c.conversation_id, notes.c.id).where(
            notes.c.conversation_id.in_(list(conversation_ids))
        )
    )
    return {row[0]: row[1] for row in rows}
