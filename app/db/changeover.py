"""Queries on two spaces at once: what one of them holds of the notes and the other lacks.

Owns the end of a space's standing in. Must not embed.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, delete, exists, func, select, update

from app.db.models import chunk_entities, embedding_spaces, embeddings, note_spaces
from app.db.standing import STANDING_IN
from app.domain.notes import STATUS_DONE, STATUS_FAILED

_OTHER = note_spaces.alias("other")


def done_only_in(
    connection: Connection, one: int, other: int, *, beside: Iterable[str] = ()
) -> tuple[int, ...]:
    """Return the notes embedded in one space and not in another, by id.

    Those whose status in the other is one of ``beside`` are left out.
    """
    is_settled = exists().where(
        _OTHER.c.note_id == note_spaces.c.note_id,
        _OTHER.c.space_id == other,
        _OTHER.c.status.in_((STATUS_DONE, *beside)),
    )
    found = connection.execute(
        select(note_spaces.c.note_id)
        .where(note_spaces.c.space_id == one, note_spaces.c.status == STATUS_DONE, ~is_settled)
        .order_by(note_spaces.c.note_id)
    )
    return tuple(found.scalars())


def behind(connection: Connection, active: int, stand_in: int) -> tuple[int, ...]:
    """Return the notes written since another space stands in, which it does not know yet."""
    return done_only_in(connection, active, stand_in, beside=(STATUS_FAILED,))


def end(connection: Connection) -> None:
    """Have searches use the active space from now on."""
    connection.execute(
        update(embedding_spaces).where(embedding_spaces.c.active == STANDING_IN).values(active=0)
    )


def idle(connection: Connection, kept: Iterable[int]) -> dict[int, tuple[str, str, int]]:
    """Return provider, model and number of vectors of the spaces that are in no use.

    ``kept`` are the ids of spaces that are used though neither active nor standing in.
    """
    columns = embedding_spaces.c
    rows = connection.execute(
        select(columns.id, columns.provider, columns.model, func.count(embeddings.c.id))
        .outerjoin(embeddings, embeddings.c.space_id == columns.id)
        .where(columns.active == 0, columns.id.not_in(list(kept)))
        .group_by(columns.id, columns.provider, columns.model)
        .order_by(columns.id)
    )
    return {row[0]: (row[1], row[2], row[3]) for row in rows}


def remove(connection: Connection, space_id: int) -> list[tuple[int, int, str]]:
    """Delete a space with everything in it; return its vectors as (id, space id, kind)."""
    removed = connection.execute(
        delete(embeddings)
        .where(embeddings.c.space_id == space_id)
        .returning(embeddings.c.id, embeddings.c.space_id, embeddings.c.kind)
    ).all()
    connection.execute(delete(chunk_entities).where(chunk_entities.c.space_id == space_id))
    connection.execute(delete(note_spaces).where(note_spaces.c.space_id == space_id))
    connection.execute(delete(embedding_spaces).where(embedding_spaces.c.id == space_id))
    return sorted((row[0], row[1], row[2]) for row in removed)
