"""Vectors that are not as they were written: whoever searches is told what to do."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from app.domain.notes import NoteDraft, NotePatch
from app.errors import DatabaseUnavailable
from app.maintenance.doctor.examination import opened as examined
from app.maintenance.doctor.examination import repair
from tests.support.application import ask, found_ids, opened, plant, stub_values
from tests.support.databases import DATABASES
from tests.support.provider import StubProvider

INDEX = "ix_embeddings_space_id"


@pytest.mark.parametrize("length", [0, 2, 28, 64])
def test_a_vector_of_another_length_is_told_and_mended(
    tmp_path: Path, provider: StubProvider, length: int
) -> None:
    values = stub_values(provider)
    with opened(tmp_path, values) as application:
        plant(application, [0.9, 0.8, 0.7])
        with application.database.write() as connection:
            connection.execute(
                text("UPDATE embeddings SET vector = :vector WHERE id = 2"),
                {"vector": bytes(length)},
            )
    with (
        opened(tmp_path, values) as application,
        pytest.raises(DatabaseUnavailable, match="run: crystal doctor --repair"),
    ):
        ask(application)
    with examined(DATABASES.url_of(tmp_path), tmp_path) as patient:
        repair(patient, print)
    with opened(tmp_path, values) as application:
        assert found_ids(ask(application)) == [1, 3]
        assert application.batches.unembedded() == (2,)


@pytest.mark.parametrize("length", [2, 28])
def test_an_edit_mends_a_vector_of_another_length(
    tmp_path: Path, provider: StubProvider, length: int
) -> None:
    """The tags come last in the text, so that the first chunk stays as it is."""
    paragraphs = "\n\n".join(f"cos=0.{number} {'a' * 400}" for number in (61, 72, 83))
    with opened(tmp_path, stub_values(provider)) as application:
        note_id = application.writer.create_note(NoteDraft("long", paragraphs, tags=("old",)))
        with application.database.write() as connection:
            connection.execute(
                text("UPDATE embeddings SET vector = :vector WHERE chunk_index = 0"),
                {"vector": bytes(length)},
            )
        application.writer.edit_note(note_id, NotePatch({"tags": ("new",)}))
        assert found_ids(ask(application)) == [note_id]


@pytest.mark.sqlite
def test_a_row_that_is_in_the_index_alone_is_told(tmp_path: Path, provider: StubProvider) -> None:
    values = stub_values(provider)
    with opened(tmp_path, values) as application:
        plant(application, [0.9, 0.8, 0.7])
        assert found_ids(ask(application)) == [1, 2, 3]
    lose_a_row(tmp_path / "crystal.db")
    with (
        opened(tmp_path, values) as application,
        pytest.raises(DatabaseUnavailable, match="counts more vectors than it holds"),
    ):
        ask(application)


def lose_a_row(path: Path) -> None:
    """Delete a row while SQLite does not know of the index that has it, too."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        entry = connection.execute(
            "SELECT * FROM sqlite_master WHERE name = ?", (INDEX,)
        ).fetchone()
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DELETE FROM sqlite_master WHERE name = ?", (INDEX,))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM embeddings WHERE id = 3")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", entry)
