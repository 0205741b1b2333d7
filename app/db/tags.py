"""Queries on tags."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select

from app.db.idlist import in_ids
from app.db.models import conversations, note_tags, notes, tags
from app.domain.notes import TagCount

_AT_ONCE = 500


def counted(connection: Connection) -> tuple[TagCount, ...]:
    """Return every tag with the number of listed notes that have it, most used first."""
    listed = note_tags.join(notes, notes.c.id == note_tags.c.note_id).join(
        conversations, conversations.c.id == notes.c.conversation_id
    )
    uses = (
        select(note_tags.c.tag_id, func.count().label("uses"))
        .select_from(listed)
        .group_by(note_tags.c.tag_id)
        .subquery()
    )
    count = func.coalesce(uses.c.uses, 0)
    rows = connection.execute(
        select(tags.c.id, tags.c.name, count)
        .select_from(tags.outerjoin(uses, uses.c.tag_id == tags.c.id))
        .order_by(count.desc(), tags.c.id)
    )
    return tuple(TagCount(*row) for row in rows)


def ids_by_name(connection: Connection, names: Iterable[str]) -> dict[str, int]:
    """Return the ids of tags by name; unknown ones are absent."""
    found: dict[str, int] = {}
    wanted = list(names)
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        rows = connection.execute(select(tags.c.name, tags.c.id).where(tags.c.name.in_(some)))
        found |= {row[0]: row[1] for row in rows}
    return found


def add(connection: Connection, names: Sequence[str]) -> dict[str, int]:
    """Store tags, in this order, and return their ids by name."""
    add_many(connection, [{"name": name} for name in names])
    return ids_by_name(connection, names)


def add_many(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store rows of tags; every row names the same columns."""
    if rows:
        connection.execute(insert(tags), list(rows))


def add_to_note(connection: Connection, note_id: int, tag_ids: Iterable[int]) -> None:
    """Give a note tags that it has not yet."""
    rows = [{"note_id": note_id, "tag_id": tag_id} for tag_id in tag_ids]
    if rows:
        connection.execute(insert(note_tags), rows)


def set_of_note(connection: Connection, note_id: int, names: Iterable[str]) -> None:
    """Give a note exactly these tags, as ``set_of_notes`` does."""
    set_of_notes(connection, {note_id: tuple(names)})


def set_of_notes(connection: Connection, names: Mapping[int, Sequence[str]]) -> None:
    """Give notes exactly these tags; unknown names become tags, in the order given."""
    connection.execute(delete(note_tags).where(in_ids(note_tags.c.note_id, names)))
    give(connection, names)


def give(connection: Connection, names: Mapping[int, Sequence[str]]) -> None:
    """Give notes that have no tags these; unknown names become tags, in the order given."""
    wanted = list(dict.fromkeys(name for found in names.values() for name in found))
    known = ids_by_name(connection, wanted)
    known |= add(connection, [name for name in wanted if name not in known])
    rows = [
        {"note_id": note_id, "tag_id": known[name]}
        for note_id, found in names.items()
        for name in dict.fromkeys(found)
    ]
    if rows:
        connection.execute(insert(note_tags), rows)


def in_id_order(connection: Connection, names: Iterable[str]) -> tuple[str, ...]:
    """Return tag names as their ids will order them: known ones by id, then new ones."""
    wanted = list(dict.fromkeys(names))
    known = ids_by_name(connection, wanted)
    return tuple(sorted(wanted, key=lambda name: known.get(name, math.inf)))
