"""Chunk rows kept between searches: as new as a reading of them, whoever changes the database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from app.db import changes
from app.domain.notes import NoteDraft
from app.factory import Application
from app.search import folding
from app.search.known_rows import ROW_CHARACTERS, KnownRows
from app.text import fold
from tests.support.application import ask, opened, plant, recorded_statements, stub_values
from tests.support.provider import StubProvider

RENAME = text("UPDATE notes SET title = :title WHERE id = :id")


@pytest.fixture
def application(provider: StubProvider, tmp_path: Path) -> Iterator[Application]:
    """Three notes of one chunk each."""
    with opened(tmp_path, stub_values(provider)) as built:
        plant(built, [0.95, 0.9, 0.85], "Old")
        yield built


def rename(application: Application, note_id: int, title: str) -> None:
    """Change a title as another program would, without a word in the feed."""
    with application.database.engine.begin() as connection:
        connection.execute(RENAME, {"title": title, "id": note_id})


def chunk_ids(application: Application) -> list[int]:
    with application.database.read() as connection:
        return list(connection.execute(text("SELECT id FROM embeddings ORDER BY id")).scalars())


def folded(known: KnownRows, connection: Connection, ids: list[int]) -> list[str]:
    """What is read of these chunks in a snapshot whose feed was read."""
    state = changes.state(connection)
    rows = known.read(connection, state.epoch, ids)
    return [rows[chunk_id].folded.partition("\n")[0] for chunk_id in ids if chunk_id in rows]


def readings(statements: list[str]) -> int:
    """How many statements read rows of chunks."""
    return sum("chunk_text" in statement for statement in statements)


@pytest.mark.sqlite
def test_rows_are_read_once_while_nothing_is_committed(application: Application) -> None:
    known, ids = KnownRows(application.database.version), chunk_ids(application)
    with recorded_statements(application.database) as statements:
        for wanted, due in ((ids[:2], 1), (ids[:2], 1), (ids, 2), (ids, 2)):
            with application.database.read() as connection:
                assert (
                    folded(known, connection, wanted) == ["old 0", "old 1", "old 2"][: len(wanted)]
                )
            assert readings(statements) == due


@pytest.mark.sqlite
def test_a_search_reads_no_row_that_the_one_before_has_read(application: Application) -> None:
    first = ask(application, "anything")
    with recorded_statements(application.database) as statements:
        again = ask(application, "something else")
    assert readings(statements) == 0
    assert again.found == first.found


def test_whatever_was_committed_makes_them_read_anew(application: Application) -> None:
    known, ids = KnownRows(application.database.version), chunk_ids(application)
    for number in range(3):
        with application.database.read() as connection:
            folded(known, connection, ids)
        rename(application, 1, f"New {number}")
        with application.database.read() as connection:
            assert folded(known, connection, ids)[0] == f"new {number}"
    application.writer.create_note(NoteDraft("Another", "cos=0.5"))
    rename(application, 2, "Mine")
    with application.database.read() as connection:
        assert folded(known, connection, ids) == ["new 2", "mine", "old 2"]


@pytest.mark.sqlite
def test_a_snapshot_has_its_own_rows_whatever_others_keep(application: Application) -> None:
    known, ids = KnownRows(application.database.version), chunk_ids(application)
    with application.database.read() as before:
        changes.state(before)
        rename(application, 1, "New")
        with application.database.read() as after:
            assert folded(known, after, ids)[0] == "new"
            assert folded(known, before, ids)[0] == "old 0"
            assert folded(known, after, ids)[0] == "new"
            assert folded(known, before, ids)[0] == "old 0"
    with application.database.read() as connection:
        assert folded(known, connection, ids)[0] == "new"


def test_what_is_gone_is_absent(application: Application) -> None:
    known, ids = KnownRows(application.database.version), chunk_ids(application)
    with application.database.read() as connection:
        folded(known, connection, ids)
    application.writer.delete_note(1)
    with application.database.read() as connection:
        assert folded(known, connection, ids) == ["old 1", "old 2"]


def test_another_epoch_is_read_anew(application: Application) -> None:
    """A copy put in the place of the database may use an id for another chunk."""
    known, ids = KnownRows(application.database.version), chunk_ids(application)
    with application.database.read() as connection:
        folded(known, connection, ids)
    with application.database.read() as connection, recorded_statements(application.database) as s:
        changes.state(connection)
        known.read(connection, "another", ids)
        assert readings(s) == 1


def test_a_version_that_is_not_known_keeps_nothing_from_being_read(
    application: Application,
) -> None:
    known, ids = KnownRows(lambda _: None), chunk_ids(application)
    with recorded_statements(application.database) as statements:
        for _ in range(2):
            with application.database.read() as connection:
                assert len(folded(known, connection, ids)) == 3
    assert readings(statements) == 2


def test_texts_are_folded_once_even_so(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    folds: list[str] = []

    def counting(text: str) -> str:
        folds.append(text)
        return fold(text)

    monkeypatch.setattr(folding, "fold", counting)
    known, ids = KnownRows(application.database.version), chunk_ids(application)
    for title, due in (("One", 2 * len(ids)), ("Two", 2)):
        rename(application, 1, title)
        with application.database.read() as connection:
            folded(known, connection, ids)
        assert len(folds) == due
        folds.clear()


@pytest.mark.sqlite
def test_the_oldest_rows_make_room(application: Application) -> None:
    known = KnownRows(application.database.version, most_characters=2 * ROW_CHARACTERS + 100)
    ids = chunk_ids(application)
    for wanted, due in ((ids, 1), (ids[1:], 0), (ids[:1], 1), (ids[1:2], 1)):
        with (
            application.database.read() as connection,
            recorded_statements(application.database) as statements,
        ):
            assert len(folded(known, connection, wanted)) == len(wanted)
            assert readings(statements) == due
