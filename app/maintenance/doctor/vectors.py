"""Checks of vectors, and of what notes say of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from app.db import checkup, chunks, coverage, entities, spaces
from app.db.checkup import StoredVector
from app.domain.chunks import KIND_CHUNK
from app.domain.notes import STATUS_PENDING
from app.maintenance.doctor.checks import Check, Patient, Steps, counted, found
from app.sync.transaction import Transaction, transaction

SPACES = "spaces"
STATUSES = "statuses"
CHUNKS_MISSING = "chunks_missing"
VECTORS = "vectors"
CHUNKS_UNUSED = "chunks_unused"

LENGTH_TOLERANCE = 1e-3
"""How far the length of a vector may be from 1; rounding to float32 stays far below."""

_FLOAT_BYTES = 4


@dataclass(frozen=True, slots=True)
class Defects:
    """Ids of damaged vectors, by what is wrong with them; each once."""

    wrong_length: tuple[int, ...] = ()
    not_finite: tuple[int, ...] = ()
    not_unit: tuple[int, ...] = ()

    @property
    def ids(self) -> tuple[int, ...]:
        """All of them."""
        return self.wrong_length + self.not_finite + self.not_unit


def dimensions(connection: Connection, steps: Steps) -> Iterator[Check]:
    """Look for spaces none of whose vectors has their dimension, while all agree on another."""
    wrong = _wrong_dimensions(connection)
    message = f"{counted(len(wrong), 'space')} whose dimension is not that of the vectors"
    yield found(SPACES, len(wrong), message)


def correct_dimensions(patient: Patient) -> int:
    """Give such spaces the dimension of their vectors."""
    with transaction(patient.database) as unit:
        wrong = _wrong_dimensions(unit.connection)
        for space_id, dimension in wrong.items():
            spaces.set_dimension(unit.connection, space_id, dimension)
            unit.changed_space(space_id)
    return len(wrong)


def _wrong_dimensions(connection: Connection) -> dict[int, int]:
    known = checkup.dimensions(connection)
    return {
        space_id: least // _FLOAT_BYTES
        for space_id, (least, greatest) in checkup.lengths(connection).items()
        if space_id in known
        and least == greatest
        and least > 0
        and least % _FLOAT_BYTES == 0
        and least // _FLOAT_BYTES != known[space_id]
    }


def statuses(connection: Connection, steps: Steps) -> Iterator[Check]:
    """Compare what notes say of their vectors with their state in the active space."""
    count = checkup.statuses_out_of_step(connection)
    message = f"{counted(count, 'note')} not in step with the state in the active space"
    yield found(STATUSES, count, message)


def mirror_statuses(patient: Patient) -> int:
    """Give the notes the status that they have in the active space."""
    with transaction(patient.database) as unit:
        return checkup.mirror_statuses(unit.connection)


def missing_chunks(connection: Connection, steps: Steps) -> Iterator[Check]:
    """Look for notes that call themselves embedded and are not."""
    space_id = checkup.active_space(connection)
    broken = coverage.notes_without_chunks(connection, space_id, KIND_CHUNK) if space_id else ()
    message = f"{counted(len(broken), 'note')} said to be embedded without a vector"
    yield found(CHUNKS_MISSING, len(broken), message)


def make_pending(patient: Patient) -> int:
    """Have such notes embedded again."""
    with transaction(patient.database) as unit:
        space_id = checkup.active_space(unit.connection)
        if not space_id:
            return 0
        broken = coverage.notes_without_chunks(unit.connection, space_id, KIND_CHUNK)
        if broken:
            spaces.set_status(unit.connection, space_id, broken, STATUS_PENDING)
    return len(broken)


def unused_chunks(connection: Connection, steps: Steps) -> Iterator[Check]:
    """Count vectors that no search uses; they are no fault."""
    space_id = checkup.active_space(connection)
    count = checkup.chunks_of_others(connection, space_id) if space_id else 0
    message = f"{counted(count, 'vector')} of notes that wait to be embedded again; harmless"
    yield Check(CHUNKS_UNUSED, True, count, message if count else "")


def damaged_vectors(connection: Connection, steps: Steps) -> Iterator[Check]:
    """Look at every vector of every space: its length in bytes, its numbers, its norm."""
    counts = np.zeros(3, dtype=np.int64)
    for defects in _defects(connection, steps):
        counts += [len(ids) for ids in (defects.wrong_length, defects.not_finite, defects.not_unit)]
    lengths, infinite, norms = counts.tolist()
    message = (
        f"{counted(lengths + infinite + norms, 'vector')} damaged: {lengths} not of the space's "
        f"dimension, {infinite} with numbers that are not finite, {norms} not of unit length"
    )
    yield found(VECTORS, lengths + infinite + norms, message)


def remove_damaged(patient: Patient) -> int:
    """Drop the vectors of the notes that have a damaged one, and have them embedded again.

    All vectors of such a note in that space go, since they are made together.
    """
    mended = 0
    with patient.database.read() as connection:
        for defects in _defects(connection, Steps(0, lambda done, total: None)):
            if defects.ids:
                with transaction(patient.database) as unit:
                    mended += _remove(unit, defects.ids)
    return mended


def _remove(unit: Transaction, chunk_ids: Sequence[int]) -> int:
    # A row is never written over: one that is still there is still damaged.
    owners = checkup.owners_by_space(unit.connection, chunk_ids)
    # Those of entities are made anew by themselves.
    of_entities = entities.remove_some_vectors(unit.connection, chunk_ids)
    unit.removed_vectors(of_entities)
    for space_id, note_ids in owners.items():
        unit.removed_vectors(chunks.remove_of_notes(unit.connection, note_ids, space_id))
        spaces.set_status(unit.connection, space_id, note_ids, STATUS_PENDING)
    return sum(map(len, owners.values())) + len(of_entities)


def _defects(connection: Connection, steps: Steps) -> Iterator[Defects]:
    dimensions = checkup.dimensions(connection)
    for batch in checkup.vectors(connection):
        yield _defects_of(batch, dimensions)
        steps.add(len(batch))


def _defects_of(batch: Sequence[StoredVector], dimensions: Mapping[int, int | None]) -> Defects:
    wrong: list[int] = []
    by_dimension: dict[int, list[StoredVector]] = {}
    for vector in batch:
        dimension = dimensions.get(vector.space_id) or 0
        is_whole = isinstance(vector.data, bytes | memoryview)
        if dimension and is_whole and len(vector.data) == dimension * _FLOAT_BYTES:
            by_dimension.setdefault(dimension, []).append(vector)
        else:
            wrong.append(vector.chunk_id)
    infinite: list[int] = []
    off: list[int] = []
    for dimension, members in by_dimension.items():
        ids = np.array([member.chunk_id for member in members])
        data = b"".join(member.data for member in members)
        values = np.frombuffer(data, dtype=np.float32).reshape(-1, dimension)
        is_finite = np.isfinite(values).all(axis=1)
        squares = np.square(values[is_finite].astype(np.float64)).sum(axis=1)
        is_unit = np.abs(np.sqrt(squares) - 1.0) <= LENGTH_TOLERANCE
        infinite += ids[~is_finite].tolist()
        off += ids[is_finite][~is_unit].tolist()
    return Defects(tuple(wrong), tuple(infinite), tuple(off))
