"""Copies of SQLite files, page by page, while others use them.

Owns SQLite's own way of copying. Must not know what the tables mean, the epoch excepted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from app.errors import DatabaseUnavailable
from app.sqlite import readable_errors

_WAIT_SECONDS = 30.0
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"


def copy(source: Path, target: Path) -> dict[str, int]:
    """Copy one moment of a file over another, which may be in use; return its rows by table.

    Raises:
        DatabaseUnavailable: one of them is damaged or locked, or the copy is not like its source.
    """
    with _mapped(source), _connected(source) as origin, _connected(target) as copied:
        # An open read transaction holds the moment, so that the rows counted are those copied.
        origin.execute("BEGIN")
        wanted = _counts(origin)
        origin.backup(copied)
        origin.execute("ROLLBACK")
        problem = _problem(copied)
        if problem is not None:
            raise DatabaseUnavailable(f"The copy of {source} is damaged: {problem}")
        if _counts(copied) != wanted:
            raise DatabaseUnavailable(f"The copy of {source} does not agree with it")
    return wanted


def check(path: Path) -> None:
    """Read a whole file.

    Raises:
        DatabaseUnavailable: it is damaged, or none of ours.
    """
    with _mapped(path), _connected(path, mode="ro") as connection:
        problem = _problem(connection)
        if problem is None and "index_state" not in _counts(connection):
            problem = "it is no database of this program"
    if problem is not None:
        raise DatabaseUnavailable(f"{path} cannot be used: {problem}")


def settle(path: Path, epoch: str | None = None) -> None:
    """Leave a file that stands by itself, without a log beside it, maybe of another epoch.

    Raises:
        DatabaseUnavailable: it cannot be written.
    """
    with _mapped(path), _connected(path) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        if epoch is not None:
            connection.execute("UPDATE index_state SET epoch = ?", (epoch,))


def _problem(connection: sqlite3.Connection) -> str | None:
    told: str = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if told != "ok":
        return told
    dangling = connection.execute("PRAGMA foreign_key_check").fetchone()
    return f"a row of {dangling[0]} refers to nothing" if dangling else None


def _counts(connection: sqlite3.Connection) -> dict[str, int]:
    names = [row[0] for row in connection.execute(_TABLES)]
    return {
        name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
        for name in sorted(names)
    }


@contextmanager
def _connected(path: Path, mode: str = "rwc") -> Iterator[sqlite3.Connection]:
    address = f"{path.resolve().as_uri()}?mode={mode}"
    with closing(
        sqlite3.connect(address, uri=True, timeout=_WAIT_SECONDS, isolation_level=None)
    ) as connection:
        yield connection


@contextmanager
def _mapped(path: Path) -> Iterator[None]:
    try:
        with readable_errors():
            yield
    except sqlite3.Error as error:
        raise DatabaseUnavailable(f"{path} cannot be used: {error}") from error
