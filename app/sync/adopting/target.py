"""Where a directory is taken over to: steps that commit by themselves, ids, and the count.

Owns the difference between a real run and a dry one, which reads the same and writes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection

from app.db import numbering
from app.db.engine import Database
from app.domain.adoption import NUMBERED_KINDS, InvalidColumn
from app.sync.transaction import Transaction, transaction

LARGEST_KEPT_ID = 2**31 - 1
"""Larger ids do not fit every database."""

Item = TypeVar("Item")


@dataclass(slots=True)
class Tally:
    """Counts by kind, and what could not be taken over as it was."""

    added: Counter[str] = field(default_factory=Counter)
    unchanged: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    renumbered: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    invalid_json: list[InvalidColumn] = field(default_factory=list)


class Target:
    """The database that is written to, in steps, and the tally of it.

    Every step leaves the database sound, and finds again what an earlier one stored: a run that
    was cut off is simply run again.
    """

    def __init__(self, database: Database, *, is_dry_run: bool) -> None:
        self.is_dry_run = is_dry_run
        self.tally = Tally()
        self._database = database
        self._highest = dict.fromkeys(NUMBERED_KINDS, 0)

    @contextmanager
    def step(self) -> Iterator[Transaction]:
        """Open a transaction; in a dry run one that only reads."""
        if not self.is_dry_run:
            with transaction(self._database) as unit:
                yield unit
            return
        with self._database.read() as connection:
            yield Transaction(connection)

    def write(
        self,
        unit: Transaction,
        add: Callable[[Connection, Sequence[Any]], object],
        rows: Sequence[Any],
    ) -> None:
        """Store rows, unless this is a dry run."""
        if not self.is_dry_run:
            add(unit.connection, rows)

    def count(self, kind: str, added: int, among: int) -> None:
        """Count what is new among some of a kind; the rest is unchanged."""
        self.tally.added[kind] += added
        self.tally.unchanged[kind] += among - added

    def give_ids(self, unit: Transaction, kind: str, wanted: Sequence[int]) -> list[int]:
        """Give ids to new rows, in the order of the ids that they had.

        A row keeps its id when that is above every id that the target ever gave; so all do in
        an empty target, and none is ever used twice.
        """
        last = max(self._highest[kind], numbering.highest(unit.connection, kind))
        given: list[int] = []
        for number in wanted:
            last = number if last < number <= LARGEST_KEPT_ID else last + 1
            given.append(last)
            self.tally.renumbered[kind] += last != number
        self._highest[kind] = last
        if given and not self.is_dry_run:
            numbering.raise_to(unit.connection, kind, last)
        return given


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of at most ``size`` items."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
