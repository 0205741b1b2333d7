"""A write transaction that ends with its entries in the change feed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection

from app.db import changes, chunks, entities, lexical, links, message_documents, notes, spaces
from app.db.engine import Database
from app.db.entities import ChunkText
from app.db.spaces import NoteState
from app.domain.changes import (
    CHANGED_MESSAGES,
    CHANGED_SPACE,
    CHANGED_VECTOR,
    OPERATION_ADD,
    OPERATION_REMOVE,
    Change,
)
from app.domain.chunks import KIND_CHUNK
from app.domain.notes import Note
from app.domain.spaces import Space
from app.sync import entities as entity_sync
from app.sync import links as link_sync
from app.sync import messages, words
from app.sync.entities import documents_changed, remove_forsaken, write_documents


class Transaction:
    """One write transaction and what it will tell the readers' memory."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._changes: list[Change] = []
        self._new: set[int] = set()
        self._reworded: set[int] = set()
        self._relinked: set[int] = set()
        self._loose_links: set[int] = set()
        self._stored: dict[int, Note] = {}
        self._spaces: dict[int, Space] = {}
        self._added_chunks: dict[int, ChunkText] = {}
        self._left_entities: set[int] = set()
        self._has_lost_chunks = False
        self._heard: set[str] = set()

    def add_vectors(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Store rows with vectors, and announce them.

        Chunks among them get their documents at the end of the transaction.
        """
        for row in chunks.add(self.connection, rows):
            self._changes.append(
                Change(CHANGED_VECTOR, OPERATION_ADD, row.id, row.space_id, row.kind)
            )
            if row.kind == KIND_CHUNK and row.note_id is not None:
                chunk = ChunkText(row.id, row.note_id, row.space_id, row.text)
                self._added_chunks[row.id] = chunk

    def removed_vectors(self, removed: Iterable[tuple[int, int, str]]) -> None:
        """Announce vectors that are gone, as (chunk id, space id, kind)."""
        for chunk_id, space_id, kind in removed:
            self._added_chunks.pop(chunk_id, None)
            self._changes.append(Change(CHANGED_VECTOR, OPERATION_REMOVE, chunk_id, space_id, kind))
            self._has_lost_chunks |= kind == KIND_CHUNK

    def created(self, stored: Iterable[Note]) -> None:
        """Tell of notes that this transaction stored; what is derived from them is written too.

        Nothing hangs on them from before, so nobody looks for what would have to go. They come as
        they are stored now, so nobody reads them either, unless they are reworded afterwards.
        """
        by_id = {note.id: note for note in stored}
        self._new.update(by_id)
        self.reworded(by_id)
        self._stored |= by_id

    def is_mirrored(self, state: NoteState) -> bool:
        """Tell whether this transaction stored a note with the status of a state already."""
        note = self._stored.get(state.note_id)
        return note is not None and note.embedding_status == state.status

    def space(self, space_id: int) -> Space:
        """Return a space; nobody else changes it before the end of the transaction."""
        if space_id not in self._spaces:
            self._spaces[space_id] = spaces.get(self.connection, space_id)
        return self._spaces[space_id]

    def known(self, note_ids: Iterable[int]) -> list[int]:
        """Return those of some notes that were there before the transaction."""
        return [note_id for note_id in note_ids if note_id not in self._new]

    def reworded(self, note_ids: Iterable[int]) -> None:
        """Have what is derived from the texts of notes written anew, last in the transaction.

        These are their lexical documents, their names and their links.
        """
        for note_id in note_ids:
            self._reworded.add(note_id)
            self._relinked.add(note_id)
            self._stored.pop(note_id, None)

    def relinked(self, note_ids: Iterable[int]) -> None:
        """Have only the names and links of notes settled, last in the transaction."""
        self._relinked.update(note_ids)

    def removed_documents(self, note_ids: Iterable[int]) -> None:
        """Delete the lexical documents of notes that are about to be deleted.

        Links that lead to them are settled last in the transaction.
        """
        ids = list(note_ids)
        self._reworded.difference_update(ids)
        self._relinked.difference_update(ids)
        self._loose_links.update(each.id for each in links.leading_to(self.connection, ids))
        self._changes += documents_changed(
            OPERATION_REMOVE, lexical.remove_of_notes(self.connection, ids)
        )
        for had in entities.of_notes(self.connection, ids).values():
            self._left_entities.update(had)

    def heard(self, conversation_ids: Iterable[str]) -> None:
        """Have the documents of conversations' messages written anew, last in the transaction."""
        self._heard.update(conversation_ids)

    def added_messages(self, document_ids: Iterable[int]) -> None:
        """Announce new documents of messages."""
        self._messages_changed(OPERATION_ADD, document_ids)

    def removed_messages(self, conversation_id: str) -> None:
        """Delete the documents of a conversation's messages."""
        self._heard.discard(conversation_id)
        removed = message_documents.remove(self.connection, conversation_id)
        self._messages_changed(OPERATION_REMOVE, removed)

    def _messages_changed(self, operation: str, document_ids: Iterable[int]) -> None:
        self._changes += [Change(CHANGED_MESSAGES, operation, each) for each in document_ids]

    def lost_chunks(self) -> None:
        """Delete the lexical documents of chunks that are gone, at the end of the transaction."""
        self._has_lost_chunks = True

    def unworded(self, chunk_ids: Iterable[int]) -> None:
        """Write the lexical documents of chunks that have none."""
        self._changes += write_documents(self.connection, chunk_ids)

    def forsaken(self, entity_ids: Iterable[int]) -> None:
        """Delete those of some entities that no note has."""
        self._changes += remove_forsaken(self.connection, entity_ids)

    def changed_space(self, space_id: int) -> None:
        """Announce that a space became active, or reads its cosines in another way."""
        self._spaces.clear()
        self._changes.append(Change(CHANGED_SPACE, OPERATION_ADD, space_id, space_id))
        self._has_lost_chunks = True

    def announce(self) -> None:
        """Write what is due and then the entries; the last statements before the commit."""
        if self._has_lost_chunks:
            self._changes += documents_changed(
                OPERATION_REMOVE, lexical.remove_of_no_chunk(self.connection)
            )
        written = self._written()
        fresh = sorted(self._added_chunks.values())
        self._write_words(written, fresh)
        if written or fresh or self._left_entities:
            self._changes += entity_sync.settle(
                self.connection, written, fresh, self._left_entities, self._new
            )
        if self._relinked or self._loose_links:
            link_sync.settle(self.connection, self._relinked, self._loose_links, self._new, written)
        for conversation_id in sorted(self._heard):
            gone, added = messages.rewrite(self.connection, conversation_id)
            self._messages_changed(OPERATION_REMOVE, gone)
            self._messages_changed(OPERATION_ADD, added)
        changes.append(self.connection, self._changes)

    def _written(self) -> tuple[Note, ...]:
        """Return the reworded notes that there are as they are stored, by id."""
        known = [self._stored[each] for each in self._reworded & self._stored.keys()]
        unknown = self._reworded - self._stored.keys()
        read = notes.get_many(self.connection, unknown) if unknown else ()
        return tuple(sorted((*known, *read), key=attrgetter("id")))

    def _write_words(self, written: Sequence[Note], fresh: Sequence[ChunkText]) -> None:
        """Write the documents of notes anew, and those of new chunks."""
        removed = words.remove(self.connection, self.known(self._reworded))
        drafts = [*words.documents(written), *entity_sync.documents(fresh)]
        self._changes += documents_changed(OPERATION_REMOVE, removed)
        self._changes += documents_changed(OPERATION_ADD, lexical.add(self.connection, drafts))


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
