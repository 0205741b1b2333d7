"""Queries on chunk rows and their vectors.

Vectors are float32 bytes of unit length, as the model gave them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, func, insert, select

from app.db import streaming
from app.db.filters import note_conditions
from app.db.idlist import bound, in_bound_ids, in_ids
from app.db.models import conversations, embedding_spaces, embeddings, notes
from app.db.standing import SEARCHED_STATUS
from app.domain.evidence import NoteCard
from app.domain.notes import NoteFilters
from app.errors import DatabaseUnavailable

LOAD_BATCH = 2_000

_ROWS = (
    select(
        embeddings.c.id,
        embeddings.c.chunk_index,
        embeddings.c.chunk_text,
        notes.c.id.label("note_id"),
        notes.c.title,
        SEARCHED_STATUS,
        conversations.c.id.label("conversation_id"),
    )
    .select_from(embeddings)
    .join(notes, notes.c.id == embeddings.c.note_id)
    .outerjoin(conversations, conversations.c.id == notes.c.conversation_id)
    .where(in_bound_ids(embeddings.c.id))
)

_VECTORS = (
    select(embeddings.c.id, embeddings.c.vector, embeddings.c.has_han)
    .where(in_bound_ids(embeddings.c.id))
    .order_by(embeddings.c.id)
)


_ADD = insert(embeddings).returning(
    embeddings.c.id,
    embeddings.c.space_id,
    embeddings.c.kind,
    embeddings.c.note_id,
    embeddings.c.chunk_text,
)


class AddedRow(NamedTuple):
    """A row with a vector that was just stored; one of an entity is of no note."""

    id: int
    space_id: int
    kind: str
    note_id: int | None
    text: str


class StoredChunk(NamedTuple):
    """A chunk row with its note, text unfolded."""

    chunk_id: int
    chunk_index: int
    text: str
    note: NoteCard


@dataclass(frozen=True, slots=True)
class VectorBatch:
    """Some stored vectors: ids (n,) int64, vectors (n, d) float32, has_han (n,) bool."""

    ids: NDArray[np.int64]
    vectors: NDArray[np.float32]
    has_han: NDArray[np.bool_]


def rows(connection: Connection, chunk_ids: Iterable[int]) -> list[StoredChunk]:
    """Return the rows of these chunks, in no promised order; those without a row are absent."""
    found = connection.execute(_ROWS, bound(chunk_ids))
    return [
        StoredChunk(row[0], row[1], row[2], NoteCard(row[3], row[4], row[5], row[6]))
        for row in found.all()
    ]


def count(connection: Connection, space_id: int, kind: str) -> int:
    """Count the vectors of a kind in a space."""
    columns = embeddings.c
    statement = select(func.count()).where(columns.space_id == space_id, columns.kind == kind)
    return connection.execute(statement).scalar_one()


def ids_passing(
    connection: Connection, space_id: int, kind: str, filters: NoteFilters
) -> NDArray[np.int64]:
    """Return the chunk ids whose note passes the filters, ascending."""
    found = connection.execute(
        select(embeddings.c.id)
        .select_from(embeddings)
        .join(notes, notes.c.id == embeddings.c.note_id)
        .join(conversations, conversations.c.id == notes.c.conversation_id)
        .where(
            embeddings.c.space_id == space_id,
            embeddings.c.kind == kind,
            *note_conditions(filters),
        )
    )
    return np.sort(np.fromiter(found.scalars(), dtype=np.int64))


def ids_of_note(connection: Connection, space_id: int, kind: str, note_id: int) -> tuple[int, ...]:
    """Return the chunk ids of a note, in the order of its text."""
    columns = embeddings.c
    found = connection.execute(
        select(columns.id)
        .where(columns.space_id == space_id, columns.kind == kind, columns.note_id == note_id)
        .order_by(columns.chunk_index)
    )
    return tuple(found.scalars())


def all_vectors(
    connection: Connection, space_id: int, kind: str, dimension: int
) -> Iterator[VectorBatch]:
    """Read every vector of a kind in a space, by ascending id, in batches.

    Raises:
        DatabaseUnavailable: one of them has another length.
    """
    columns = embeddings.c
    statement = (
        select(columns.id, columns.vector, columns.has_han)
        # The sum keeps the planner on the primary key, so that nothing is sorted in memory.
        .where(columns.space_id + 0 == space_id, columns.kind == kind)
        .order_by(columns.id)
    )
    for batch in streaming.batches(connection, statement, LOAD_BATCH):
        yield _vectors(batch, dimension)


def vectors(connection: Connection, chunk_ids: Iterable[int], dimension: int) -> VectorBatch:
    """Read the vectors of these chunks that exist, by ascending id.

    Raises:
        DatabaseUnavailable: one of them has another length.
    """
    found = connection.execute(_VECTORS, bound(chunk_ids)).all()
    return _vectors(found, dimension)


def _vectors(found: Sequence[Any], dimension: int) -> VectorBatch:
    size = dimension * np.dtype(np.float32).itemsize
    if not all(isinstance(row[1], bytes) and len(row[1]) == size for row in found):
        raise DatabaseUnavailable(
            "A vector in the database has not the length of the others; "
            "run: crystal doctor --repair"
        )
    data = b"".join(row[1] for row in found)
    return VectorBatch(
        ids=np.fromiter((row[0] for row in found), dtype=np.int64, count=len(found)),
        vectors=np.frombuffer(data, dtype=np.float32).reshape(len(found), dimension),
        has_han=np.fromiter((row[2] for row in found), dtype=np.bool_, count=len(found)),
    )


def add(connection: Connection, values: Sequence[Mapping[str, Any]]) -> list[AddedRow]:
    """Store rows with their vectors, which get ascending ids; return what was stored, by id.

    Every row names the same columns.
    """
    if not values:
        return []
    # SQLAlchemy's own order would be a statement for each row of SQLite.
    return sorted(AddedRow(*row) for row in connection.execute(_ADD, list(values)))


def remove_of_notes(
    connection: Connection,
    note_ids: Iterable[int],
    space_id: int | None = None,
    kinds: Sequence[str] | None = None,
) -> tuple[tuple[int, int, str], ...]:
    """Delete the chunks of notes (in one space or in all, of some kinds or of all).

    Returns:
        (id, space, kind) of each.
    """
    ids, columns = list(note_ids), embeddings.c
    if not ids:
        return ()
    condition = in_ids(columns.note_id, ids)
    if space_id is not None:
        condition = condition & (columns.space_id == space_id)
    if kinds is not None:
        condition = condition & columns.kind.in_(kinds)
    found = connection.execute(
        delete(embeddings).where(condition).returning(columns.id, columns.space_id, columns.kind)
    )
    return tuple(sorted((row[0], row[1], row[2]) for row in found))


def vectors_by_hash(
    connection: Connection, space_id: int, note_id: int
) -> dict[str, NDArray[np.float32]]:
    """Return a note's vectors by the hash of the text that each was made from.

    Damaged ones, which have another length than those of their space, are absent.
    """
    columns = embeddings.c
    size = embedding_spaces.c.dimension * np.dtype(np.float32).itemsize
    found = connection.execute(
        select(columns.content_hash, columns.vector)
        .join(embedding_spaces, embedding_spaces.c.id == columns.space_id)
        .where(
            columns.space_id == space_id,
            columns.note_id == note_id,
            func.length(columns.vector) == size,
        )
    )
    return {row[0]: np.frombuffer(row[1], dtype=np.float32) for row in found}


def first(
    connection: Connection, space_id: int, kind: str
) -> tuple[str, NDArray[np.float32]] | None:
    """Return text and vector of the oldest chunk of a kind in a space."""
    columns = embeddings.c
    row = connection.execute(
        select(columns.chunk_text, columns.vector)
        .where(columns.space_id == space_id, columns.kind == kind)
        .order_by(columns.id)
        .limit(1)
    ).one_or_none()
    return (row[0], np.frombuffer(row[1], dtype=np.float32)) if row else None


def owners(connection: Connection, chunk_ids: Iterable[int]) -> dict[int, int]:
    """Return the note id of each of these chunks."""
    columns = embeddings.c
    found = connection.execute(
        select(columns.id, columns.note_id).where(in_ids(columns.id, chunk_ids))
    )
    return {row[0]: row[1] for row in found}


def places_of_notes(
    connection: Connection, space_id: int, kind: str, note_ids: Iterable[int]
) -> dict[int, tuple[int, int]]:
    """Return note id and number of each vector of a kind that these notes have, by chunk id."""
    columns = embeddings.c
    found = connection.execute(
        select(columns.id, columns.note_id, columns.chunk_index).where(
            columns.space_id == space_id, columns.kind == kind, in_ids(columns.note_id, note_ids)
        )
    )
    return {row[0]: (row[1], row[2]) for row in found}
