"""A migrated database, and rows written past the layers above."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert

from app.db import migrate, numbering
from app.db.engine import Database
from app.db.models import conversations, embedding_spaces, notes
from tests.support.databases import DATABASES


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A migrated database for tests that fill it once and only read it then."""
    opened = Database(DATABASES.url_of(tmp_path_factory.mktemp("shared")))
    migrate.upgrade(opened)
    yield opened
    opened.close()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A migrated, empty database."""
    opened = Database(DATABASES.url_of(tmp_path))
    migrate.upgrade(opened)
    yield opened
    opened.close()


def add_notes(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Store notes, numbered from 1, each with a conversation of its own."""
    moment = "2026-01-01 00:00:00"
    common = {"source": "manual", "project_dir": "", "project_name": "", "file_path": ""}
    times = ("first_message_at", "last_message_at", "created_at", "updated_at")
    for number, row in enumerate(rows, start=1):
        key = f"conversation {number}"
        connection.execute(
            insert(conversations).values(id=key, **common, **dict.fromkeys(times, moment))
        )
        values = {"title": "", "summary": "", "created_at": moment, **row}
        connection.execute(insert(notes).values(id=number, conversation_id=key, **values))
    if rows:
        numbering.raise_to(connection, "notes", len(rows))


def add_space(connection: Connection) -> None:
    """Store the space 1, active."""
    connection.execute(
        insert(embedding_spaces).values(
            id=1, provider="p", model="m", dimension=1, border=0.5, max_chars=9, active=1,
            created_at="",
        )
    )  # fmt: skip


def chunk_row(note_id: int, index: int) -> dict[str, Any]:
    """The columns of a chunk in space 1."""
    return {
        "note_id": note_id,
        "space_id": 1,
        "kind": "chunk",
        "chunk_index": index,
        "chunk_text": f"text {index}",
        "has_han": 0,
        "content_hash": "",
        "created_at": "",
        "vector": b"\0\0\x80\x3f",
    }
