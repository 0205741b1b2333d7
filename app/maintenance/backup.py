"""Backups of a database while servers use it, and the way back.

Owns what is kept of a database that a backup replaces. A backup is one SQLite file, also that of
a PostgreSQL database; settings are not in it.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile

from sqlalchemy import URL, make_url

from app.db import sqlite_backup
from app.errors import Conflict, DatabaseUnavailable
from app.maintenance import copy

_SIDE_FILES = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Backup:
    """What was copied, rows by table; ``kept`` is where the database of before is, if any was."""

    path: str
    rows: dict[str, int]
    kept: str | None = None


def back_up(database: str | URL, target: Path) -> Backup:
    """Copy a database into a new file that only its owner reads, and read that back.

    Raises:
        Conflict: there is something at the target.
        DatabaseUnavailable: the database or the target cannot be used.
    """
    if target.exists():
        raise Conflict(f"{target} exists already; name another file")
    with _beside(target) as fresh:
        source = _file_of(database)
        if source is None:
            with copy.opened(database, copy.url_of(str(fresh))) as copying:
                rows = copying.run().rows
        else:
            _refuse_absent(source)
            rows = sqlite_backup.copy(source, fresh)
        sqlite_backup.settle(fresh)
        sqlite_backup.check(fresh)
        _put(fresh, target)
    return Backup(str(target), rows)


def restore(backup: Path, database: str | URL, *, is_forced: bool) -> Backup:
    """Put a backup in the place of a database, which is kept beside it.

    Processes that run load everything anew, since the epoch is another one.

    Raises:
        Conflict: there is a database, and it is not to be replaced.
        DatabaseUnavailable: the backup is damaged or none of ours; nothing has changed.
    """
    _refuse_absent(backup)
    sqlite_backup.check(backup)
    target = _file_of(database)
    if target is None:
        with copy.opened(copy.url_of(str(backup)), database) as copying:
            return Backup(str(backup), copying.run().rows)
    if target.exists() and not is_forced:
        raise Conflict(f"There is a database at {target}; with --force it is replaced, and kept")
    _make_folder(target)
    with _beside(target) as fresh:
        rows = sqlite_backup.copy(backup, fresh)
        sqlite_backup.settle(fresh, uuid.uuid4().hex)
        kept = _kept(target) if target.exists() else None
        if target.exists():
            # Into the file, not in its place: processes that have it open follow.
            sqlite_backup.copy(fresh, target)
        else:
            _put(fresh, target)
    return Backup(str(backup), rows, str(kept) if kept else None)


def _kept(target: Path) -> Path:
    """Keep a database under another name; a damaged one is moved there as it is."""
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    kept = target.with_name(f"{target.name}.replaced-{moment}-{uuid.uuid4().hex[:4]}")
    try:
        with _beside(kept) as fresh:
            sqlite_backup.copy(target, fresh)
            sqlite_backup.settle(fresh)
            _put(fresh, kept)
    except DatabaseUnavailable:
        for suffix in ("", *_SIDE_FILES):
            part = target.with_name(f"{target.name}{suffix}")
            if part.exists():
                part.replace(kept.with_name(f"{kept.name}{suffix}"))
    return kept


def _file_of(database: str | URL) -> Path | None:
    """Return the file of a SQLite database, None for another system."""
    url = make_url(database)
    if url.get_backend_name() != "sqlite" or not url.database:
        return None
    return Path(url.database)


def _refuse_absent(path: Path) -> None:
    if not path.is_file():
        raise DatabaseUnavailable(f"There is no database at {path}")


def _make_folder(target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatabaseUnavailable(f"{target.parent} cannot be made: {error.strerror}") from error


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """Give an empty file next to a target, of mode 0600, which is gone in the end."""
    try:
        with NamedTemporaryFile(dir=target.parent, prefix=".backup-", delete=False) as handle:
            fresh = Path(handle.name)
    except OSError as error:
        raise DatabaseUnavailable(f"{target} cannot be written: {error.strerror}") from error
    try:
        yield fresh
    finally:
        for suffix in ("", *_SIDE_FILES):
            fresh.with_name(f"{fresh.name}{suffix}").unlink(missing_ok=True)


def _put(fresh: Path, target: Path) -> None:
    """Give a finished file its name, on the disk before anybody sees it."""
    try:
        with fresh.open("rb") as handle:
            os.fsync(handle.fileno())
        # A link, not a rename: it fails where somebody else made the target meanwhile.
        os.link(fresh, target)
    except OSError as error:
        raise DatabaseUnavailable(f"{target} cannot be written: {error.strerror}") from error
