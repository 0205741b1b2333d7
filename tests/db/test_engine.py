"""What a read and a write transaction are, and how a database that cannot be used is told of."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import URL, Connection, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.pool import QueuePool

from app.db import changes, engine, migrate, sqlite_backup
from app.db.engine import Database
from app.errors import ConfigurationError, DatabaseUnavailable
from app.factory import build
from tests.support.application import make_settings
from tests.support.damage import add_noise
from tests.support.databases import DATABASES

COUNT = text("SELECT count(*) FROM tags")


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A database with its schema that waits little for locks."""
    monkeypatch.setattr(engine, "BUSY_TIMEOUT_SECONDS", 0.1)
    opened = Database(DATABASES.url_of(tmp_path))
    migrate.upgrade(opened)
    yield opened
    opened.close()


@pytest.fixture
def other(database: Database) -> Iterator[sqlite3.Connection]:
    """Another program's connection to the file."""
    assert database.path is not None
    with closing(sqlite3.connect(database.path, isolation_level=None)) as connection:
        yield connection


def add_tag(connection: Connection, name: str) -> None:
    connection.execute(text("INSERT INTO tags (name) VALUES (:name)"), {"name": name})


def count_tags(database: Database) -> int:
    with database.read() as connection:
        return int(connection.execute(COUNT).scalar_one())


def idle_connections(database: Database) -> bool:
    pool = database.engine.pool
    assert isinstance(pool, QueuePool)
    return pool.checkedout() == 0


def test_a_snapshot_does_not_see_later_commits(database: Database) -> None:
    with database.read() as connection:
        assert connection.execute(COUNT).scalar() == 0
        with database.write() as writer:
            add_tag(writer, "later")
        assert connection.execute(COUNT).scalar() == 0
        assert count_tags(database) == 1
    assert count_tags(database) == 1


def test_a_snapshot_does_not_see_what_is_not_committed(database: Database) -> None:
    with database.write() as writer:
        add_tag(writer, "open")
        assert count_tags(database) == 0
    assert count_tags(database) == 1


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, IntegrityError])
def test_any_error_rolls_back(database: Database, error: type[BaseException]) -> None:
    with pytest.raises(error), database.write() as connection:
        add_tag(connection, "t")
        if error is IntegrityError:
            add_tag(connection, "t")
        raise error
    assert count_tags(database) == 0
    with database.write() as connection:
        add_tag(connection, "t")
    assert count_tags(database) == 1
    assert idle_connections(database)


def test_writers_in_threads_take_turns(database: Database) -> None:
    def write(number: int) -> None:
        for turn in range(10):
            with database.write() as connection:
                before = connection.execute(COUNT).scalar_one()
                add_tag(connection, f"{number} {turn}")
                assert connection.execute(COUNT).scalar() == before + 1

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count_tags(database) == 40


@pytest.mark.sqlite
@pytest.mark.parametrize("lock", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_file_locked_by_another_program_cannot_be_written(
    database: Database, other: sqlite3.Connection, lock: str
) -> None:
    other.execute(lock)
    with pytest.raises(DatabaseUnavailable, match="locked by another program"), database.write():
        raise AssertionError("the lock was not seen")
    assert count_tags(database) == 0
    other.execute("ROLLBACK")
    with database.write() as connection:
        add_tag(connection, "t")
    assert count_tags(database) == 1
    assert idle_connections(database)


@pytest.mark.sqlite
def test_a_file_that_another_program_keeps_to_itself_cannot_be_read(
    database: Database, tmp_path: Path
) -> None:
    database.close()
    path = tmp_path / "crystal.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as greedy:
        greedy.execute("PRAGMA locking_mode=EXCLUSIVE")
        greedy.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DatabaseUnavailable, match="locked by another program"):
            count_tags(database)
    assert count_tags(database) == 0


@pytest.mark.sqlite
def test_a_file_that_is_no_database_is_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "crystal.db"
    path.write_bytes(b"These are no pages of SQLite. " * 200)
    before = path.read_bytes()
    with pytest.raises(DatabaseUnavailable, match="damaged; restore a backup"):
        build(make_settings(tmp_path))
    assert path.read_bytes() == before


@pytest.mark.sqlite
def test_a_schema_with_noise_in_it_is_called_damaged(tmp_path: Path) -> None:
    """SQLite's own message quotes the noise."""
    settings = make_settings(tmp_path)
    build(settings).close()
    path = tmp_path / "crystal.db"
    add_noise(path, b"CREATE TABLE notes")
    before = path.read_bytes()
    with pytest.raises(DatabaseUnavailable, match="damaged; restore a backup"):
        build(settings)
    opened = Database(DATABASES.url_of(tmp_path))
    with pytest.raises(DatabaseUnavailable, match="damaged; restore a backup"), opened.write():
        pass
    opened.close()
    with pytest.raises(DatabaseUnavailable, match="cannot be used: malformed database"):
        sqlite_backup.check(path)
    assert path.read_bytes() == before


def test_a_text_of_ours_that_is_no_utf8_is_no_damage(database: Database) -> None:
    with pytest.raises(UnicodeDecodeError), database.read():
        b"ours \x99".decode()


@pytest.mark.sqlite
def test_of_a_damaged_file_the_newest_copy_is_named(tmp_path: Path) -> None:
    path = tmp_path / "crystal [1].db"
    path.write_bytes(b"no database" * 1_000)
    for stamp in ("20260301T100000000000", "20260302T100000000000", "20251231T100000000000"):
        path.with_name(f"{path.name}.{stamp}.bak").touch()
    (tmp_path / "crystal.db.20270101T000000000000.bak").touch()
    database = Database(URL.create("sqlite", database=str(path)))
    with pytest.raises(DatabaseUnavailable) as caught, database.read():
        pass
    database.close()
    newest = f"{path.name}.20260302T100000000000.bak"
    assert f"(the newest beside it is {newest})" in caught.value.message
    assert str(tmp_path) not in caught.value.message


@pytest.mark.sqlite
def test_on_a_full_disk_nothing_is_stored_and_the_rest_can_be_read(database: Database) -> None:
    with database.write() as connection:
        add_tag(connection, "before")
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(DatabaseUnavailable, match="disk is full"), database.write() as connection:
        for number in range(400):
            add_tag(connection, f"{number} " + "x" * 200)
    assert count_tags(database) == 1
    with database.write() as connection:
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 1_000}")
        add_tag(connection, "after")
    assert count_tags(database) == 2
    assert idle_connections(database)


@pytest.mark.sqlite
def test_a_page_written_over_is_called_damaged(database: Database) -> None:
    with database.write() as connection:
        for number in range(400):
            add_tag(connection, f"{number} " + "x" * 200)
    database.close()
    assert database.path is not None
    content = database.path.read_bytes()
    pages = [content[start : start + 4096] for start in range(0, len(content), 4096)]
    # The name stands in the table and in its index.
    content = b"".join(b"\xee" * 4096 if b"300 x" in page else page for page in pages)
    database.path.write_bytes(content)
    with (
        pytest.raises(DatabaseUnavailable, match="damaged; restore a backup"),
        database.read() as connection,
    ):
        connection.execute(text("SELECT sum(length(name)) FROM tags")).all()
    assert idle_connections(database)


def test_an_older_form_is_told_apart(database: Database) -> None:
    with database.write() as connection:
        connection.execute(text("DROP TABLE index_state"))
    with pytest.raises(DatabaseUnavailable, match="older form"), database.read() as connection:
        changes.state(connection)


@pytest.mark.sqlite
def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'nowhere' / 'crystal.db'}")
    with pytest.raises(DatabaseUnavailable, match="check that its folder exists"):
        count_tags(database)


@pytest.mark.parametrize(
    "url",
    ["", "crystal.db", "oracle://host/x", "postgresql+nosuch://user:hush@host/x", "sqlite://",
     "sqlite:///:memory:"],
    ids=["empty", "no-url", "no-driver", "unknown-driver", "memory", "named-memory"],
)  # fmt: skip
def test_a_url_that_cannot_be_opened_names_the_setting(url: str) -> None:
    with pytest.raises(ConfigurationError, match="database_url") as caught:
        Database(url)
    assert "hush" not in str(caught.value)


@pytest.mark.sqlite
@pytest.mark.parametrize("name", ["what?", "50%20off", "a#b", "笔记 notes", "semi;colon&more=1"])
def test_the_data_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    build(make_settings(tmp_path / name)).close()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name / "crystal.db").is_file()


def test_waiting_for_a_connection_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "POOL_SIZE", 1)
    monkeypatch.setattr(engine, "POOL_TIMEOUT_SECONDS", 0.05)
    database = Database(DATABASES.empty(tmp_path))
    with database.read(), database.read():
        with pytest.raises(DatabaseUnavailable, match="Every connection"), database.read():
            raise AssertionError("there was a connection more")
        with pytest.raises(DatabaseUnavailable, match="Every connection"), database.write():
            raise AssertionError("there was a connection more")
    with database.write():
        pass
    database.close()


@pytest.mark.sqlite
def test_every_connection_keeps_foreign_keys_and_the_log(database: Database) -> None:
    for _ in range(2):
        with database.read() as first, database.read() as second, database.write() as third:
            for connection in (first, second, third):
                assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 1
                assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        database.close()


@pytest.mark.sqlite
def test_foreign_keys_are_back_after_a_migration(database: Database) -> None:
    with pytest.raises(ValueError), database.write_schema() as connection:
        assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 0
        raise ValueError
    with database.write() as connection:
        assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 1
