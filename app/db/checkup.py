"""Queries on what should agree in a database and may not: whole tables, read in batches.

Owns the statements of a check-up and of its repairs. What a finding means is not known here.
"""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    delete,
    func,
    insert,
    select,
    type_coerce,
    update,
)
from sqlalchemy.types import NullType

from app.db import streaming
from app.db.idlist import in_ids
from app.db.models import (
    conversations,
    embedding_spaces,
    embeddings,
    index_changes,
    index_state,
    lexical_documents,
    messages,
    metadata,
    note_spaces,
    notes,
)
from app.domain.changes import IndexState
from app.domain.notes import STATUS_DONE, STATUS_PENDING

VECTOR_BATCH = 500
"""Vectors held at a time."""

CONTENT = (notes, messages)
"""What people wrote: never removed, whatever it belonged to."""

_ACTIVE_SPACE = (
    select(embedding_spaces.c.id)
    .where(embedding_spaces.c.active == 1)
    .order_by(embedding_spaces.c.id)
    .limit(1)
)
_STATUS = func.coalesce(
    select(note_spaces.c.status)
    .where(
        note_spaces.c.note_id == notes.c.id,
        note_spaces.c.space_id == _ACTIVE_SPACE.scalar_subquery(),
    )
    .scalar_subquery(),
    STATUS_PENDING,
)
_IS_OUT_OF_STEP = (_ACTIVE_SPACE.exists(), notes.c.embedding_status != _STATUS)


class StoredVector(NamedTuple):
    """A vector as it is stored: ``data`` should be float32 bytes, and may be anything."""

    chunk_id: int
    space_id: int
    data: Any


def damage(connection: Connection, limit: int) -> list[str]:
    """Return what SQLite finds wrong with the file, at most so many lines; other systems: none."""
    if connection.dialect.name != "sqlite":
        return []
    found = connection.exec_driver_sql(f"PRAGMA quick_check({limit})").scalars()
    return [line for line in found if line != "ok"]


def dangling(connection: Connection) -> dict[str, int]:
    """Count the rows by table that refer to a row that is gone; other systems than SQLite: none."""
    if connection.dialect.name != "sqlite":
        return {}
    found = connection.exec_driver_sql("PRAGMA foreign_key_check")
    return dict(sorted(Counter(row[0] for row in found).items()))


def remove_dangling(connection: Connection) -> int:
    """Delete rows that refer to a row that is gone, content excepted; return their number."""
    removed = 0
    for table in metadata.sorted_tables:
        if table not in CONTENT:
            for condition in _missing_parents(table):
                removed += connection.execute(delete(table).where(condition)).rowcount
    return removed


def _missing_parents(table: Table) -> Iterator[ColumnElement[bool]]:
    for key in sorted(table.foreign_keys, key=lambda key: key.parent.name):
        has_parent = select(key.column).where(key.column == key.parent).exists()
        yield key.parent.is_not(None) & ~has_parent


def notes_gone(connection: Connection, limit: int) -> tuple[int, ...]:
    """Return ids of notes that are gone but have vectors or lexical documents, by id."""
    found: set[int] = set()
    for column in (embeddings.c.note_id, lexical_documents.c.note_id):
        has_note = select(notes.c.id).where(notes.c.id == column).exists()
        statement = select(column).where(column.is_not(None), ~has_note).distinct()
        found.update(connection.execute(statement.order_by(column).limit(limit)).scalars())
    return tuple(sorted(found)[:limit])


def documents_of_no_note(connection: Connection) -> int:
    """Count the lexical documents whose note is gone."""
    column = lexical_documents.c.note_id
    has_note = select(notes.c.id).where(notes.c.id == column).exists()
    statement = select(func.count()).select_from(lexical_documents)
    return connection.execute(statement.where(column.is_not(None), ~has_note)).scalar_one()


def feed(connection: Connection) -> tuple[IndexState | None, int | None]:
    """Return where the change feed says that it stands, and the number of its newest entry."""
    columns = index_state.c
    row = connection.execute(
        select(columns.sequence, columns.epoch, columns.trimmed_to)
    ).one_or_none()
    newest = connection.execute(select(func.max(index_changes.c.sequence))).scalar()
    return IndexState(*row) if row else None, newest


def begin_history(connection: Connection) -> None:
    """Begin another history: every process reads anew what it keeps in memory."""
    state, newest = feed(connection)
    sequence = max(state.sequence if state else 0, newest or 0)
    connection.execute(delete(index_changes))
    connection.execute(delete(index_state))
    connection.execute(
        insert(index_state).values(
            id=1, sequence=sequence, epoch=uuid.uuid4().hex, trimmed_to=sequence
        )
    )


def statuses_out_of_step(connection: Connection) -> int:
    """Count the notes whose status is not the one that they have in the active space."""
    return connection.execute(
        select(func.count()).select_from(notes).where(*_IS_OUT_OF_STEP)
    ).scalar_one()


def mirror_statuses(connection: Connection) -> int:
    """Give every note its status in the active space; return the number of those changed."""
    return connection.execute(
        update(notes).where(*_IS_OUT_OF_STEP).values(embedding_status=_STATUS)
    ).rowcount


def chunks_of_others(connection: Connection, space_id: int) -> int:
    """Count the vectors in a space of notes that do not call themselves done."""
    return connection.execute(
        select(func.count())
        .select_from(embeddings.join(notes, notes.c.id == embeddings.c.note_id))
        .where(embeddings.c.space_id == space_id, notes.c.embedding_status != STATUS_DONE)
    ).scalar_one()


def active_space(connection: Connection) -> int | None:
    """Return the id of the space that searches use."""
    return connection.execute(_ACTIVE_SPACE).scalar()


def dimensions(connection: Connection) -> dict[int, int | None]:
    """Return the dimension of every space by its id."""
    rows = connection.execute(select(embedding_spaces.c.id, embedding_spaces.c.dimension))
    return {row[0]: row[1] for row in rows}


def lengths(connection: Connection) -> dict[int, tuple[int, int]]:
    """Return the least and the greatest length of a vector by space, in bytes."""
    columns = embeddings.c
    # Grouped by the length, the database would sort the vectors themselves, in memory.
    length = func.length(columns.vector)
    rows = connection.execute(
        select(columns.space_id, func.min(length), func.max(length)).group_by(columns.space_id)
    )
    return {row[0]: (row[1], row[2]) for row in rows}


def count_vectors(connection: Connection) -> int:
    """Count the vectors of all spaces and kinds."""
    return connection.execute(select(func.count()).select_from(embeddings)).scalar_one()


def vectors(connection: Connection) -> Iterator[list[StoredVector]]:
    """Read every vector by id, in batches."""
    columns = embeddings.c
    # As the driver gives it: a text in the place of bytes must not end the check-up.
    data = type_coerce(columns.vector, NullType())
    statement = select(columns.id, columns.space_id, data).order_by(columns.id)
    for batch in streaming.batches(connection, statement, VECTOR_BATCH):
        yield [StoredVector(*row) for row in batch]


def owners_by_space(connection: Connection, chunk_ids: Iterable[int]) -> dict[int, list[int]]:
    """Return the ids of the notes that have one of these chunks, by space, ascending."""
    columns = embeddings.c
    rows = connection.execute(
        select(columns.space_id, columns.note_id)
        .where(in_ids(columns.id, chunk_ids), columns.note_id.is_not(None))
        .distinct()
        .order_by(columns.space_id, columns.note_id)
    )
    found: defaultdict[int, list[int]] = defaultdict(list)
    for space_id, note_id in rows:
        found[space_id].append(note_id)
    return dict(found)


def note_ids_after(connection: Connection, note_id: int, limit: int) -> tuple[int, ...]:
    """Return the next ids of notes that have a conversation, ascending."""
    return tuple(
        connection.execute(
            select(notes.c.id)
            .join(conversations, conversations.c.id == notes.c.conversation_id)
            .where(notes.c.id > note_id)
            .order_by(notes.c.id)
            .limit(limit)
        ).scalars()
    )


def postings(connection: Connection, kind: str, note_ids: Iterable[int]) -> dict[int, list[str]]:
    """Return the stored postings of the documents of a kind by note; notes without are absent."""
    columns = lexical_documents.c
    rows = connection.execute(
        select(columns.note_id, columns.postings)
        .where(in_ids(columns.note_id, note_ids), columns.kind == kind)
        .order_by(columns.id)
    )
    found: defaultdict[int, list[str]] = defaultdict(list)
    for note_id, text in rows:
        found[note_id].append(text)
    return dict(found)
