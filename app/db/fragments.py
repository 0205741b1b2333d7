"""Queries on fragments by themselves: whose vectors are theirs, what their texts are.

Relations among them are in ``app.db.graph``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import Connection, and_, func, select

from app.db.idlist import bound, in_bound_ids
from app.db.models import conversations, embedding_spaces, embeddings, note_spaces, notes
from app.db.standing import SEARCHED_STATUS
from app.domain.chunks import KIND_CHUNK, KIND_ENTITY, KIND_WHOLE
from app.domain.fragments import Fragment, SourceCard, chunk, entity, root

_OWNERS = select(
    embeddings.c.id, embeddings.c.kind, embeddings.c.note_id, embeddings.c.entity_id
).where(in_bound_ids(embeddings.c.id))

_PIECES = select(
    embeddings.c.id,
    embeddings.c.note_id,
    embeddings.c.chunk_text,
    embeddings.c.heading_path,
    embeddings.c.start,
    embeddings.c.end,
).where(in_bound_ids(embeddings.c.id), embeddings.c.note_id.is_not(None))

_ACTIVE_SPACE = (
    select(embedding_spaces.c.id).where(embedding_spaces.c.active == 1).scalar_subquery()
)
_CARDS = (
    select(
        notes.c.id,
        notes.c.title,
        SEARCHED_STATUS,
        conversations.c.id.label("conversation_id"),
        func.coalesce(notes.c.content_digest, note_spaces.c.text_hash),
    )
    .outerjoin(conversations, conversations.c.id == notes.c.conversation_id)
    .outerjoin(
        note_spaces,
        and_(note_spaces.c.note_id == notes.c.id, note_spaces.c.space_id == _ACTIVE_SPACE),
    )
    .where(in_bound_ids(notes.c.id))
)


class Piece(NamedTuple):
    """A chunk row: its text, and its place in the body if it is cut from that."""

    note_id: int
    text: str
    heading_path: str | None
    start: int | None
    end: int | None


def owners_of_vectors(
    connection: Connection, vector_ids: Iterable[int]
) -> dict[int, tuple[Fragment, int | None]]:
    """Return the fragment that each of these vectors is of, with its note if it has one."""
    found: dict[int, tuple[Fragment, int | None]] = {}
    for id_, kind, note_id, entity_id in connection.execute(_OWNERS, bound(vector_ids)):
        if kind == KIND_CHUNK:
            found[id_] = (chunk(id_), note_id)
        elif kind == KIND_WHOLE:
            found[id_] = (root(note_id), note_id)
        elif kind == KIND_ENTITY:
            found[id_] = (entity(entity_id), None)
    return found


def pieces(connection: Connection, chunk_ids: Iterable[int]) -> dict[int, Piece]:
    """Return these chunk rows; those that do not exist are absent."""
    rows = connection.execute(_PIECES, bound(chunk_ids))
    return {row[0]: Piece(*row[1:]) for row in rows}


def pieces_of_note(connection: Connection, space_id: int | None, note_id: int) -> dict[int, Piece]:
    """Return the chunk rows of a note in a space, in the order of its text."""
    columns = embeddings.c
    rows = connection.execute(
        select(columns.id, columns.note_id, columns.chunk_text, columns.heading_path,
               columns.start, columns.end)
        .where(columns.note_id == note_id, columns.space_id == space_id,
               columns.kind == KIND_CHUNK)
        .order_by(columns.chunk_index)
    )  # fmt: skip
    return {row[0]: Piece(*row[1:]) for row in rows}


def source_cards(connection: Connection, note_ids: Iterable[int]) -> dict[int, SourceCard]:
    """Return what tells of notes whether they may be found, and which have the same content.

    The digest is that of the content where an import gave one, else that of the text that the
    note is embedded from; None for a note that has neither.
    """
    rows = connection.execute(_CARDS, bound(note_ids))
    return {row[0]: SourceCard(*row) for row in rows}
