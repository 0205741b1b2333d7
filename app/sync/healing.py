"""Mends at start what can be derived: lexical documents, names and links where there are none.

Owns the loop, in small transactions. A database of an older revision has notes and no documents,
or documents of notes alone, and no entities.
"""

from __future__ import annotations

from app.db import entities, lexical, message_documents, names
from app.db.engine import Database
from app.sync.transaction import transaction

BATCH = 200
CONVERSATIONS = 20


def fill_words(database: Database) -> int:
    """Write the missing lexical documents; return the number of notes."""
    with database.read() as connection:
        note_ids = lexical.notes_without(connection)
    for start in range(0, len(note_ids), BATCH):
        with transaction(database) as unit:
            unit.reworded(note_ids[start : start + BATCH])
    return len(note_ids)


def fill_fragments(database: Database, space_id: int) -> int:
    """Write what is missing of the fragments of notes and of a space's chunks; return how many."""
    with database.read() as connection:
        unmentioned = entities.notes_without(connection)
    for start in range(0, len(unmentioned), BATCH):
        with transaction(database) as unit:
            unit.reworded(unmentioned[start : start + BATCH])
    written = 0
    while chunk_ids := _unworded(database, space_id):
        with transaction(database) as unit:
            unit.unworded(chunk_ids)
        written += len(chunk_ids)
    return len(unmentioned) + written


def _unworded(database: Database, space_id: int) -> tuple[int, ...]:
    with database.read() as connection:
        return lexical.chunks_without(connection, space_id, BATCH)


def fill_links(database: Database) -> int:
    """Settle the names and links of notes that have no names; return the number of notes."""
    with database.read() as connection:
        note_ids = names.notes_without(connection)
    for start in range(0, len(note_ids), BATCH):
        with transaction(database) as unit:
            unit.relinked(note_ids[start : start + BATCH])
    return len(note_ids)


def fill_messages(database: Database) -> int:
    """Write the missing documents of messages; return the number of conversations."""
    with database.read() as connection:
        ids = message_documents.conversations_without(connection)
    for start in range(0, len(ids), CONVERSATIONS):
        with transaction(database) as unit:
            unit.heard(ids[start : start + CONVERSATIONS])
    return len(ids)
