"""Checks of lexical documents: each note has one, of the text that it has now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlalchemy import Connection

from app.db import checkup, notes
from app.lexical.documents import KIND_ROOT, postings_of
from app.maintenance.doctor.checks import BATCH, Check, Patient, Steps, counted, found
from app.sync.transaction import transaction
from app.sync.words import texts_of

DOCUMENTS_MISSING = "documents_missing"
DOCUMENTS_STALE = "documents_stale"
DOCUMENTS_ORPHANED = "documents_orphaned"


def documents(connection: Connection, steps: Steps) -> Iterator[Check]:
    """Compare the stored documents with what the texts of the notes give now."""
    missing = stale = 0
    for note_ids in _batches(connection):
        missing += len(_missing(connection, note_ids))
        stale += len(_stale(connection, note_ids))
        steps.add(len(note_ids))
    message = f"{counted(missing, 'note')} not found by words: without lexical documents"
    yield found(DOCUMENTS_MISSING, missing, message)
    message = f"{counted(stale, 'note')} with lexical documents of another text"
    yield found(DOCUMENTS_STALE, stale, message)
    orphaned = checkup.documents_of_no_note(connection)
    message = f"{counted(orphaned, 'lexical document')} of notes that are gone"
    yield found(DOCUMENTS_ORPHANED, orphaned, message)


def rewrite(patient: Patient) -> int:
    """Write every document that is missing or of another text; return the number of notes."""
    return write_missing(patient) + rewrite_stale(patient)


def write_missing(patient: Patient) -> int:
    """Write the documents of notes that have none."""
    return _rewritten(patient, _missing)


def rewrite_stale(patient: Patient) -> int:
    """Write the documents anew that are of another text."""
    return _rewritten(patient, _stale)


def _rewritten(
    patient: Patient, choose: Callable[[Connection, Sequence[int]], Sequence[int]]
) -> int:
    mended = 0
    with patient.database.read() as connection:
        for note_ids in _batches(connection):
            chosen = choose(connection, note_ids)
            if chosen:
                with transaction(patient.database) as unit:
                    unit.reworded(chosen)
            mended += len(chosen)
    return mended


def _batches(connection: Connection) -> Iterator[tuple[int, ...]]:
    last = 0
    while note_ids := checkup.note_ids_after(connection, last, BATCH):
        yield note_ids
        last = note_ids[-1]


def _missing(connection: Connection, note_ids: Sequence[int]) -> list[int]:
    stored = checkup.postings(connection, KIND_ROOT, note_ids)
    return [note_id for note_id in note_ids if note_id not in stored]


def _stale(connection: Connection, note_ids: Sequence[int]) -> list[int]:
    """Return the notes whose documents are not the one of their text."""
    stored = checkup.postings(connection, KIND_ROOT, note_ids)
    return [
        note.id
        for note in notes.get_many(connection, stored)
        if stored[note.id] != [postings_of(texts_of(note))]
    ]
