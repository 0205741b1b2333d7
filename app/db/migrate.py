"""Brings a database to the newest revision, whatever it has now.

Owns the run of Alembic and the copy that a SQLite file is given before it changes.
"""

from __future__ import annotations

import shutil
import sqlite3
import uuid
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, insert, inspect, select

from app.db.engine import BACKUP_SUFFIX, Database
from app.db.models import index_state, metadata
from app.errors import DatabaseUnavailable

_PACKAGE = Path(__file__).parent.parent
_SHIPPED = _PACKAGE / "_migrations"
_CHECKOUT = _PACKAGE.parent / "alembic"


def upgrade(database: Database) -> str | None:
    """Create or upgrade the schema; return the old revision, None for an empty database.

    A SQLite file that has rows to lose is copied beside itself first.

    Raises:
        DatabaseUnavailable: the database was written by a newer version or another program, or
            its folder cannot be made.
    """
    if database.path is not None:
        _make_file(database.path)
    current = revision(database)
    if current != newest():
        _refuse_unknown(current)
        if current is not None and database.path is not None:
            back_up(database.path)
        with database.write_schema() as connection:
            command.upgrade(_config(connection), "head")
            _begin_history(connection)
    return current


def _make_file(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Notes are for their owner's eyes; SQLite gives its side files the same mode.
        path.touch(mode=0o600)
    except OSError as error:
        raise DatabaseUnavailable(
            f"The folder {path.parent} cannot be used: {error.strerror}"
        ) from error


def revision(database: Database) -> str | None:
    """Return the revision that a database is at, None for an empty one.

    Raises:
        DatabaseUnavailable: the tables are another program's.
    """
    with database.read() as connection:
        current = MigrationContext.configure(connection).get_current_revision()
        if current is None:
            _refuse_foreign(connection)
    return current


def newest() -> str | None:
    """Return the revision that this version leads to."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def is_known(current: str | None) -> bool:
    """Tell whether a revision is one of this version's; an empty database is none and known."""
    scripts = ScriptDirectory.from_config(_config()).walk_revisions()
    return current is None or current in {script.revision for script in scripts}


def _refuse_unknown(current: str | None) -> None:
    if not is_known(current):
        raise DatabaseUnavailable(
            f"The database is at revision {current}, which this version does not know; "
            "upgrade chatcrystal-search or use another data folder"
        )


def _refuse_foreign(connection: Connection) -> None:
    taken = metadata.tables.keys() & set(inspect(connection).get_table_names())
    if taken:
        raise DatabaseUnavailable(
            f"The database has a table {min(taken)} that is not ours; "
            "use another data folder, and import what is there"
        )


def _begin_history(connection: Connection) -> None:
    if connection.execute(select(index_state.c.id)).scalar() is None:
        connection.execute(
            insert(index_state).values(id=1, sequence=0, epoch=uuid.uuid4().hex, trimmed_to=0)
        )


def back_up(path: Path) -> Path:
    """Copy a SQLite file, its write-ahead log included, beside itself; return the copy."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    target = path.with_name(f"{path.name}.{stamp}{BACKUP_SUFFIX}")
    partial = target.with_suffix(".part")
    # Nobody else may read it while it grows, or when this process is killed meanwhile.
    partial.touch(mode=0o600)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(partial)) as copy:
        source.backup(copy)
    shutil.copymode(path, partial)
    return partial.replace(target)


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    folder = _SHIPPED if _SHIPPED.is_dir() else _CHECKOUT
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
