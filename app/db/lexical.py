"""Queries on lexical documents. The stored form of postings is not read here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import Connection, delete, insert, select

from app.db.idlist import in_ids
from app.db.models import conversations, lexical_documents, notes
from app.domain.words import StoredDocument

LOAD_BATCH = 1_000

_DOCUMENT = select(
    lexical_documents.c.id,
    lexical_documents.c.kind,
    lexical_documents.c.note_id,
    lexical_documents.c.postings,
)


def every(connection: Connection) -> Iterator[StoredDocument]:
    """Read all documents, by ascending id."""
    result = connection.execution_options(yield_per=LOAD_BATCH).execute(
        _DOCUMENT.order_by(lexical_documents.c.id)
    )
    for row in result:
        yield StoredDocument(*row)


def some(connection: Connection, ids: Iterable[int]) -> list[StoredDocument]:
    """Read the documents of these ids that exist, by ascending id."""
    rows = connection.execute(
        _DOCUMENT.where(in_ids(lexical_documents.c.id, ids)).order_by(lexical_documents.c.id)
    )
    return [StoredDocument(*row) for row in rows]


def add(
    connection: Connection, documents: Sequence[tuple[str, int | None, str]]
) -> tuple[int, ...]:
    """Store documents, each as (kind, note id, postings), and return their ids in order."""
    if not documents:
        return ()
    statement = insert(lexical_documents).returning(
        lexical_documents.c.id, sort_by_parameter_order=True
    )
    rows = [
        {"kind": kind, "note_id": note_id, "postings": postings}
        for kind, note_id, postings in documents
    ]
    return tuple(connection.execute(statement, rows).scalars())


def remove_of_notes(connection: Connection, note_ids: Iterable[int]) -> tuple[int, ...]:
    """Delete the documents of notes; return their ids, ascending."""
    found = connection.execute(
        delete(lexical_documents)
        .where(in_ids(lexical_documents.c.note_id, note_ids))
        .returning(lexical_documents.c.id)
    )
    return tuple(sorted(found.scalars()))


def notes_without(connection: Connection) -> tuple[int, ...]:
    """Return the ids of notes with a conversation that have no document, by id."""
    has_document = (
        select(lexical_documents.c.id).where(lexical_documents.c.note_id == notes.c.id).exists()
    )
    listed = notes.join(conversations, conversations.c.id == notes.c.conversation_id)
    found = connection.execute(
        select(notes.c.id).select_from(listed).where(~has_document).order_by(notes.c.id)
    )
    return tuple(found.scalars())
