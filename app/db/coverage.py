"""Queries on which notes have vectors of a kind in a space, and which lack them."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, func, select

from app.db import chunks
from app.db.idlist import in_ids
from app.db.models import embeddings, note_spaces, notes
from app.domain.notes import STATUS_DONE


def notes_without_chunks(connection: Connection, space_id: int, kind: str) -> tuple[int, ...]:
    """Return the notes that call themselves done in a space but have no chunk there."""
    has_chunk = (
        select(embeddings.c.id)
        .where(
            embeddings.c.note_id == notes.c.id,
            embeddings.c.space_id == space_id,
            embeddings.c.kind == kind,
        )
        .exists()
    )
    found = connection.execute(
        select(notes.c.id)
        .where(notes.c.embedding_status == STATUS_DONE, ~has_chunk)
        .order_by(notes.c.id)
    )
    return tuple(found.scalars())


def notes_lacking(
    connection: Connection,
    space_id: int,
    kind: str,
    note_ids: Iterable[int] | None = None,
    *,
    embedded_in: int | None = None,
) -> tuple[int, ...]:
    """Return the notes, maybe of some, that are embedded but lack a kind in a space.

    What counts is that they are embedded in that space, or in another one if it is given.
    """
    columns = note_spaces.c
    has_kind = (
        select(embeddings.c.id)
        .where(
            embeddings.c.note_id == columns.note_id,
            embeddings.c.space_id == space_id,
            embeddings.c.kind == kind,
        )
        .exists()
    )
    status_space = space_id if embedded_in is None else embedded_in
    conditions = [columns.space_id == status_space, columns.status == STATUS_DONE, ~has_kind]
    if note_ids is not None:
        conditions.append(in_ids(columns.note_id, note_ids))
    found = connection.execute(select(columns.note_id).where(*conditions).order_by(columns.note_id))
    return tuple(found.scalars())


def every_note_has(connection: Connection, space_id: int, kind: str, embedded_in: int) -> bool:
    """Tell whether every note that is embedded in the active space has a kind in another.

    Told by three counts, which take a hundredth of what asking for each note takes. A note has at
    most one vector of the kind.
    """
    states, status = note_spaces.c, notes.c.embedding_status
    embedded = connection.execute(
        select(func.count())
        .select_from(note_spaces)
        .where(states.space_id == embedded_in, states.status == STATUS_DONE)
    ).scalar_one()
    of_others = connection.execute(
        select(func.count())
        .select_from(embeddings.join(notes, notes.c.id == embeddings.c.note_id))
        .where(
            # Not "unequal", for which no index is used.
            (status < STATUS_DONE) | (status > STATUS_DONE),
            embeddings.c.space_id == space_id,
            embeddings.c.kind == kind,
        )
    ).scalar_one()
    return chunks.count(connection, space_id, kind) - of_others == int(embedded)
