"""SQLite databases of other programs, read without leaving a trace.

Owns how they are opened: read-only and immutable; beside a program that writes to one, a copy. Must
not know what is in them.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

_JOURNALS = ("-wal", "-journal")


def journals(path: Path) -> tuple[Path, ...]:
    """Return the files in which changes of a database may wait."""
    return tuple(path.with_name(f"{path.name}{ending}") for ending in _JOURNALS)


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database for reading.

    Raises:
        sqlite3.Error: it is none, or damaged.
        OSError: it cannot be read.
    """
    if any(_has_content(journal) for journal in journals(path)):
        # What waits in the journal is only seen by who may write.
        with tempfile.TemporaryDirectory(prefix="crystal-import-") as folder:
            copy = Path(folder, "copy.db")
            shutil.copyfile(path, copy)
            for source, target in zip(journals(path), journals(copy), strict=True):
                if source.exists():
                    shutil.copyfile(source, target)
            with closing(sqlite3.connect(copy)) as connection:
                yield connection
        return
    address = f"file:{quote(str(path))}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        yield connection


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def value_of(connection: sqlite3.Connection, table: str, key: str) -> bytes | str | None:
    """Return the value of a key in one of VS Code's tables."""
    row = connection.execute(f"SELECT value FROM {table} WHERE key = ?", (key,)).fetchone()
    return row[0] if row and isinstance(row[0], bytes | str) else None
