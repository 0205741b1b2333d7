"""Queries on notes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    Connection,
    Row,
    and_,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from app.db.columns import read_json, read_texts
from app.db.filters import note_conditions, text_conditions
from app.db.idlist import bound, in_bound_ids, in_ids
from app.db.models import (
    conversations,
    embedding_spaces,
    note_spaces,
    note_tags,
    notes,
    tags,
)
from app.db.standing import SEARCHED_STATUS
from app.domain.evidence import NoteCard, NoteFacts
from app.domain.notes import Note, NoteFilters, NoteQuery, Origin
from app.domain.page import Page

_JOINED = notes.join(conversations, notes.c.conversation_id == conversations.c.id)
_ACTIVE_SPACE = (
    select(embedding_spaces.c.id).where(embedding_spaces.c.active == 1).scalar_subquery()
)
_OWN_COLUMNS = tuple(column for column in notes.c if column.key != "content_digest")
_NOTE = select(
    *_OWN_COLUMNS,
    conversations.c.source,
    conversations.c.project_name,
    conversations.c.project_dir,
    note_spaces.c.error.label("embedding_error"),
).select_from(
    _JOINED.outerjoin(
        note_spaces,
        and_(note_spaces.c.note_id == notes.c.id, note_spaces.c.space_id == _ACTIVE_SPACE),
    )
)
_DETAILS = (
    select(notes.c.id, tags.c.name, conversations.c.project_name)
    .select_from(_JOINED)
    .outerjoin(note_tags, note_tags.c.note_id == notes.c.id)
    .outerjoin(tags, tags.c.id == note_tags.c.tag_id)
    .where(in_bound_ids(notes.c.id))
    .order_by(notes.c.id, tags.c.id)
)
_NOTES_OF_IDS = _NOTE.where(in_bound_ids(notes.c.id)).order_by(notes.c.id)
_TAGS_OF_NOTES = (
    select(note_tags.c.note_id, tags.c.name)
    .join(tags, tags.c.id == note_tags.c.tag_id)
    .where(in_bound_ids(note_tags.c.note_id))
    .order_by(note_tags.c.note_id, tags.c.id)
)
_ADD = insert(notes).returning(notes.c.id)
_CREATE = insert(notes).returning(*_OWN_COLUMNS)
_JSON_COLUMNS = ("key_conclusions", "code_snippets", "error_signatures", "files_touched")


def _note(row: Row[Any], note_tags_: tuple[str, ...], **more: str | None) -> Note:
    values = {**row._mapping, **more}
    for name in _JSON_COLUMNS:
        values[name] = read_json(values[name])
    values["aliases"] = read_texts(values["aliases"])
    values["is_edited"] = bool(values["is_edited"])
    return Note(**values, tags=note_tags_)


def _notes(connection: Connection, rows: Iterable[Any]) -> tuple[Note, ...]:
    found = list(rows)
    names = tags_of(connection, [row.id for row in found])
    return tuple(_note(row, names.get(row.id, ())) for row in found)


def tags_of(connection: Connection, note_ids: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """Return the tag names of each note, in tag id order; notes without tags are absent."""
    rows = connection.execute(_TAGS_OF_NOTES, bound(note_ids))
    names: defaultdict[int, list[str]] = defaultdict(list)
    for note_id, name in rows:
        names[note_id].append(name)
    return {note_id: tuple(found) for note_id, found in names.items()}


def get(connection: Connection, note_id: int) -> Note | None:
    """Return one note, if it exists and has a conversation."""
    found = get_many(connection, [note_id])
    return found[0] if found else None


def get_many(connection: Connection, note_ids: Iterable[int]) -> tuple[Note, ...]:
    """Return the notes of these ids that exist, by id."""
    return _notes(connection, connection.execute(_NOTES_OF_IDS, bound(note_ids)))


def page(connection: Connection, query: NoteQuery) -> Page[Note]:
    """Return one page of the notes that a query asks for, newest first."""
    conditions = note_conditions(query.filters)
    if query.pattern:
        conditions.append(
            or_(*text_conditions(query.columns, query.pattern, literal=query.literal))
        )
    total = connection.execute(
        select(func.count()).select_from(_JOINED).where(*conditions)
    ).scalar_one()
    rows = connection.execute(
        _NOTE.where(*conditions)
        .order_by(notes.c.created_at.desc(), notes.c.id)
        .offset(query.offset)
        .limit(query.limit)
    )
    return Page(_notes(connection, rows), total, query.offset, query.limit)


def exists(connection: Connection, note_ids: Iterable[int]) -> set[int]:
    """Return which of these ids are notes with a conversation."""
    rows = connection.execute(
        select(notes.c.id).select_from(_JOINED).where(in_ids(notes.c.id, note_ids))
    )
    return set(rows.scalars())


def id_of_conversation(connection: Connection, conversation_id: str) -> int | None:
    """Return the id of a conversation's note."""
    return connection.execute(
        select(notes.c.id).select_from(_JOINED).where(notes.c.conversation_id == conversation_id)
    ).scalar()


def ids_of_conversations(connection: Connection, conversation_ids: Iterable[str]) -> dict[str, int]:
    """Return the ids of conversations' notes, by conversation; one without a note is absent."""
    rows = connection.execute(
        select(notes.c.conversation_id, notes.c.id)
        .select_from(_JOINED)
        .where(notes.c.conversation_id.in_(list(conversation_ids)))
    )
    return {row[0]: row[1] for row in rows}


def ids_of_external(connection: Connection, external_ids: Iterable[str]) -> dict[str, int]:
    """Return the note ids of external ids; unknown ones are absent."""
    rows = connection.execute(
        select(notes.c.external_id, notes.c.id).where(notes.c.external_id.in_(list(external_ids)))
    )
    return {row[0]: row[1] for row in rows}


def ids_with_status(connection: Connection, statuses: Iterable[str]) -> tuple[int, ...]:
    """Return the ids of notes that have one of these embedding statuses, by id."""
    rows = connection.execute(
        select(notes.c.id)
        .select_from(_JOINED)
        .where(notes.c.embedding_status.in_(list(statuses)))
        .order_by(notes.c.id)
    )
    return tuple(rows.scalars())


def all_ids(connection: Connection) -> tuple[int, ...]:
    """Return the ids of all notes that have a conversation, by id."""
    rows = connection.execute(select(notes.c.id).select_from(_JOINED).order_by(notes.c.id))
    return tuple(rows.scalars())


def add(connection: Connection, values: Mapping[str, Any]) -> int:
    """Store a note's columns and return its id."""
    note_id: int = connection.execute(_ADD, dict(values)).scalar_one()
    return note_id


def create(
    connection: Connection, values: Mapping[str, Any], origin: Origin, note_tags_: tuple[str, ...]
) -> Note:
    """Store the columns of a note of a conversation, and return it as it reads with its tags.

    The tags, in the order of their ids, are the caller's to store.
    """
    row = connection.execute(_CREATE, {**values, "conversation_id": origin.conversation_id}).one()
    return _note(
        row,
        note_tags_,
        source=origin.source,
        project_name=origin.project_name,
        project_dir=origin.project_dir,
        embedding_error=None,
    )


def change(connection: Connection, note_id: int, values: Mapping[str, Any]) -> None:
    """Replace columns of a note."""
    connection.execute(update(notes).where(notes.c.id == note_id).values(**values))


def remove(connection: Connection, note_id: int) -> None:
    """Delete a note; what hangs on it goes with it."""
    connection.execute(delete(notes).where(notes.c.id == note_id))


def counts(connection: Connection) -> dict[str, int]:
    """Count conversations, listed notes and tags."""
    return {
        "totalConversations": connection.execute(
            select(func.count()).select_from(conversations)
        ).scalar_one(),
        "totalNotes": connection.execute(select(func.count()).select_from(_JOINED)).scalar_one(),
        "totalTags": connection.execute(select(func.count()).select_from(tags)).scalar_one(),
    }


def recent(connection: Connection, limit: int) -> tuple[Note, ...]:
    """Return the newest notes."""
    return page(connection, NoteQuery(limit=limit)).items


@dataclass(frozen=True, slots=True)
class NoteDetails:
    """What an answer shows of a note beside its card."""

    project_name: str
    tags: tuple[str, ...]
    extra: dict[str, Any]


def details(
    connection: Connection, note_ids: Iterable[int], fields: tuple[str, ...]
) -> dict[int, NoteDetails]:
    """Return project, tags and the named columns of notes, in one statement."""
    statement = _DETAILS.add_columns(*(notes.c[name] for name in fields)) if fields else _DETAILS
    rows = connection.execute(statement, bound(note_ids)).all()
    names: defaultdict[int, list[str]] = defaultdict(list)
    for row in rows:
        if row[1] is not None:
            names[row[0]].append(row[1])
    return {
        row[0]: NoteDetails(row[2], tuple(names[row[0]]), dict(zip(fields, row[3:], strict=True)))
        for row in rows
    }


def titles_with_status(connection: Connection, statuses: Iterable[str]) -> dict[int, str]:
    """Return id and title of notes that have one of these embedding statuses, by id."""
    rows = connection.execute(
        select(notes.c.id, notes.c.title)
        .select_from(_JOINED)
        .where(notes.c.embedding_status.in_(list(statuses)))
        .order_by(notes.c.id)
    )
    return {row[0]: row[1] for row in rows}


def ids_passing(connection: Connection, filters: NoteFilters) -> NDArray[np.int64]:
    """Return the ids of notes that pass the filters, ascending."""
    found = connection.execute(
        select(notes.c.id).select_from(_JOINED).where(*note_conditions(filters))
    )
    return np.sort(np.fromiter(found.scalars(), dtype=np.int64))


def facts(connection: Connection, note_ids: Iterable[int]) -> dict[int, NoteFacts]:
    """Return what rankers want to know of the notes of these ids that exist."""
    columns = notes.c
    rows = connection.execute(
        select(
            columns.id,
            columns.title,
            SEARCHED_STATUS,
            conversations.c.id,
            columns.aliases,
            func.coalesce(columns.body, "") != "",
        )
        .select_from(notes)
        .outerjoin(conversations, conversations.c.id == columns.conversation_id)
        .where(in_ids(columns.id, note_ids))
    )
    return {row[0]: NoteFacts(NoteCard(*row[:4]), read_texts(row[4]), bool(row[5])) for row in rows}
