"""Checks of what the graph is made of: documents of chunks, and what notes mention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection

from app.db import checkup, entities, lexical, notes
from app.maintenance.doctor.checks import BATCH, Check, Patient, Steps, counted, found
from app.sync.entities import mentions_of
from app.sync.transaction import transaction

CHUNK_DOCUMENTS = "chunk_documents"
MENTIONS = "mentions"
ENTITIES_UNUSED = "entities_unused"


def chunk_documents(connection: Connection, steps: Steps) -> Iterator[Check]:
    """Count chunks of the active space without a document, and documents whose chunk is gone."""
    space_id = checkup.active_space(connection)
    missing = lexical.count_chunks_without(connection, space_id) if space_id else 0
    orphaned = lexical.count_of_no_chunk(connection)
    message = (
        f"{counted(missing, 'chunk')} not found by words, {counted(orphaned, 'document')} of "
        "chunks that are gone"
    )
    yield found(CHUNK_DOCUMENTS, missing + orphaned, message)


def write_chunk_documents(patient: Patient) -> int:
    """Write the documents that are missing, and drop those of chunks that are gone."""
    with transaction(patient.database) as unit:
        mended = lexical.count_of_no_chunk(unit.connection)
        unit.lost_chunks()
    while True:
        with transaction(patient.database) as unit:
            space_id = checkup.active_space(unit.connection)
            if not space_id:
                return mended
            chunk_ids = lexical.chunks_without(unit.connection, space_id, BATCH)
            if not chunk_ids:
                return mended
            unit.unworded(chunk_ids)
            mended += len(chunk_ids)


def mentions(connection: Connection, steps: Steps) -> Iterator[Check]:
    """Compare what notes mention with the entities that they have."""
    count = sum(len(_stale(connection, note_ids)) for note_ids in _batches(connection))
    message = f"{counted(count, 'note')} not joined to the tags, files and errors that it mentions"
    yield found(MENTIONS, count, message)
    unused = entities.all_forsaken(connection)
    message = f"{counted(len(unused), 'tag, file or error', 'tags, files or errors')} of no note"
    yield found(ENTITIES_UNUSED, len(unused), message)


def join_mentions(patient: Patient) -> int:
    """Join such notes to what they mention."""
    mended = 0
    with patient.database.read() as connection:
        for note_ids in _batches(connection):
            chosen = _stale(connection, note_ids)
            if chosen:
                with transaction(patient.database) as unit:
                    unit.reworded(chosen)
            mended += len(chosen)
    return mended


def remove_unused(patient: Patient) -> int:
    """Delete entities that no note has."""
    with transaction(patient.database) as unit:
        unused = entities.all_forsaken(unit.connection)
        unit.forsaken(unused)
    return len(unused)


def _batches(connection: Connection) -> Iterator[tuple[int, ...]]:
    last = 0
    while note_ids := checkup.note_ids_after(connection, last, BATCH):
        yield note_ids
        last = note_ids[-1]


def _stale(connection: Connection, note_ids: Sequence[int]) -> list[int]:
    had = entities.of_notes(connection, note_ids)
    return [
        note.id
        for note in notes.get_many(connection, note_ids)
        if set(mentions_of(note))
        != {(each.kind, each.name) for each in had.get(note.id, {}).values()}
    ]
