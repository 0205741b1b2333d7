"""What PostgreSQL needs to behave as SQLite does here: its driver, sessions, turns of writers.

Owns the session's settings and the lock that every write transaction begins with. Must not know
any table.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import URL, Connection, Engine, event

from app.errors import DatabaseUnavailable

BACKEND = "postgresql"
DRIVER = "postgresql+psycopg"
EXTRA = "pip install 'chatcrystal-search[postgresql]'"

OLDER_FORM = "The database has an older form; restart the server, which upgrades it"

TOO_LONG = (
    "A tag, project, path or id in this is too long for PostgreSQL, which looks up names of 2,700 "
    "bytes at most; nothing of it was stored"
)

WRITERS = 0x6372797374616C
"""Number of the advisory lock that the one writer of a database holds, "crystal" in ASCII."""


def with_driver(url: URL) -> URL:
    """Name the driver in a URL that leaves it open, as those of hosting services do."""
    return url.set(drivername=DRIVER) if url.drivername in (BACKEND, "postgres") else url


def listen(engine: Engine, lock_timeout_seconds: int) -> None:
    """Have every connection prepared."""

    def prepare(connection: Any, _record: object) -> None:
        # Committed, or the first rollback would undo them.
        connection.execute(f"SET lock_timeout = '{lock_timeout_seconds}s'")
        connection.execute("SET client_encoding = 'UTF8'")
        connection.commit()

    event.listen(engine, "connect", prepare)


def is_from(cause: BaseException | None) -> bool:
    """Tell whether the driver of PostgreSQL raised an exception."""
    return hasattr(cause, "sqlstate")


def is_too_long(cause: BaseException | None) -> bool:
    """Tell whether a value was refused because its index takes no value of that length."""
    return getattr(cause, "sqlstate", None) == _PROGRAM_LIMIT_EXCEEDED


def reason(cause: Any) -> str | None:
    """Say what the driver's exception means to who runs the server; None for a fault of ours."""
    if cause.sqlstate is None:
        # Nobody answered, or the driver would not send what it was given.
        return None if type(cause).__name__ in _REFUSED_BY_DRIVER else _UNREACHABLE
    return next((text for state, text in _REASONS if cause.sqlstate.startswith(state)), None)


_PROGRAM_LIMIT_EXCEEDED = "54000"
_REFUSED_BY_DRIVER = ("DataError", "ProgrammingError", "NotSupportedError")
_UNREACHABLE = (
    "The PostgreSQL server cannot be reached; check that it runs and setting database_url"
)
_REASONS = (
    ("08", _UNREACHABLE),
    ("57P", _UNREACHABLE),
    ("28", "PostgreSQL refuses the user or password of setting database_url"),
    ("3D", "PostgreSQL has no database of the name in setting database_url; make it: createdb"),
    ("42501", "PostgreSQL refuses what the user of setting database_url may not do"),
    ("42P01", OLDER_FORM),
    ("42703", OLDER_FORM),
    ("25006", "The PostgreSQL server only reads; setting database_url must name one that writes"),
    ("55P03", "The database is locked by another program; try again, or stop that program"),
    ("40", "The database is being changed by another program; try again"),
    ("53", "The PostgreSQL server has no connection, memory or disk space left"),
)


def take_turn(connection: Connection) -> None:
    """Have a write transaction wait for its turn.

    Two writers at once would each miss what the other reads and writes; SQLite has one at a time.

    Raises:
        DatabaseUnavailable: the server cannot be reached, or another writer takes too long.
    """
    driver: Any = connection.connection.driver_connection
    try:
        driver.execute(f"SELECT pg_advisory_xact_lock({WRITERS})")
    except connection.dialect.loaded_dbapi.Error as error:
        # The library does not wrap what is raised here.
        raise DatabaseUnavailable(reason(error) or _UNREACHABLE) from error
