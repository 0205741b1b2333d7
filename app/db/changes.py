"""Queries on the change feed.

Owns its numbering: a sequence number never becomes visible after a higher one, because it is
taken last in a transaction, under a row lock that lasts until the commit.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from app.db.models import index_changes, index_state
from app.domain.changes import CHANGED_VECTOR, Change, IndexState

_STATE = select(index_state.c.sequence, index_state.c.epoch, index_state.c.trimmed_to)
_SINCE = (
    select(
        index_changes.c.what,
        index_changes.c.operation,
        index_changes.c.target_id,
        index_changes.c.space_id,
        index_changes.c.kind,
    )
    .where(index_changes.c.sequence > bindparam("known"))
    .order_by(index_changes.c.sequence, index_changes.c.id)
)
_NEXT = (
    update(index_state)
    .values(sequence=index_state.c.sequence + 1)
    .returning(index_state.c.sequence)
)
_ADD = insert(index_changes)


def state(connection: Connection) -> IndexState:
    """Read where the feed stands in this snapshot."""
    row = connection.execute(_STATE).one()
    return IndexState(row.sequence, row.epoch, row.trimmed_to)


def since(connection: Connection, sequence: int) -> tuple[Change, ...]:
    """Read the entries after a sequence number, oldest first."""
    return tuple(Change(*row) for row in connection.execute(_SINCE, {"known": sequence}))


def of_vectors(
    connection: Connection, sequence: int, space_id: int, kind: str
) -> list[tuple[int, str, int]]:
    """Read the entries after a sequence number about vectors of a kind in a space.

    Returns:
        (sequence, operation, id) of each, oldest first.
    """
    columns = index_changes.c
    rows = connection.execute(
        select(columns.sequence, columns.operation, columns.target_id)
        .where(
            columns.sequence > sequence,
            columns.what == CHANGED_VECTOR,
            columns.space_id == space_id,
            columns.kind == kind,
        )
        .order_by(columns.sequence, columns.id)
    )
    return [(row[0], row[1], row[2]) for row in rows]


def count(connection: Connection) -> int:
    """Count the entries that are kept."""
    return connection.execute(select(func.count()).select_from(index_changes)).scalar_one()


def append(connection: Connection, changes: Sequence[Change]) -> None:
    """Write the entries of a transaction; call it last before the commit."""
    if not changes:
        return
    sequence = connection.execute(_NEXT).scalar_one()
    connection.execute(
        _ADD,
        [
            {
                "sequence": sequence,
                "what": change.what,
                "operation": change.operation,
                "target_id": change.target_id,
                "space_id": change.space_id,
                "kind": change.kind,
            }
            for change in changes
        ],
    )


def take_turn(connection: Connection) -> None:
    """Wait until no other transaction is about to write entries; the next one waits for this.

    What another transaction committed before is seen by the statements that follow.
    """
    connection.execute(_STATE.with_for_update())


def trim(connection: Connection, keep: int) -> None:
    """Drop all but about the newest ``keep`` entries; readers behind them rebuild."""
    newest = connection.execute(select(func.max(index_changes.c.id))).scalar()
    if newest is None or newest <= keep:
        return
    cut = connection.execute(
        select(func.max(index_changes.c.sequence)).where(index_changes.c.id <= newest - keep)
    ).scalar()
    if cut is None:
        return
    connection.execute(delete(index_changes).where(index_changes.c.sequence <= cut))
    connection.execute(update(index_state).values(trimmed_to=cut))
