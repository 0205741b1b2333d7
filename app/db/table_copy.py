"""Tables as they are, row by row, from one database into another of the same revision.

Owns the statements: reading in the order of the primary key, writing, counting. A batch is a list
of rows, a row the values of all columns by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Table, delete, func, insert, select
from sqlalchemy.exc import DataError, IntegrityError

from app.db import streaming
from app.db.models import index_state, metadata
from app.errors import DatabaseUnavailable

BATCH = 500
"""Rows held at a time: some megabytes of vectors."""

Rows = list[dict[str, Any]]


def tables() -> tuple[Table, ...]:
    """Return all tables, parents before their children."""
    return tuple(metadata.sorted_tables)


def batches(connection: Connection, table: Table) -> Iterator[Rows]:
    """Yield all rows of a table, in the order of its primary key."""
    statement = select(table).order_by(*table.primary_key.columns)
    for found in streaming.batches(connection, statement, BATCH):
        yield [row._asdict() for row in found]


def add(connection: Connection, table: Table, rows: Rows) -> None:
    """Store rows, ids included.

    Raises:
        DatabaseUnavailable: a row breaks a rule of the tables.
    """
    try:
        connection.execute(insert(table), rows)
    except (IntegrityError, DataError) as error:
        raise DatabaseUnavailable(
            f"A row of {table.name} breaks a rule of the tables, so nothing was copied; "
            "run: crystal doctor --repair"
        ) from error


def count(connection: Connection, table: Table) -> int:
    """Count the rows of a table."""
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


def filled(connection: Connection) -> tuple[str, ...]:
    """Return the names of the tables that hold rows; where a new feed stands is none."""
    return tuple(
        table.name
        for table in metadata.sorted_tables
        if table is not index_state
        and connection.execute(select(1).select_from(table).limit(1)).first()
    )


def forget_history(connection: Connection) -> None:
    """Drop where the feed of a new database stands, to take over that of another."""
    connection.execute(delete(index_state))
