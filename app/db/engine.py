"""Connections: how a database is opened, and what a read and a write transaction are.

Owns the engine and its pragmas. Must not know any table.
"""

from __future__ import annotations

import glob
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DBAPIError,
    InterfaceError,
    NoSuchModuleError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.db import postgresql
from app.db.versions import Version, Versions
from app.errors import ConfigurationError, DatabaseUnavailable, InvalidBody
from app.sqlite import DamagedSchema, readable_errors

BUSY_TIMEOUT_SECONDS = 10
POOL_SIZE = 20
POOL_TIMEOUT_SECONDS = 30
"""How long a transaction waits for a connection when all are in use."""

ROWS_AT_ONCE = 32
"""Rows of one INSERT of SQLite. Each number of rows is a statement of its own, and a connection
keeps hundreds of statements prepared, with what was last bound to them."""

BACKUP_SUFFIX = ".bak"
"""How the names end of the copies that a SQLite file is given before an upgrade."""

SQLITE_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA temp_store=MEMORY",
)


class Database:
    """One database: hands out read snapshots and serialised write transactions."""

    def __init__(self, url: str | URL) -> None:
        """Open lazily; no file is touched before the first transaction.

        Raises:
            ConfigurationError: the URL is not one that SQLAlchemy can open here.
        """
        self.engine = _make_engine(url)
        self._readers = _reading(self.engine)
        self._versions = Versions(self.engine)
        self._write_lock = threading.Lock()

    @property
    def is_sqlite(self) -> bool:
        """Tell whether this is a SQLite database."""
        return self.engine.dialect.name == "sqlite"

    @cached_property
    def path(self) -> Path | None:
        """The file of a SQLite database, None for any other and for one in memory."""
        name = self.engine.url.database
        return Path(name) if self.is_sqlite and name else None

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open one snapshot: every statement inside sees the same data.

        Raises:
            DatabaseUnavailable: the database cannot be read.
        """
        with _mapped_errors(self.path), self._readers.connect() as connection, connection.begin():
            _begin_reading(connection)
            self._versions.begin(connection)
            yield connection

    def version(self, connection: Connection) -> Version | None:
        """Return what is equal for two snapshots only if they hold the same data.

        None where that is not known. A statement of the snapshot must have been read before.
        """
        return self._versions.of(connection)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open the one write transaction; commits at the end, rolls back on any error.

        Raises:
            DatabaseUnavailable: the database cannot be written.
            InvalidBody: a name is too long to be looked up (PostgreSQL).
        """
        with (
            self._write_lock,
            _mapped_errors(self.path),
            self.engine.connect() as connection,
            connection.begin(),
        ):
            _begin_writing(connection)
            yield connection

    @contextmanager
    def write_schema(self) -> Iterator[Connection]:
        """Open the one write transaction for a migration.

        Foreign keys are off in it: SQLite changes many things only by dropping a table and
        writing it anew, and all that refers to the table would go with it.

        Raises:
            DatabaseUnavailable: the database cannot be written.
        """
        with (
            self._write_lock,
            _mapped_errors(self.path),
            self.engine.connect() as connection,
            _without_foreign_keys(connection),
            connection.begin(),
        ):
            _begin_writing(connection)
            yield connection

    def close(self) -> None:
        """Close all pooled connections."""
        self._versions.close()
        self.engine.dispose()


def _make_engine(url: str | URL) -> Engine:
    try:
        parsed = postgresql.with_driver(make_url(url))
        if parsed.get_backend_name() == postgresql.BACKEND:
            return _make_postgresql(parsed)
        if parsed.get_backend_name() != "sqlite":
            raise ConfigurationError(
                "Setting database_url must be the URL of a SQLite or PostgreSQL database"
            )
        if parsed.database in (None, "", ":memory:"):
            raise ConfigurationError(
                "Setting database_url must name a file: every connection would have a database in "
                "memory of its own"
            )
        engine = create_engine(
            parsed,
            pool_size=POOL_SIZE,
            max_overflow=POOL_SIZE,
            pool_timeout=POOL_TIMEOUT_SECONDS,
            insertmanyvalues_page_size=ROWS_AT_ONCE,
            connect_args={"timeout": BUSY_TIMEOUT_SECONDS, "cached_statements": 256},
        )
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        raise ConfigurationError(
            "Setting database_url must be a SQLAlchemy URL whose driver is installed, "
            "such as sqlite:////home/me/crystal.db"
        ) from error
    event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _make_postgresql(url: URL) -> Engine:
    try:
        engine = create_engine(
            url,
            pool_size=POOL_SIZE,
            max_overflow=POOL_SIZE,
            pool_timeout=POOL_TIMEOUT_SECONDS,
            # A server that was started again must not cost a failure for each connection.
            pool_pre_ping=True,
        )
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"Setting database_url needs the driver of PostgreSQL: {postgresql.EXTRA}"
        ) from error
    postgresql.listen(engine, BUSY_TIMEOUT_SECONDS)
    return engine


def _reading(engine: Engine) -> Engine:
    """Return the engine as reads use it; with options it would take longer to begin."""
    if engine.dialect.name == postgresql.BACKEND:
        return engine.execution_options(isolation_level="REPEATABLE READ")
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # The driver would begin transactions only before writes, and reads would see no snapshot.
    connection.isolation_level = None
    for pragma in SQLITE_PRAGMAS:
        connection.execute(pragma)


# Not events of the engine: one of them alone would have each statement look for all others.
def _begin_reading(connection: Connection) -> None:
    if connection.dialect.name == postgresql.BACKEND:
        return
    # Nothing is locked yet, so there is no fault to be told of, and every search begins here.
    driver: Any = connection.connection.dbapi_connection
    driver.execute("BEGIN DEFERRED")


def _begin_writing(connection: Connection) -> None:
    if connection.dialect.name == postgresql.BACKEND:
        postgresql.take_turn(connection)
    else:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


@contextmanager
def _without_foreign_keys(connection: Connection) -> Iterator[None]:
    if connection.dialect.name != "sqlite":
        yield
        return
    # SQLite ignores the pragma inside a transaction, and SQLAlchemy would begin one for it.
    driver: Any = connection.connection.driver_connection
    driver.execute("PRAGMA foreign_keys=OFF")
    try:
        yield
    finally:
        driver.execute("PRAGMA foreign_keys=ON")


@contextmanager
def _mapped_errors(path: Path | None) -> Iterator[None]:
    try:
        with readable_errors():
            yield
    except DamagedSchema as error:
        raise DatabaseUnavailable(_damaged(path)) from error
    except PoolTimeout as error:
        raise DatabaseUnavailable(
            "Every connection to the database is in use; try again later"
        ) from error
    except (DatabaseError, InterfaceError) as error:
        if postgresql.is_too_long(error.orig):
            raise InvalidBody(postgresql.TOO_LONG) from error
        reason = _reason(error, path)
        if reason is None:
            raise
        raise DatabaseUnavailable(reason) from error


_LOCKED = "The database is locked by another program; try again, or stop that program"
_OPERATIONAL = (
    ("locked", _LOCKED),
    ("busy", _LOCKED),
    ("no such table", postgresql.OLDER_FORM),
    ("no such column", postgresql.OLDER_FORM),
    ("disk is full", "The disk is full, and nothing of this was stored; make room and try again"),
    ("", "The database cannot be used; check that its folder exists and may be written"),
)
"""Words of SQLite's errors, and what each means to a user; the first that fits holds."""


def _reason(error: DBAPIError, path: Path | None) -> str | None:
    """Say why the database cannot be used, None when the statement is at fault."""
    cause = str(error.orig)
    if postgresql.is_from(error.orig):
        return postgresql.reason(error.orig)
    if "malformed" in cause or "not a database" in cause:
        return _damaged(path)
    if not isinstance(error, OperationalError):
        return None
    return next(reason for words, reason in _OPERATIONAL if words in cause)


def _damaged(path: Path | None) -> str:
    """Say that a file is damaged, and name the newest of the copies that upgrades left beside it.

    Names alone: the sentence may leave over HTTP.
    """
    copies = sorted(path.parent.glob(f"{glob.escape(path.name)}.*{BACKUP_SUFFIX}")) if path else []
    newest = f" (the newest beside it is {copies[-1].name})" if copies else ""
    return f"The database file is damaged; restore a backup{newest} or run: crystal doctor"
