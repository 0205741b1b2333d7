"""Two snapshots with the same version hold the same data; a commit of anybody makes another."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from app.db import changes, migrate
from app.db.engine import Database
from app.db.versions import Version
from tests.support.application import recorded_statements

ADD = text("INSERT INTO tags (name) VALUES (:name)")


@pytest.fixture
def other(database: Database) -> Iterator[Database]:
    """Another opening of the same database, as another process has it."""
    opened = Database(database.engine.url)
    yield opened
    opened.close()


def add(database: Database, name: str) -> None:
    with database.write() as connection:
        connection.execute(ADD, {"name": name})


def version_in(database: Database, connection: Connection) -> Version | None:
    changes.state(connection)
    return database.version(connection)


def version(database: Database) -> Version | None:
    with database.read() as connection:
        return version_in(database, connection)


@pytest.mark.sqlite
def test_it_stays_while_nothing_is_committed(database: Database, other: Database) -> None:
    first = version(database)
    assert first is not None
    with other.read() as connection:
        changes.state(connection)
        assert version(database) == first
    with database.read() as one, database.read() as two:
        assert version_in(database, one) == version_in(database, two) == first
    with pytest.raises(RuntimeError), database.write() as connection:
        connection.execute(text("SELECT count(*) FROM tags"))
        raise RuntimeError
    assert version(database) is not None


@pytest.mark.sqlite
def test_a_commit_of_anybody_makes_another(database: Database, other: Database) -> None:
    seen = [version(database)]
    for number, writer in enumerate((database, other, database, other)):
        add(writer, f"tag {number}")
        seen.append(version(database))
    assert None not in seen
    assert len(set(seen)) == len(seen)


@pytest.mark.sqlite
def test_an_old_snapshot_never_has_the_version_of_a_new_one(
    database: Database, other: Database
) -> None:
    with database.read() as old:
        changes.state(old)
        add(other, "mine")
        newest = version(database)
        assert newest is not None
        assert database.version(old) != newest
    assert version(database) == newest


@pytest.mark.sqlite
def test_it_goes_on_after_the_database_was_closed(database: Database) -> None:
    first = version(database)
    database.close()
    assert version(database) is not None
    add(database, "mine")
    assert version(database) != first


def test_what_is_told_costs_no_statement_and_no_fault(database: Database) -> None:
    with recorded_statements(database) as statements:
        found = version(database)
    assert len(statements) == 1
    assert (found is not None) is database.is_sqlite


@pytest.mark.sqlite
def test_a_locked_database_tells_nothing_and_keeps_nobody_waiting(database: Database) -> None:
    assert database.path is not None
    database.close()
    with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        # Without the journal beside the file, a writer keeps readers out.
        other.execute("PRAGMA journal_mode=DELETE")
        other.execute("BEGIN EXCLUSIVE")
        assert database._versions._latest() is None
        other.execute("ROLLBACK")
        assert database._versions._latest() is not None


@pytest.mark.sqlite
def test_another_file_in_the_place_is_watched(database: Database, tmp_path: Path) -> None:
    """As a restore leaves one that moves a damaged database away with its side files."""
    assert database.path is not None
    seen = [version(database)]
    database.engine.dispose()
    (tmp_path / "aside").mkdir()
    for part in tmp_path.glob(f"{database.path.name}*"):
        part.replace(tmp_path / "aside" / part.name)
    replaced = Database(database.engine.url)
    migrate.upgrade(replaced)
    seen.append(version(database))
    for number in range(2):
        add(replaced, f"new {number}")
        seen.append(version(database))
    replaced.close()
    assert None not in seen
    assert len(set(seen)) == len(seen)
