"""What a check-up works on, and what it reports.

Owns the values; no check is made here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.db.engine import Database

BATCH = 200
"""Notes looked at, or mended, in one go."""


@dataclass(frozen=True, slots=True)
class Patient:
    """A database and the data folder that its settings lie in."""

    database: Database
    folder: Path


@dataclass(frozen=True, slots=True)
class Check:
    """One check; ``count`` is how much it found, harmless things included.

    ``remedy`` says what to do when it is not in order.
    """

    name: str
    ok: bool
    count: int = 0
    message: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """How things stand at the end; ``repaired`` counts what was mended, by check."""

    checks: tuple[Check, ...]
    repaired: Mapping[str, int]

    @property
    def wrong(self) -> int:
        """The number of checks that found something wrong."""
        return sum(not check.ok for check in self.checks)


Remedy = Callable[[Patient], int]
"""Mends what one check finds; returns how much."""


class Steps:
    """Counts how much of the work is done, and tells it."""

    def __init__(self, total: int, on_progress: Callable[[int, int], None]) -> None:
        self._total = total
        self._done = 0
        self._on_progress = on_progress

    def add(self, number: int) -> None:
        """Count some vectors or notes that were looked at."""
        self._done += number
        self._on_progress(min(self._done, self._total), self._total)


def found(name: str, count: int, message: str) -> Check:
    """Return a check that is in order when it found nothing."""
    return Check(name, not count, count, message if count else "")


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"
