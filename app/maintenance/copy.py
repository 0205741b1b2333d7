"""Copies a whole database into an empty one, of the same system or another.

Owns the order: refuse, copy, set the counters, read again and compare, commit. The target has
everything or nothing. Ids stay; the epoch is a new one, so that no process takes the copy for the
original. The source is only read, in one snapshot, so that servers may go on using it.
"""

from __future__ import annotations

import hashlib
import struct
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL, Connection, Table

from app.db import migrate, numbering, table_copy
from app.db.engine import Database
from app.db.models import index_state
from app.errors import Conflict, DatabaseUnavailable

Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class CopyReport:
    """What was copied: rows by table, and the SHA-256 of all of them, in hexadecimal."""

    rows: dict[str, int]
    digest: str


@dataclass(frozen=True, slots=True)
class Copying:
    """Two databases, the second of them empty, and how many rows there are to copy."""

    source: Connection
    target: Database
    total: int

    def run(self, advance: Advance = lambda _: None) -> CopyReport:
        """Copy everything and compare; ``advance`` is told how many rows are done so far.

        Raises:
            DatabaseUnavailable: a database cannot be used, a row of the source breaks a rule of
                the tables, or the copy does not agree with its source.
        """
        epoch = uuid.uuid4().hex
        with self.target.write() as connection:
            table_copy.forget_history(connection)
            wanted = _copied(self.source, connection, epoch, advance)
            for table in numbering.counted_tables():
                last = numbering.last_given(self.source, table)
                numbering.set_last(connection, table, last)
            found = _written(connection)
            if found != wanted:
                raise DatabaseUnavailable(
                    "The copy does not agree with its source, so nothing was kept of it"
                )
        return found


@contextmanager
def opened(source: str | URL, target: str | URL) -> Iterator[Copying]:
    """Open a source at one moment, and an empty target, given its tables now.

    Raises:
        ConfigurationError: a URL cannot be opened.
        Conflict: the target holds rows.
        DatabaseUnavailable: the source is not there or of another revision, or a database cannot
            be used.
    """
    with closing(Database(source)) as origin, closing(Database(target)) as copy:
        _refuse_unfit(origin)
        _prepare(copy)
        with copy.read() as connection:
            taken = table_copy.filled(connection)
        if taken:
            raise Conflict(
                f"The target is not empty: it has rows in {', '.join(taken)}; copy into a new one"
            )
        with origin.read() as connection:
            total = sum(table_copy.count(connection, each) for each in table_copy.tables())
            yield Copying(connection, copy, total)


def url_of(text: str) -> str | URL:
    """Read a database's URL, or the path of a SQLite file."""
    if "://" in text:
        return text
    return URL.create("sqlite", database=str(Path(text).expanduser()))


def _refuse_unfit(source: Database) -> None:
    if source.path is not None and not source.path.is_file():
        raise DatabaseUnavailable(f"There is no database at {source.path}")
    if migrate.revision(source) != migrate.newest():
        raise DatabaseUnavailable(
            "The source is not at the revision of this version; start a server of this version "
            "on it once, which upgrades it"
        )


def _prepare(target: Database) -> None:
    """Give an empty target its tables; one that has others is not touched."""
    if target.path is None or target.path.exists():
        current = migrate.revision(target)
        if current not in (None, migrate.newest()):
            raise Conflict("The target is not empty: it has tables of another version")
    migrate.upgrade(target)


def _copied(source: Connection, target: Connection, epoch: str, advance: Advance) -> CopyReport:
    """Copy all tables; return what the target must hold then."""
    rows: dict[str, int] = {}
    state = hashlib.sha256()
    done = 0
    for table in table_copy.tables():
        rows[table.name] = 0
        changed = {"epoch": epoch} if table is index_state else {}
        for stored in table_copy.batches(source, table):
            batch = [row | changed for row in stored]
            table_copy.add(target, table, batch)
            _digest(state, table, batch)
            rows[table.name] += len(batch)
            done += len(batch)
            advance(done)
    return CopyReport(rows, state.hexdigest())


def _written(target: Connection) -> CopyReport:
    """Read again what the target holds."""
    rows: dict[str, int] = {}
    state = hashlib.sha256()
    for table in table_copy.tables():
        rows[table.name] = table_copy.count(target, table)
        for batch in table_copy.batches(target, table):
            _digest(state, table, batch)
    return CopyReport(rows, state.hexdigest())


def _digest(state: hashlib._Hash, table: Table, batch: table_copy.Rows) -> None:
    """Add rows to a digest; values of different types or lengths cannot be taken for each other."""
    for row in batch:
        state.update(table.name.encode())
        for value in row.values():
            content = value if isinstance(value, bytes) else repr(value).encode()
            kind = type(value).__name__.encode()
            state.update(struct.pack("<B8sQ", len(kind), kind[:8], len(content)))
            state.update(content)
