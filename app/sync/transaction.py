"""A write transaction that ends with its entries in the change feed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

from app.db import changes
from app.db.engine import Database
from app.domain.changes import (
    CHANGED_SPACE,
    CHANGED_VECTOR,
    OPERATION_ADD,
    OPERATION_REMOVE,
    Change,
)


class Transaction:
    """One write transaction and what it will tell the readers' memory."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._changes: list[Change] = []

    def added_vectors(self, space_id: int, kind: str, chunk_ids: Iterable[int]) -> None:
        """Announce new vectors."""
        self._changes += [
            Change(CHANGED_VECTOR, OPERATION_ADD, chunk_id, space_id, kind)
            for chunk_id in chunk_ids
        ]

    def removed_vectors(self, removed: Iterable[tuple[int, int, str]]) -> None:
        """Announce vectors that are gone, as (chunk id, space id, kind)."""
        self._changes += [
            Change(CHANGED_VECTOR, OPERATION_REMOVE, chunk_id, space_id, kind)
            for chunk_id, space_id, kind in removed
        ]

    def changed_space(self, space_id: int) -> None:
        """Announce that a space became active, or reads its cosines in another way."""
        self._changes.append(Change(CHANGED_SPACE, OPERATION_ADD, space_id, space_id))

    def announce(self) -> None:
        """Write the entries; the last statement before the commit."""
        changes.append(self.connection, self._changes)


@contextmanager
def transaction(database: Database) -> Iterator[Transaction]:
    """Open a write transaction; everything in it commits together or not at all.

    Raises:
        DatabaseUnavailable: the database cannot be written.
    """
    with database.write() as connection:
        unit = Transaction(connection)
        yield unit
        unit.announce()
