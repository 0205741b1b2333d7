"""A write transaction that ends with its entries in the change feed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

from app.db import changes, lexical
from app.db.engine import Database
from app.domain.changes import (
    CHANGED_DOCUMENT,
    CHANGED_SPACE,
    CHANGED_VECTOR,
    OPERATION_ADD,
    OPERATION_REMOVE,
    Change,
)
from app.sync import words


class Transaction:
    """One write transaction and what it will tell the readers' memory."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._changes: list[Change] = []
        self._reworded: set[int] = set()

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

    def reworded(self, note_ids: Iterable[int]) -> None:
        """Have the lexical documents of notes written anew at the end of the transaction."""
        self._reworded.update(note_ids)

    def removed_documents(self, note_ids: Iterable[int]) -> None:
        """Delete the lexical documents of notes that are about to be deleted."""
        ids = list(note_ids)
        self._reworded.difference_update(ids)
        self._documents_changed(lexical.remove_of_notes(self.connection, ids), ())

    def _documents_changed(self, removed: Iterable[int], added: Iterable[int]) -> None:
        self._changes += [
            Change(CHANGED_DOCUMENT, operation, document_id)
            for operation, ids in ((OPERATION_REMOVE, removed), (OPERATION_ADD, added))
            for document_id in ids
        ]

    def changed_space(self, space_id: int) -> None:
        """Announce that a space became active, or reads its cosines in another way."""
        self._changes.append(Change(CHANGED_SPACE, OPERATION_ADD, space_id, space_id))

    def announce(self) -> None:
        """Write what is due and then the entries; the last statements before the commit."""
        if self._reworded:
            self._documents_changed(*words.rewrite(self.connection, self._reworded))
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
