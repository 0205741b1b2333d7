"""Queries on links between notes.

Owns what is kept of a link: the note it stands in, its name, and the note that answers to the
name. A link without such a note is *unresolved*; it is kept by its name and never leads anywhere.
Which note answers is decided in ``app.markdown.resolution`` and kept up by ``app.sync.links``, at
every write of a note; readers find links resolved.

Reading for graphs: ``edges`` (all, or those that touch some notes), ``of_note`` (with unresolved
ones, in the order of the text), ``unresolved`` (the names alone), ``sources_of`` (backlinks).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, delete, insert, or_, select, update

from app.db.columns import read_texts
from app.db.idlist import bound, in_bound_ids, in_ids
from app.db.models import conversations, note_links, notes
from app.domain.links import Link, LinkEdge, Named, StoredLink, folder_of

_KEYS_AT_ONCE = 500
_C = note_links.c
_LINK = select(
    _C.id, _C.source_note_id, _C.target_note_id,
    _C.target, _C.kind, _C.heading, _C.label, _C.position,
)  # fmt: skip
_EDGE = (
    select(_C.source_note_id, _C.target_note_id, _C.kind, _C.heading, _C.label, _C.position)
    .where(_C.target_note_id.is_not(None))
    .order_by(_C.source_note_id, _C.position, _C.id)
)
_NAMED = select(
    notes.c.id,
    notes.c.title,
    notes.c.aliases,
    notes.c.path,
    notes.c.slug,
    conversations.c.source,
    conversations.c.project_dir,
    notes.c.created_at,
).select_from(notes.join(conversations, conversations.c.id == notes.c.conversation_id))

# On the way of every write; building one anew takes longer than running it.
_NAMED_OF_IDS = _NAMED.where(in_bound_ids(notes.c.id))
_FOUND_IN = _LINK.where(
    in_bound_ids(_C.source_note_id), _C.in_body == bindparam("in_body")
).order_by(_C.source_note_id, _C.position, _C.id)
_WITH_KEYS = _LINK.where(_C.name_key.in_(bindparam("keys", expanding=True))).order_by(_C.id)
_LEADING_TO = _LINK.where(in_bound_ids(_C.target_note_id)).order_by(_C.id)
_LEAVING = _LINK.where(in_bound_ids(_C.source_note_id)).order_by(_C.id)
_BODIES = select(notes.c.id, notes.c.body).where(in_bound_ids(notes.c.id)).order_by(notes.c.id)


def edges(connection: Connection, note_ids: Iterable[int] | None = None) -> tuple[LinkEdge, ...]:
    """Return the links that lead to a note, by source, place in the text, and id.

    Links of a note to itself are among them, and several between the same two notes.

    Args:
        note_ids: Only links that leave or reach one of these notes; None for all.
    """
    statement = _EDGE
    if note_ids is not None:
        wanted = tuple(note_ids)
        statement = statement.where(
            or_(in_ids(_C.source_note_id, wanted), in_ids(_C.target_note_id, wanted))
        )
    return tuple(LinkEdge(*row) for row in connection.execute(statement))


def sources_of(connection: Connection, note_id: int) -> tuple[int, ...]:
    """Return the ids of the notes with a link to this one, itself included, ascending."""
    rows = connection.execute(
        select(_C.source_note_id)
        .where(_C.target_note_id == note_id)
        .distinct()
        .order_by(_C.source_note_id)
    )
    return tuple(rows.scalars())


def of_note(connection: Connection, note_id: int) -> tuple[StoredLink, ...]:
    """Return the links of a note, unresolved ones included, in the order of its text."""
    statement = _LINK.where(_C.source_note_id == note_id).order_by(_C.position, _C.id)
    return _stored(connection, statement)


def unresolved(connection: Connection, note_ids: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """Return the names that links of these notes have and no note answers to.

    By note, each name once, in the order of the text. Notes without such links are absent.
    """
    rows = connection.execute(
        select(_C.source_note_id, _C.target)
        .where(_C.target_note_id.is_(None), in_ids(_C.source_note_id, note_ids))
        .order_by(_C.source_note_id, _C.position, _C.id)
    )
    found: defaultdict[int, dict[str, None]] = defaultdict(dict)
    for note_id, name in rows:
        found[note_id][name] = None
    return {note_id: tuple(names) for note_id, names in found.items()}


def in_bodies(connection: Connection, note_ids: Iterable[int]) -> dict[int, tuple[StoredLink, ...]]:
    """Return the links that were found in the bodies of notes, in the order of each."""
    return _by_source(connection, note_ids, is_in_body=True)


def told(connection: Connection, note_ids: Iterable[int]) -> dict[int, tuple[StoredLink, ...]]:
    """Return the links that an import told of and no body holds."""
    return _by_source(connection, note_ids, is_in_body=False)


def _by_source(
    connection: Connection, note_ids: Iterable[int], *, is_in_body: bool
) -> dict[int, tuple[StoredLink, ...]]:
    ids = list(note_ids)
    if not ids:
        return {}
    values = {**bound(ids), "in_body": int(is_in_body)}
    found: defaultdict[int, list[StoredLink]] = defaultdict(list)
    for each in _stored(connection, _FOUND_IN, values):
        found[each.source_note_id].append(each)
    return {note_id: tuple(each) for note_id, each in found.items()}


def _stored(
    connection: Connection, statement: Select[Any], values: Mapping[str, Any] | None = None
) -> tuple[StoredLink, ...]:
    rows = connection.execute(statement, values)
    return tuple(StoredLink(row[0], row[1], row[2], Link(*row[3:])) for row in rows)


def add(
    connection: Connection,
    rows: Sequence[tuple[int, str, Link, int | None]],
    *,
    is_in_body: bool = True,
) -> None:
    """Store links, each as (source note, key of its name, link, note that it leads to)."""
    if not rows:
        return
    connection.execute(
        insert(note_links),
        [
            {
                "source_note_id": source_id,
                "target_note_id": target_id,
                "target": link.target,
                "name_key": key,
                "heading": link.heading,
                "label": link.label,
                "kind": link.kind,
                "position": link.position,
                "in_body": int(is_in_body),
            }
            for source_id, key, link, target_id in rows
        ],
    )


def remove(connection: Connection, link_ids: Iterable[int]) -> None:
    """Delete links."""
    ids = list(link_ids)
    if not ids:
        return
    connection.execute(delete(note_links).where(in_ids(_C.id, ids)))


def point(connection: Connection, targets: Mapping[int, int | None]) -> None:
    """Let links lead to other notes, or nowhere; ``targets`` has notes by link."""
    if targets:
        connection.execute(
            update(note_links)
            .where(_C.id == bindparam("link_id"))
            .values(target_note_id=bindparam("note_id")),
            [{"link_id": link_id, "note_id": note_id} for link_id, note_id in targets.items()],
        )


def with_keys(connection: Connection, keys: Iterable[str]) -> tuple[StoredLink, ...]:
    """Return the links whose names have one of these keys, by id."""
    wanted = list(keys)
    return tuple(
        each
        for start in range(0, len(wanted), _KEYS_AT_ONCE)
        for each in _stored(connection, _WITH_KEYS, {"keys": wanted[start : start + _KEYS_AT_ONCE]})
    )


def leading_to(connection: Connection, note_ids: Iterable[int]) -> tuple[StoredLink, ...]:
    """Return the links that lead to one of these notes, by id."""
    ids = list(note_ids)
    return _stored(connection, _LEADING_TO, bound(ids)) if ids else ()


def leaving(connection: Connection, note_ids: Iterable[int]) -> tuple[StoredLink, ...]:
    """Return the links that stand in one of these notes, by id."""
    ids = list(note_ids)
    return _stored(connection, _LEAVING, bound(ids)) if ids else ()


def bodies(connection: Connection, note_ids: Iterable[int]) -> dict[int, str | None]:
    """Return the texts of notes, by ascending id."""
    ids = list(note_ids)
    rows = connection.execute(_BODIES, bound(ids)) if ids else ()
    return {row[0]: row[1] for row in rows}


def by_ids(connection: Connection, link_ids: Iterable[int]) -> tuple[StoredLink, ...]:
    """Return the links of these ids that exist, by id."""
    ids = list(link_ids)
    return _stored(connection, _LINK.where(in_ids(_C.id, ids)).order_by(_C.id)) if ids else ()


def named(connection: Connection, note_ids: Iterable[int]) -> dict[int, Named]:
    """Return all that links may call these notes by; those without a conversation are absent."""
    ids = list(note_ids)
    if not ids:
        return {}
    rows = connection.execute(_NAMED_OF_IDS, bound(ids))
    return {row[0]: _named(row) for row in rows}


def _named(row: Any) -> Named:
    folder = folder_of(row.source, row.project_dir)
    return Named(
        row.id, row.title, read_texts(row.aliases), row.path, row.slug, folder, row.created_at
    )


def find(connection: Connection, source_note_id: int, link: Link) -> StoredLink | None:
    """Return the link of a note that is written exactly so."""
    statement = _LINK.where(
        and_(
            _C.source_note_id == source_note_id,
            _C.target == link.target,
            _C.kind == link.kind,
            _C.heading.is_not_distinct_from(link.heading),
            _C.label.is_not_distinct_from(link.label),
            _C.position == link.position,
        )
    ).order_by(_C.id)
    return next(iter(_stored(connection, statement.limit(1))), None)
