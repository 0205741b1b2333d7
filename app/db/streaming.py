"""Results that are read in batches while they arrive, whatever their size.

Owns the option of the driver and the end of its cursor, also when a reader stops early. The
option is on the statement and not on the connection, where it would stay for all that follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Select


def batches(connection: Connection, statement: Select[Any], size: int) -> Iterator[Sequence[Any]]:
    """Yield the rows of a statement, at most so many at a time."""
    with connection.execute(statement, execution_options={"yield_per": size}) as result:
        yield from result.partitions()


def rows(connection: Connection, statement: Select[Any], size: int) -> Iterator[Any]:
    """Yield the rows of a statement one by one; at most so many are held."""
    for batch in batches(connection, statement, size):
        yield from batch
