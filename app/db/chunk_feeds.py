"""Queries on vectors for indexes that are built bit by bit, or compared with the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from app.db.models import embeddings


def every_id(connection: Connection, space_id: int, kind: str) -> NDArray[np.int64]:
    """Return the ids of all vectors of a kind in a space, ascending."""
    columns = embeddings.c
    found = connection.execute(
        select(columns.id).where(columns.space_id == space_id, columns.kind == kind)
    )
    return np.sort(np.fromiter(found.scalars(), dtype=np.int64))


def next_ids(connection: Connection, space_id: int, kind: str, after: int, limit: int) -> list[int]:
    """Return the first ids of a kind in a space that are greater than one, ascending."""
    columns = embeddings.c
    found = connection.execute(
        select(columns.id)
        # The sum keeps the planner on the primary key, so that nothing is sorted in memory.
        .where(columns.id > after, columns.space_id + 0 == space_id, columns.kind == kind)
        .order_by(columns.id)
        .limit(limit)
    )
    return list(found.scalars())
