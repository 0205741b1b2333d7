"""Checks of the database as such: its file, its schema, its references, its change feed."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection

from app.db import checkup, chunks, lexical, migrate
from app.db.engine import Database
from app.errors import DatabaseUnavailable
from app.maintenance.doctor.checks import BATCH, Check, Patient, Steps, counted, found
from app.sync.transaction import transaction

INTEGRITY = "integrity"
SCHEMA = "schema"
REFERENCES = "references"
CHANGE_FEED = "change_feed"
MOST_LINES = 100
"""Of a damaged file so many faults are counted."""

_CONTENT = tuple(table.name for table in checkup.CONTENT)


def integrity(database: Database) -> Check:
    """Tell whether SQLite finds its file in order.

    Raises:
        DatabaseUnavailable: the file cannot be read for another reason, such as a lock.
    """
    try:
        with database.read() as connection:
            lines = checkup.damage(connection, MOST_LINES)
    except DatabaseUnavailable as error:
        if "damaged" not in error.message:
            raise
        lines = ["it is no database that SQLite can read"]
    message = f"The file {database.path} is damaged; restore a backup" if lines else ""
    return found(INTEGRITY, len(lines), f"{message}: {' '.join(lines[:1])}")


def schema(database: Database) -> Check:
    """Tell whether the tables are those of this version.

    Raises:
        DatabaseUnavailable: the tables are another program's.
    """
    current, newest = migrate.revision(database), migrate.newest()
    if current == newest:
        return Check(SCHEMA, True)
    if migrate.is_known(current):
        message = f"The tables are at revision {current}, this version has {newest}"
    else:
        message = f"The tables are at revision {current}, which only a newer version knows"
    return Check(SCHEMA, False, 1, message)


def upgrade(patient: Patient) -> int:
    """Bring an older schema up to date, after a copy of the file."""
    if not migrate.is_known(migrate.revision(patient.database)):
        return 0
    migrate.upgrade(patient.database)
    return 1


def references(connection: Connection, steps: Steps) -> Iterator[Check]:
    """Look for rows that belong to a row that is gone."""
    by_table = checkup.dangling(connection)
    count = sum(by_table.values())
    listed = ", ".join(f"{number} of {table}" for table, number in by_table.items())
    message = f"{counted(count, 'row')} whose owner is gone: {listed}"
    if any(table in by_table for table in _CONTENT):
        message += f"; those of {' and '.join(_CONTENT)} are left for you to decide on"
    yield found(REFERENCES, count, message)


def remove_dangling(patient: Patient) -> int:
    """Delete such rows, content excepted; processes forget what they hold of them."""
    removed = remove_of_gone_notes(patient)
    with transaction(patient.database) as unit:
        removed += lexical.release_gone_chunks(unit.connection)
        unit.lost_chunks()
        return removed + checkup.remove_dangling(unit.connection)


def remove_of_gone_notes(patient: Patient) -> int:
    """Delete vectors and lexical documents of notes that are gone; return how many notes."""
    removed = 0
    while True:
        with transaction(patient.database) as unit:
            note_ids = checkup.notes_gone(unit.connection, BATCH)
            if not note_ids:
                return removed
            unit.removed_vectors(chunks.remove_of_notes(unit.connection, note_ids))
            unit.removed_documents(note_ids)
        removed += len(note_ids)


def change_feed(connection: Connection, steps: Steps) -> Iterator[Check]:
    """Tell whether the feed stands where its newest entry is."""
    state, newest = checkup.feed(connection)
    if state is None:
        yield Check(CHANGE_FEED, False, 1, "The change feed does not say where it stands")
        return
    expected = state.trimmed_to if newest is None else newest
    is_wrong = state.sequence != expected or state.sequence < state.trimmed_to
    message = f"The change feed stands at {state.sequence}, its newest entry is {expected}"
    yield found(CHANGE_FEED, int(is_wrong), message)


def begin_history(patient: Patient) -> int:
    """Begin the feed anew, upon which every process reads its indexes anew."""
    with transaction(patient.database) as unit:
        checkup.begin_history(unit.connection)
    return 1
