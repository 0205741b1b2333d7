"""The check of names and links: whether those stored are those of the texts."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection

from app.db import checkup
from app.maintenance.doctor.checks import BATCH, Check, Patient, Steps, counted, found
from app.sync.links import unsettled
from app.sync.transaction import transaction

LINKS = "links"


def settled(connection: Connection, steps: Steps) -> Iterator[Check]:
    """Compare the names and links of notes with those that are stored."""
    count = sum(len(unsettled(connection, note_ids)) for note_ids in _batches(connection))
    yield found(LINKS, count, f"{counted(count, 'note')} with names or links of another text")


def settle(patient: Patient) -> int:
    """Read the names and links of such notes anew."""
    mended = 0
    with patient.database.read() as connection:
        for note_ids in _batches(connection):
            chosen = unsettled(connection, note_ids)
            if chosen:
                with transaction(patient.database) as unit:
                    unit.relinked(chosen)
            mended += len(chosen)
    return mended


def _batches(connection: Connection) -> Iterator[tuple[int, ...]]:
    last = 0
    while note_ids := checkup.note_ids_after(connection, last, BATCH):
        yield note_ids
        last = note_ids[-1]
