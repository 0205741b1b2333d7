"""What is stored of the words of notes, and which notes are found by them.

Owns the comparison of stored documents with the notes that they are made of.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from app.db import notes
from app.db.models import lexical_documents
from app.factory import Application
from app.lexical.documents import KIND_ROOT, postings_of
from app.sync.words import texts_of
from tests.support.application import ask

Document = tuple[str, int | None, str]


def documents(application: Application) -> list[Document]:
    """The stored lexical documents of notes as (kind, note id, postings), by note id."""
    columns = lexical_documents.c
    with application.database.read() as connection:
        found = connection.execute(
            select(columns.kind, columns.note_id, columns.postings)
            .where(columns.kind == KIND_ROOT)
            .order_by(columns.note_id)
        )
        return [(row[0], row[1], row[2]) for row in found]


def document_ids(application: Application) -> dict[int, int]:
    """The id of the document of each note that has one."""
    columns = lexical_documents.c
    with application.database.read() as connection:
        found = connection.execute(
            select(columns.note_id, columns.id)
            .where(columns.kind == KIND_ROOT)
            .order_by(columns.note_id)
        )
        return {row[0]: row[1] for row in found}


def assert_documents_fit(application: Application) -> None:
    """Every note has exactly one document, made of what the note says now; there are no others."""
    with application.database.read() as connection:
        stored = notes.get_many(connection, notes.all_ids(connection))
    expected: list[Document] = [
        (KIND_ROOT, each.id, postings_of(texts_of(each))) for each in stored
    ]
    assert documents(application) == expected


def found_by_words(application: Application, query: str, **more: Any) -> list[int]:
    """The notes that a search finds by their words, best by words first."""
    answer = ask(application, query, ranker="fusion", explain=True, limit=50, **more)
    assert answer.explanation is not None
    rows = [row for row in answer.explanation["rows"] if row["lexical"] is not None]
    return [row["note_id"] for row in sorted(rows, key=lambda row: row["lexical"]["rank"])]
