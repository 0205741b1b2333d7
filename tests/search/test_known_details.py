"""Projects and tags kept between searches: as new as a reading of them, whoever changes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from app.db import changes
from app.domain.notes import NoteDraft
from app.factory import Application
from app.search.known_details import KnownDetails
from tests.support.application import ask, opened, recorded_statements, stub_values
from tests.support.provider import StubProvider

ADD_TAG = text("INSERT INTO tags (name) VALUES (:name) RETURNING id")
GIVE_TAG = text("INSERT INTO note_tags (note_id, tag_id) VALUES (:note, :tag)")
IDS = (1, 2)


@pytest.fixture
def application(provider: StubProvider, tmp_path: Path) -> Iterator[Application]:
    """Two notes with a tag."""
    with opened(tmp_path, stub_values(provider)) as built:
        for title in ("One", "Two"):
            built.writer.create_note(NoteDraft(title, "cos=0.9", tags=("wal",)))
        yield built


def give(application: Application, note_id: int, name: str) -> None:
    """Give a note a tag as another program would, without a word in the feed."""
    with application.database.engine.begin() as connection:
        tag_id = connection.execute(ADD_TAG, {"name": name}).scalar_one()
        connection.execute(GIVE_TAG, {"note": note_id, "tag": tag_id})


def tags(known: KnownDetails, connection: Connection) -> dict[int, tuple[str, ...]]:
    epoch = changes.state(connection).epoch
    return {id_: each.tags for id_, each in known.read(connection, epoch, IDS, ()).items()}


def readings(statements: list[str]) -> int:
    return sum("note_tags" in statement for statement in statements)


@pytest.mark.sqlite
def test_they_are_read_once_while_nothing_is_committed(application: Application) -> None:
    first = ask(application)
    with recorded_statements(application.database) as statements:
        assert ask(application, "something else").found == first.found
    assert readings(statements) == 0
    assert [found.tags for found in first.found] == [("wal",), ("wal",)]


def test_whatever_was_committed_makes_them_read_anew(application: Application) -> None:
    assert {found.tags for found in ask(application).found} == {("wal",)}
    for number in range(2):
        give(application, 1, f"new {number}")
        found = {each.note_id: each.tags for each in ask(application).found}
        assert f"new {number}" in found[1]
        assert found[2] == ("wal",)


def test_a_snapshot_has_its_own_whatever_others_keep(application: Application) -> None:
    known = KnownDetails(application.database.version)
    with application.database.read() as before:
        changes.state(before)
        give(application, 1, "new")
        with application.database.read() as after:
            assert tags(known, after)[1] == ("wal", "new")
            assert tags(known, before)[1] == ("wal",)
            assert tags(known, after)[1] == ("wal", "new")


def test_another_epoch_and_named_columns_are_read_each_time(application: Application) -> None:
    known = KnownDetails(application.database.version)
    with (
        application.database.read() as connection,
        recorded_statements(application.database) as statements,
    ):
        assert tags(known, connection)[1] == ("wal",)
        known.read(connection, "another", IDS, ())
        for _ in range(2):
            found = known.read(connection, "another", IDS, ("summary",))
            assert found[1].extra == {"summary": "cos=0.9"}
    assert readings(statements) == 4


@pytest.mark.sqlite
@pytest.mark.parametrize(("most", "due"), [(1, 3), (2, 1)])
def test_they_are_bounded(application: Application, most: int, due: int) -> None:
    known = KnownDetails(application.database.version, most)
    with (
        application.database.read() as connection,
        recorded_statements(application.database) as statements,
    ):
        for _ in range(3):
            assert len(tags(known, connection)) == 2
    assert readings(statements) == due
