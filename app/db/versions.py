"""What tells that two snapshots hold the same data, so that what was read may be kept.

Owns SQLite's way of telling it; PostgreSQL has none that would not cost a statement. Must not know
any table.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from threading import Lock
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine

_BEGUN = "version at begin"
_COMMITS = "PRAGMA data_version"


File = tuple[int, int]
"""Device and number of a file."""


class Version(NamedTuple):
    """How many commits a connection was told of, and which one that was."""

    opening: int
    commits: int


class Versions:
    """The versions of one database.

    SQLite tells a connection when another one has committed, whichever program that is of. One
    connection that never writes is told of all. Where it was told of nothing between the begin of
    a snapshot and now, the snapshot is the newest.
    """

    def __init__(self, engine: Engine) -> None:
        """Watch the database of an engine, once a snapshot begins."""
        self._engine = engine
        self._is_told = engine.dialect.name == "sqlite"
        self._watching: Any = None
        self._file: File | None = None
        self._openings = 0
        self._lock = Lock()

    def begin(self, connection: Connection) -> None:
        """Remember where a snapshot begins, before its first statement."""
        connection.info[_BEGUN] = self._latest()

    def of(self, connection: Connection) -> Version | None:
        """Return what is equal for two snapshots only if they hold the same data.

        None where it is not known. Call it after the first statement of the snapshot.
        """
        latest = self._latest()
        return latest if latest == connection.info.get(_BEGUN) else None

    def close(self) -> None:
        """Close the connection that watches; the next snapshot opens another one."""
        with self._lock:
            self._stop_watching()

    def _stop_watching(self) -> None:
        if self._watching is not None:
            self._watching.close()
            self._watching = None

    def _latest(self) -> Version | None:
        if not self._is_told:
            return None
        # A fault will be told by the statements of the snapshot itself.
        with self._lock, suppress(sqlite3.Error):
            file = _file_at(self._engine.url.database)
            if self._watching is None or file != self._file:
                # Another file has taken the place: a damaged one was moved away and restored.
                self._stop_watching()
                self._watching, self._file = self._opened(), file
                # Every connection counts from its own beginning.
                self._openings += 1
            # Read to its end, or the connection would stay at this moment.
            [(commits,)] = self._watching.execute(_COMMITS).fetchall()
            return Version(self._openings, commits)
        return None

    def _opened(self) -> Any:
        """Open a connection beside the pool; any thread may ask it, and none waits for a lock."""
        dialect = self._engine.dialect
        arguments, options = dialect.create_connect_args(self._engine.url)
        return dialect.connect(*arguments, **{**options, "check_same_thread": False, "timeout": 0})


def _file_at(path: str | None) -> File | None:
    try:
        found = os.stat(path or "")
    except OSError:
        return None
    return found.st_dev, found.st_ino
