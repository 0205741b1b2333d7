"""Copies of whole databases, to another system and back, and what is refused."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from app.db import changes, migrate, numbering, table_copy
from app.db.engine import Database
from app.domain.notes import NoteDraft
from app.errors import Conflict, CrystalError, DatabaseUnavailable
from app.factory import Application
from app.maintenance import copy
from tests.api.library import fill
from tests.cli.conftest import here
from tests.support.application import opened, stub_values
from tests.support.databases import sqlite_url
from tests.support.postgresql import Server
from tests.support.provider import StubProvider

Everything = dict[str, table_copy.Rows]
QUERIES = ("postgres vacuum", "数据库连接池", "docker images", "nothing of this")


@pytest.fixture(scope="module")
def stub() -> Iterator[StubProvider]:
    """A provider whose vectors speak of the words of a text."""
    with StubProvider() as running:
        yield running


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory, stub: StubProvider) -> str:
    """A SQLite database with some of everything, whose newest note, tag and token are gone."""
    folder = tmp_path_factory.mktemp("source")
    values = stub_values(stub) | {"database_url": sqlite_url(folder)}
    with opened(folder, values) as application:
        fill(application)
        application.companions.fill()
        application.entities.fill()
        gone = application.writer.create_note(NoteDraft("gone", "soon", tags=("gone",)))
        application.writer.delete_note(gone)
        client = application.flask().test_client()
        assert client.post("/api/notes/1/open").status_code < 300
    return sqlite_url(folder)


@pytest.fixture
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database: of SQLite, of PostgreSQL where a test says so."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return sqlite_url(tmp_path / "target")
    server: Server = request.getfixturevalue("postgresql")
    return server.empty(tmp_path / "target")


both = pytest.mark.parametrize("target", ["sqlite", "postgresql"], indirect=True)


def copied(source: str, target: str) -> copy.CopyReport:
    with copy.opened(source, target) as copying:
        return copying.run()


def everything(url: str) -> Everything:
    """All rows, the epoch apart."""
    with closing(Database(url)) as database, database.read() as connection:
        found = {
            table.name: [row for batch in table_copy.batches(connection, table) for row in batch]
            for table in table_copy.tables()
        }
    for row in found["index_state"]:
        del row["epoch"]
    return found


def epoch_of(url: str) -> str:
    with closing(Database(url)) as database, database.read() as connection:
        return changes.state(connection).epoch


def answers(application: Application) -> list[Any]:
    client = application.flask().test_client()
    found = []
    for ranker in ("chatcrystal", "fusion", "hybrid", "finder", "notebrain"):
        for query in QUERIES:
            parameters = {"q": query, "ranker": ranker, "explain": "true"}
            answer = client.get("/api/search", query_string=parameters)
            assert answer.status_code == 200, answer.get_json()
            found.append(re.sub(rb'"milliseconds":{[^}]*}', b"", answer.get_data()))
    return found


@both
def test_every_row_is_there_and_the_epoch_is_new(source: str, target: str) -> None:
    report = copied(source, target)
    wanted = everything(source)
    assert everything(target) == wanted
    assert report.rows == {name: len(rows) for name, rows in wanted.items()}
    for name in ("notes", "messages", "note_relations", "embeddings", "lexical_documents"):
        assert report.rows[name], name
    assert epoch_of(target) != epoch_of(source)


def test_there_and_back_is_the_same(source: str, postgresql: Server, tmp_path: Path) -> None:
    between = postgresql.empty(tmp_path / "between")
    back = sqlite_url(tmp_path / "back")
    there = copied(source, between)
    again = copied(between, back)
    assert again.rows == there.rows
    assert everything(back) == everything(source)
    assert len({epoch_of(url) for url in (source, between, back)}) == 3


@both
def test_the_copy_answers_searches_with_the_same_bytes(
    source: str, target: str, tmp_path: Path, stub: StubProvider
) -> None:
    copied(source, target)
    with opened(tmp_path / "one", stub_values(stub) | {"database_url": source}) as application:
        wanted = answers(application)
    with opened(tmp_path / "other", stub_values(stub) | {"database_url": target}) as application:
        assert answers(application) == wanted


@both
def test_no_id_that_the_source_gave_is_given_again(source: str, target: str) -> None:
    copied(source, target)
    with closing(Database(source)) as database, database.read() as connection:
        wanted = {
            table.name: numbering.last_given(connection, table)
            for table in numbering.counted_tables()
        }
        rows = everything(source)
    assert wanted["notes"] > max(row["id"] for row in rows["notes"])
    with closing(Database(target)) as database, database.write() as connection:
        for table in numbering.counted_tables():
            assert numbering.last_given(connection, table) == wanted[table.name], table.name
        fresh = connection.execute(text("INSERT INTO tags (name) VALUES ('new') RETURNING id"))
        assert fresh.scalar_one() == wanted["tags"] + 1


@both
def test_rows_are_held_in_batches(
    source: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_copy, "BATCH", 3)
    done: list[int] = []
    with copy.opened(source, target) as copying:
        copying.run(done.append)
        assert done[-1] == copying.total
    assert max(later - earlier for earlier, later in zip([0, *done], done, strict=False)) <= 3
    assert everything(target) == everything(source)


@both
def test_a_target_with_rows_is_refused_and_left_alone(source: str, target: str) -> None:
    with closing(Database(target)) as database:
        migrate.upgrade(database)
        with database.write() as connection:
            connection.execute(text("INSERT INTO tags (name) VALUES ('theirs')"))
    before = everything(target)
    with pytest.raises(Conflict, match="not empty: it has rows in tags"):
        copied(source, target)
    assert everything(target) == before


def altered(url: str, statement: str) -> None:
    with closing(Database(url)) as database:
        migrate.upgrade(database)
        with database.write_schema() as connection:
            connection.execute(text(statement))


def test_a_target_of_another_version_is_left_alone(source: str, tmp_path: Path) -> None:
    target = sqlite_url(tmp_path)
    altered(target, "UPDATE alembic_version SET version_num = '0001'")
    before = (tmp_path / "crystal.db").read_bytes()
    with pytest.raises(Conflict, match="another version"):
        copied(source, target)
    assert (tmp_path / "crystal.db").read_bytes() == before
    assert not list(tmp_path.glob("*.bak"))


def test_a_source_of_another_version_is_refused(tmp_path: Path) -> None:
    source = sqlite_url(tmp_path)
    altered(source, "UPDATE alembic_version SET version_num = '0001'")
    with pytest.raises(DatabaseUnavailable, match="not at the revision of this version"):
        copied(source, sqlite_url(tmp_path / "target"))
    assert not (tmp_path / "target").exists()


def test_a_source_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="There is no database at"):
        copied(sqlite_url(tmp_path / "none"), sqlite_url(tmp_path / "target"))
    assert not list(tmp_path.iterdir())


@both
def test_a_row_without_its_parent_ends_the_copy_with_nothing(target: str, tmp_path: Path) -> None:
    source = sqlite_url(tmp_path / "source")
    altered(source, "INSERT INTO note_tags (note_id, tag_id) VALUES (1, 1)")
    with pytest.raises(DatabaseUnavailable, match=r"note_tags breaks a rule.*crystal doctor"):
        copied(source, target)
    assert not any(rows for name, rows in everything(target).items() if name != "index_state")


def test_a_copy_that_differs_is_not_kept(source: str, tmp_path: Path) -> None:
    """Something in the target changes what is written to it; the numbers of rows stay right."""
    target = sqlite_url(tmp_path)
    altered(
        target,
        "CREATE TRIGGER alter_it AFTER INSERT ON tags"
        " BEGIN UPDATE tags SET name = name || '!' WHERE id = new.id; END",
    )
    with pytest.raises(DatabaseUnavailable, match="does not agree with its source"):
        copied(source, target)
    assert not everything(target)["tags"]


def test_the_command_copies_and_tells_of_it(
    source: str, postgresql: Server, tmp_path: Path
) -> None:
    path = source.removeprefix("sqlite:///")
    target = postgresql.empty(tmp_path / "target")
    ran = here("--json", "db", "copy", path, target)
    assert (ran.code, ran.err) == (0, "")
    assert list(ran.data) == ["rows", "digest"]
    assert everything(target) == everything(source)
    again = here("db", "copy", path, target)
    assert again.code == 1
    assert "The target is not empty" in again.error


@pytest.mark.parametrize(
    "url",
    ["postgresql://me:hush@/nowhere?host=/nonexistent", "mysql://me:hush@host/x", "postgresql+nosuch://me:hush@h/x"],
    ids=["unreachable", "other system", "unknown driver"],
)  # fmt: skip
def test_a_target_that_cannot_be_used_is_told_without_its_password(source: str, url: str) -> None:
    with pytest.raises(CrystalError) as caught:
        copied(source, url)
    assert "hush" not in caught.value.message
    assert "database_url" in caught.value.message


def test_a_server_may_write_to_the_source_meanwhile(source: str, tmp_path: Path) -> None:
    """What is committed while a copy runs is not in it, and does no harm."""
    own = tmp_path / "own.db"
    with (
        closing(sqlite3.connect(source.removeprefix("sqlite:///"))) as old,
        closing(sqlite3.connect(own)) as new,
    ):
        old.backup(new)
    url = f"sqlite:///{own}"
    before = everything(url)
    target = sqlite_url(tmp_path / "target")
    with copy.opened(url, target) as copying, closing(Database(url)) as writer:
        with writer.write() as connection:
            connection.execute(text("DELETE FROM conversations"))
        copying.run()
    assert everything(target) == before
    assert not everything(url)["notes"]
