"""Mends at start what can be derived: lexical documents of notes that have none.

Owns the loop, in small transactions. A database of an older revision has notes and no documents.
"""

from __future__ import annotations

from app.db import lexical
from app.db.engine import Database
from app.sync.transaction import transaction

BATCH = 200


def fill_words(database: Database) -> int:
    """Write the missing lexical documents; return the number of notes."""
    with database.read() as connection:
        note_ids = lexical.notes_without(connection)
    for start in range(0, len(note_ids), BATCH):
        with transaction(database) as unit:
            unit.reworded(note_ids[start : start + BATCH])
    return len(note_ids)
