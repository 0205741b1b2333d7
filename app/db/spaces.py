"""Queries on embedding spaces and on the state of each note in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, case, delete, func, insert, select, update

from app.db.columns import now
from app.db.idlist import bound, in_bound_ids, in_ids
from app.db.models import embedding_spaces, embeddings, note_spaces, notes
from app.db.standing import STANDING_IN
from app.domain.calibration import Scale
from app.domain.notes import STATUS_PENDING
from app.domain.spaces import Space, SpaceMeans, SpaceSpec

ACTIVE = 1
"""Notes are embedded into this space, and searched in it unless another stands in."""

_MEANS = ("mean_query", "mean_query_han", "mean_passage", "mean_passage_han")
_SPACE = select(embedding_spaces).where(embedding_spaces.c.id == bindparam("space_id"))
_ADD_STATES = insert(note_spaces)
_MIRROR_STATUS = (
    update(notes)
    .where(
        in_bound_ids(notes.c.id),
        select(embedding_spaces.c.id)
        .where(embedding_spaces.c.id == bindparam("space_id"), embedding_spaces.c.active == ACTIVE)
        .exists(),
    )
    .values(embedding_status=bindparam("status"))
)


def _space(row: Row[Any]) -> Space:
    values = row._mapping
    means = None
    if values["mean_query"] is not None:
        means = SpaceMeans(*(values[name] for name in _MEANS))
    spec = SpaceSpec(
        provider=values["provider"],
        model=values["model"],
        dimension=values["dimension"],
        max_chars=values["max_chars"],
        border=values["border"],
        means=means,
        variant=values["variant"],
    )
    return Space(values["id"], spec, values["active"] == ACTIVE, values["created_at"])


def active(connection: Connection) -> Space | None:
    """Return the space that notes are embedded into, if one was ever made active."""
    return _with_role(connection, ACTIVE)


def searching(connection: Connection) -> Space | None:
    """Return the space that searches use: the one before, while the active one is filled."""
    return _with_role(connection, STANDING_IN) or active(connection)


def _with_role(connection: Connection, role: int) -> Space | None:
    row = connection.execute(
        select(embedding_spaces).where(embedding_spaces.c.active == role)
    ).one_or_none()
    return _space(row) if row else None


def get(connection: Connection, space_id: int) -> Space:
    """Return a space by its id."""
    return _space(connection.execute(_SPACE, {"space_id": space_id}).one())


def known(connection: Connection, space_id: int) -> Space | None:
    """Return a space by its id, None when there is none."""
    row = connection.execute(_SPACE, {"space_id": space_id}).one_or_none()
    return _space(row) if row else None


def find(connection: Connection, provider: str, model: str) -> Space | None:
    """Return the space of a provider's model; of several, the one in use, or else the newest."""
    return next(iter(variants(connection, provider, model)), None)


def variants(connection: Connection, provider: str, model: str) -> tuple[Space, ...]:
    """Return the spaces of a model's name, the active one first, then the newest."""
    columns = embedding_spaces.c
    rows = connection.execute(
        select(embedding_spaces)
        .where(columns.provider == provider, columns.model == model)
        .order_by(case((columns.active == ACTIVE, 0), else_=1), columns.variant.desc())
    )
    return tuple(map(_space, rows))


def add(connection: Connection, spec: SpaceSpec) -> int:
    """Store a new space, inactive, and return its id."""
    means = spec.means
    texts = (means.query, means.query_han, means.passage, means.passage_han) if means else ()
    values: dict[str, Any] = dict(zip(_MEANS, texts, strict=False))
    space_id: int = connection.execute(
        insert(embedding_spaces)
        .values(
            provider=spec.provider,
            model=spec.model,
            variant=spec.variant,
            dimension=spec.dimension,
            border=spec.border,
            max_chars=spec.max_chars,
            active=0,
            created_at=now(),
            **values,
        )
        .returning(embedding_spaces.c.id)
    ).scalar_one()
    return space_id


def set_dimension(connection: Connection, space_id: int, dimension: int) -> None:
    """Keep the dimension that the first vector of a space showed."""
    connection.execute(
        update(embedding_spaces)
        .where(embedding_spaces.c.id == space_id)
        .values(dimension=dimension)
    )


def set_scale(connection: Connection, space_id: int, scale: Scale) -> None:
    """Replace the border and the means of a space."""
    means = scale.means
    stored = (means.query, means.query_han, means.passage, means.passage_han) if means else None
    values: dict[str, Any] = dict(zip(_MEANS, stored or (None,) * len(_MEANS), strict=True))
    connection.execute(
        update(embedding_spaces)
        .where(embedding_spaces.c.id == space_id)
        .values(border=scale.border, **values)
    )


def activate(connection: Connection, space_id: int, stand_in: int | None = None) -> None:
    """Make a space the active one; every note takes its status in it.

    ``stand_in`` is the id of the space that answers searches meanwhile.
    """
    columns = embedding_spaces.c
    role = case(
        (columns.id == space_id, ACTIVE),
        (columns.id == (-1 if stand_in is None else stand_in), STANDING_IN),
        else_=0,
    )
    connection.execute(update(embedding_spaces).values(active=role))
    status = (
        select(note_spaces.c.status)
        .where(note_spaces.c.note_id == notes.c.id, note_spaces.c.space_id == space_id)
        .scalar_subquery()
    )
    connection.execute(update(notes).values(embedding_status=func.coalesce(status, STATUS_PENDING)))


@dataclass(frozen=True, slots=True)
class NoteState:
    """The state of a note in a space, and the hash of the text that its vectors were made from."""

    note_id: int
    status: str
    text_hash: str | None = None
    error: str | None = None


def set_status(connection: Connection, space_id: int, note_ids: Iterable[int], status: str) -> None:
    """Give notes a status in a space, and no more; mirrored when the space is the active one."""
    set_states(connection, space_id, [NoteState(note_id, status) for note_id in note_ids])


def set_states(connection: Connection, space_id: int, states: Sequence[NoteState]) -> None:
    """Replace the states of notes in a space, mirrored when it is the active one."""
    forget_states(connection, space_id, [state.note_id for state in states])
    add_states(connection, space_id, states)
    mirror_states(connection, space_id, states)


def forget_states(connection: Connection, space_id: int, note_ids: Sequence[int]) -> None:
    """Delete the states of notes in a space."""
    columns = note_spaces.c
    if note_ids:
        is_meant = (columns.space_id == space_id, in_ids(columns.note_id, note_ids))
        connection.execute(delete(note_spaces).where(*is_meant))


def outdate(connection: Connection, note_id: int, text_hash: str) -> None:
    """Make a note pending in every space whose vectors were made from another text of it."""
    columns = note_spaces.c
    outdated = connection.execute(
        update(note_spaces)
        .where(columns.note_id == note_id, columns.text_hash.is_distinct_from(text_hash))
        .values(status=STATUS_PENDING, error=None, text_hash=None)
        .returning(columns.space_id)
    )
    is_active = (
        embedding_spaces.c.active == ACTIVE,
        in_ids(embedding_spaces.c.id, outdated.scalars()),
    )
    if connection.execute(select(embedding_spaces.c.id).where(*is_active)).scalar():
        connection.execute(
            update(notes).where(notes.c.id == note_id).values(embedding_status=STATUS_PENDING)
        )


def text_hashes(
    connection: Connection, space_id: int, note_ids: Iterable[int]
) -> dict[int, str | None]:
    """Return the hash of the text that each note was embedded from in the space."""
    columns = note_spaces.c
    rows = connection.execute(
        select(columns.note_id, columns.text_hash).where(
            columns.space_id == space_id, in_ids(columns.note_id, note_ids)
        )
    )
    return {row.note_id: row.text_hash for row in rows}


def count_with_status(connection: Connection, space_id: int, status: str) -> int:
    """Count the notes that have a status in a space."""
    columns = note_spaces.c
    return connection.execute(
        select(func.count())
        .select_from(note_spaces)
        .where(columns.space_id == space_id, columns.status == status)
    ).scalar_one()


def status_counts(connection: Connection) -> dict[str, int]:
    """Count notes by their status in the active space."""
    rows = connection.execute(
        select(notes.c.embedding_status, func.count())
        .group_by(notes.c.embedding_status)
        .order_by(notes.c.embedding_status)
    )
    return {row[0]: row[1] for row in rows}


def first_failure(connection: Connection) -> str | None:
    """Return why a note could not be embedded into the active space, of the first that has one."""
    columns = note_spaces.c
    return connection.execute(
        select(columns.error)
        .join(embedding_spaces, embedding_spaces.c.id == columns.space_id)
        .where(embedding_spaces.c.active == ACTIVE, columns.error.is_not(None))
        .order_by(columns.note_id)
        .limit(1)
    ).scalar()


def notes_with_state(connection: Connection, space_id: int, note_ids: Iterable[int]) -> set[int]:
    """Return which of these notes have a state in a space."""
    columns = note_spaces.c
    rows = connection.execute(
        select(columns.note_id).where(
            columns.space_id == space_id, in_ids(columns.note_id, note_ids)
        )
    )
    return set(rows.scalars())


def add_states(connection: Connection, space_id: int, states: Sequence[NoteState]) -> None:
    """Store states of notes that have none in a space yet; to be mirrored."""
    if states:
        rows = [{"space_id": space_id, **asdict(state)} for state in states]
        connection.execute(_ADD_STATES, rows)


def mirror_states(connection: Connection, space_id: int, states: Iterable[NoteState]) -> None:
    """Give notes the status that they have in a space, if it is the active one."""
    by_status: defaultdict[str, list[int]] = defaultdict(list)
    for state in states:
        by_status[state.status].append(state.note_id)
    for status, ids in by_status.items():
        values = {**bound(ids), "space_id": space_id, "status": status}
        connection.execute(_MIRROR_STATUS, values)


def have_vectors(connection: Connection) -> bool:
    """Tell whether any space has a vector of a note."""
    first = select(embeddings.c.id).where(embeddings.c.note_id.is_not(None)).limit(1)
    return connection.execute(first).scalar() is not None
