"""What an export reads: one snapshot of the database, and the count of what was taken from it.

Owns the opening of the database. Must not know any form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import URL, Connection

from app.db import migrate, spaces
from app.db.engine import Database
from app.db.whole_tables import BATCH, sizes
from app.domain.spaces import Space
from app.errors import ExportFailed
from app.settings.values import EmbeddingSettings

Item = TypeVar("Item")
Progress = Callable[[int], None]
"""Called with how many rows were written so far."""


@dataclass(frozen=True, slots=True)
class Source:
    """The database at one moment; ``space`` is the active one, ``sizes`` counts rows by kind."""

    connection: Connection
    space: Space | None
    sizes: Mapping[str, int]
    embedding: EmbeddingSettings | None = None


class Tally:
    """Counts what was written, by kind, and tells how far the work is."""

    def __init__(self, on_progress: Progress) -> None:
        self.counts: Counter[str] = Counter()
        self._on_progress = on_progress
        self._done = self._told = 0

    def add(self, kind: str, number: int = 1) -> None:
        """Count some rows of a kind."""
        self.counts[kind] += number
        self._done += number
        if self._done >= self._told + BATCH:
            self._told = self._done
            self._on_progress(self._done)

    def counting(self, kind: str, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items, each counted once it is done with."""
        for item in items:
            yield item
            self.add(kind)


@contextmanager
def opened(url: str | URL) -> Iterator[Database]:
    """Open the database that an export reads, upgraded first if an older version wrote it.

    Raises:
        ConfigurationError: the URL cannot be opened here.
        DatabaseUnavailable: the database cannot be read.
        ExportFailed: there is none.
    """
    database = Database(url)
    try:
        if database.path is not None and not database.path.exists():
            raise ExportFailed(f"There is nothing to export: {database.path} does not exist")
        migrate.upgrade(database)
        yield database
    finally:
        database.close()


@contextmanager
def reading(database: Database, embedding: EmbeddingSettings | None = None) -> Iterator[Source]:
    """Open one snapshot of everything.

    Args:
        embedding: The configured provider, which a form may tell others of.

    Raises:
        DatabaseUnavailable: the database cannot be read.
    """
    with database.read() as connection:
        space = spaces.searching(connection)
        counted = sizes(connection, space.id if space else None)
        yield Source(connection, space, counted, embedding)
