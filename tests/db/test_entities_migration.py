"""Tables that revision 0004 writes anew keep their rows, and their counters what they gave."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from app.db import migrate
from app.db.engine import Database

CONVERSATION = (
    "INSERT INTO conversations (id, project_dir, project_name, first_message_at, last_message_at,"
    " file_path, created_at, updated_at) VALUES ('c', '', 'p', '', '', '', '', '')"
)
NOTE = (
    "INSERT INTO notes (id, conversation_id, title, summary, created_at)"
    " VALUES (7, 'c', 'kept', '', '')"
)
SPACE = (
    "INSERT INTO embedding_spaces (id, provider, model, border, max_chars, active, created_at)"
    " VALUES (3, 'p', 'm', 0.5, 9, 1, '')"
)
VECTOR = (
    "INSERT INTO embeddings (id, note_id, space_id, kind, chunk_index, chunk_text, has_han,"
    ' heading_path, start, "end", content_hash, created_at, vector)'
    " VALUES ({id}, 7, 3, 'chunk', {id}, 'text', 0, 'A', 1, 2, 'hash', '', x'00ff')"
)
DOCUMENT = (
    "INSERT INTO lexical_documents (id, kind, note_id, postings) VALUES ({id}, 'root', 7, '[]')"
)
KEPT = {
    "embeddings": "SELECT id, note_id, space_id, kind, chunk_index, chunk_text, has_han,"
    ' heading_path, start, "end", content_hash, created_at, vector FROM embeddings ORDER BY id',
    "lexical_documents": "SELECT id, kind, note_id, postings FROM lexical_documents ORDER BY id",
}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A database of the revision before, with rows, the newest of which were deleted."""
    opened = Database(f"sqlite:///{tmp_path / 'crystal.db'}")
    with opened.write() as connection:
        command.upgrade(migrate._config(connection), "0003")
        for statement in (CONVERSATION, NOTE, SPACE):
            connection.execute(text(statement))
        for id_ in (4, 5, 90):
            connection.execute(text(VECTOR.format(id=id_)))
            connection.execute(text(DOCUMENT.format(id=id_)))
        for table in KEPT:
            connection.execute(text(f"DELETE FROM {table} WHERE id = 90"))
    yield opened
    opened.close()


def rows(database: Database, statement: str) -> list[tuple[Any, ...]]:
    with database.read() as connection:
        return [tuple(row) for row in connection.execute(text(statement))]


@pytest.mark.parametrize("table", KEPT)
def test_rows_and_counters_are_kept(database: Database, table: str) -> None:
    before = rows(database, KEPT[table])
    assert len(before) == 2
    migrate.upgrade(database)
    assert rows(database, KEPT[table]) == before
    with database.write() as connection:
        connection.execute(text(f"DELETE FROM {table}"))
        statement = (VECTOR if table == "embeddings" else DOCUMENT).format(id="NULL")
        connection.execute(text(statement.replace("'chunk', NULL", "'chunk', 0")))
    assert rows(database, f"SELECT id FROM {table}") == [(91,)]


def test_a_note_takes_all_of_its_own_with_it(database: Database) -> None:
    migrate.upgrade(database)
    with database.write() as connection:
        connection.execute(text("DELETE FROM notes"))
    for table in KEPT:
        assert rows(database, f"SELECT id FROM {table}") == []


def test_a_document_outlives_its_chunk_until_it_is_told_of(database: Database) -> None:
    migrate.upgrade(database)
    with database.write() as connection:
        connection.execute(text("UPDATE lexical_documents SET chunk_id = id, kind = 'chunk'"))
        connection.execute(text("DELETE FROM embeddings WHERE id = 4"))
    found = rows(database, "SELECT id, chunk_id FROM lexical_documents ORDER BY id")
    assert found == [(4, None), (5, 5)]


@pytest.mark.parametrize(
    "owners", ["NULL, NULL", "7, 1"], ids=["of nobody", "of a note and an entity"]
)
def test_a_vector_has_one_owner(database: Database, owners: str) -> None:
    migrate.upgrade(database)
    with database.write() as connection:
        connection.execute(text("INSERT INTO entities (id, kind, name) VALUES (1, 'tag', 'a')"))
    with pytest.raises(IntegrityError, match="owner"), database.write() as connection:
        connection.execute(
            text(
                "INSERT INTO embeddings (note_id, entity_id, space_id, kind, chunk_index,"
                " chunk_text, has_han, content_hash, created_at, vector)"
                f" VALUES ({owners}, 3, 'x', 0, '', 0, '', '', x'00')"
            )
        )
