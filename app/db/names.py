"""Queries on what notes may be called by links: the keys of their names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import Connection, bindparam, delete, insert, select

from app.db.idlist import bound, in_bound_ids
from app.db.models import conversations, note_names, notes

_AT_ONCE = 500

_OF_NOTES = select(note_names.c.note_id, note_names.c.name_key).where(
    in_bound_ids(note_names.c.note_id)
)
_ADD = insert(note_names)
_FORGET = delete(note_names).where(in_bound_ids(note_names.c.note_id))

_CALLED = (
    select(note_names.c.name_key, note_names.c.note_id)
    .where(note_names.c.name_key.in_(bindparam("keys", expanding=True)))
    .order_by(note_names.c.name_key, note_names.c.note_id)
)


def called(connection: Connection, keys: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Return the notes that one of these keys may mean, by key and ascending id."""
    wanted = list(keys)
    found: defaultdict[str, list[int]] = defaultdict(list)
    for start in range(0, len(wanted), _AT_ONCE):
        rows = connection.execute(_CALLED, {"keys": wanted[start : start + _AT_ONCE]})
        for key, note_id in rows:
            found[key].append(note_id)
    return {key: tuple(ids) for key, ids in found.items()}


def of_notes(connection: Connection, note_ids: Iterable[int]) -> dict[int, frozenset[str]]:
    """Return the keys that are stored of these notes; notes without any are absent."""
    ids = list(note_ids)
    found: defaultdict[int, set[str]] = defaultdict(set)
    for note_id, key in connection.execute(_OF_NOTES, bound(ids)) if ids else ():
        found[note_id].add(key)
    return {note_id: frozenset(keys) for note_id, keys in found.items()}


def forget(connection: Connection, note_ids: Collection[int]) -> None:
    """Delete the keys of notes."""
    if note_ids:
        connection.execute(_FORGET, bound(note_ids))


def give(connection: Connection, keys: Mapping[int, Iterable[str]]) -> None:
    """Store the keys of notes that have none."""
    rows = [
        {"note_id": note_id, "name_key": key}
        for note_id, found in keys.items()
        for key in sorted(set(found))
    ]
    if rows:
        connection.execute(_ADD, rows)


def notes_without(connection: Connection) -> tuple[int, ...]:
    """Return the ids of notes with a conversation whose names were never stored, by id."""
    has_key = select(note_names.c.note_id).where(note_names.c.note_id == notes.c.id).exists()
    listed = notes.join(conversations, conversations.c.id == notes.c.conversation_id)
    found = connection.execute(
        select(notes.c.id).select_from(listed).where(~has_key).order_by(notes.c.id)
    )
    return tuple(found.scalars())
