"""Queries on the graph of notes: relations and links as one kind of edge, tags, stubs.

Owns the view of edges. A link that leads nowhere is no edge; notes without a conversation are no
notes. The rows come in no promised order: whoever answers with them sorts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, func, literal, or_, select, union_all

from app.db.idlist import in_ids
from app.db.models import (
    conversations,
    embeddings,
    note_links,
    note_relations,
    note_tags,
    notes,
    tags,
)
from app.db.standing import searched_status
from app.domain.graph import LINK_CONFIDENCE, ORIGIN_LINK, ORIGIN_RELATION, NoteEdge, NoteStub
from app.domain.notes import STATUS_DONE
from app.graph.walk import IN, OUT
from app.markdown.references import Referable

_LISTED = notes.join(conversations, conversations.c.id == notes.c.conversation_id)
_STUB = select(notes.c.id, notes.c.title, conversations.c.project_name, notes.c.path).select_from(
    _LISTED
)
_RELATIONS = select(
    note_relations.c.source_note_id,
    note_relations.c.target_note_id,
    literal(ORIGIN_RELATION).label("origin"),
    note_relations.c.relation_type,
    func.coalesce(note_relations.c.confidence, 0.0),
)
_LINKS = select(
    note_links.c.source_note_id,
    note_links.c.target_note_id,
    literal(ORIGIN_LINK).label("origin"),
    note_links.c.kind,
    literal(LINK_CONFIDENCE),
).where(note_links.c.target_note_id.is_not(None))


def stubs(connection: Connection, note_ids: Iterable[int]) -> dict[int, NoteStub]:
    """Return the notes of these ids that exist, by id."""
    rows = connection.execute(_STUB.where(in_ids(notes.c.id, note_ids)))
    return {row[0]: NoteStub(*row) for row in rows}


def edges_of(
    connection: Connection, note_ids: Iterable[int], direction: str
) -> frozenset[NoteEdge]:
    """Return the edges that leave these notes, reach them, or both; in one statement."""
    ids = list(note_ids)
    statement = union_all(
        _RELATIONS.where(_touches(note_relations, ids, direction)),
        _LINKS.where(_touches(note_links, ids, direction)),
    )
    return frozenset(NoteEdge(*row) for row in connection.execute(statement))


def _touches(table: Table, ids: list[int], direction: str) -> ColumnElement[bool]:
    leaves, reaches = (in_ids(table.c[name], ids) for name in ("source_note_id", "target_note_id"))
    return {OUT: leaves, IN: reaches}.get(direction, or_(leaves, reaches))


def link_pairs(connection: Connection) -> frozenset[tuple[int, int]]:
    """Return source and target of every link that leads somewhere, each pair once."""
    columns = note_links.c
    rows = connection.execute(
        select(columns.source_note_id, columns.target_note_id)
        .where(columns.target_note_id.is_not(None))
        .distinct()
    )
    return frozenset((row[0], row[1]) for row in rows)


def tags_beside(connection: Connection, note_id: int) -> dict[int, frozenset[str]]:
    """Return the tags of a note that it and others have, by note; itself among them."""
    columns = note_tags.c
    own = select(columns.tag_id).where(columns.note_id == note_id)
    rows = connection.execute(
        select(columns.note_id, tags.c.name)
        .join(tags, tags.c.id == columns.tag_id)
        .where(columns.tag_id.in_(own))
    )
    return _names_by_note(rows)


def notes_with_tags(connection: Connection, tag_ids: Iterable[int]) -> dict[int, frozenset[str]]:
    """Return the notes that have one of these tags, each with the names of those it has."""
    columns = note_tags.c
    rows = connection.execute(
        select(columns.note_id, tags.c.name)
        .join(tags, tags.c.id == columns.tag_id)
        .where(in_ids(columns.tag_id, tag_ids))
    )
    return _names_by_note(rows)


def _names_by_note(rows: Iterable[Any]) -> dict[int, frozenset[str]]:
    found: defaultdict[int, set[str]] = defaultdict(set)
    for note_id, name in rows:
        found[note_id].add(name)
    return {note_id: frozenset(names) for note_id, names in found.items()}


def chunk_owners(connection: Connection, chunk_ids: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Return note id and number of each of these chunks whose note may be found."""
    rows = connection.execute(
        select(embeddings.c.id, embeddings.c.note_id, embeddings.c.chunk_index)
        .select_from(_LISTED.join(embeddings, embeddings.c.note_id == notes.c.id))
        .where(in_ids(embeddings.c.id, chunk_ids), searched_status(notes) == STATUS_DONE)
    )
    return {row[0]: (row[1], row[2]) for row in rows}


def heading_paths(connection: Connection, chunk_ids: Iterable[int]) -> dict[int, str | None]:
    """Return under which headings chunks stand; None for those outside of any."""
    rows = connection.execute(
        select(embeddings.c.id, embeddings.c.heading_path).where(in_ids(embeddings.c.id, chunk_ids))
    )
    return {row[0]: row[1] for row in rows}


def referable(connection: Connection) -> tuple[Referable, ...]:
    """Return every note by what a reference may call it."""
    columns = notes.c
    rows = connection.execute(
        select(columns.id, columns.title, columns.path, columns.slug).select_from(_LISTED)
    )
    return tuple(Referable(*row) for row in rows)
