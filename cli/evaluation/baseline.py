"""The ratchet: means that were reached before, and which of them fell or rose.

Owns the form of a baseline, that of the rows of an evaluation, and how much is a fall. Pure but
for reading and writing the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.evaluation.figures import FIGURES
from cli.failures import Failure

INVALID_BASELINE = "invalid_baseline"
FELL = "mean_fell"

TOLERANCE = 1e-4
"""Machines differ in the last digits of a vector, and so may the order of two near notes."""

KEYS = ("ranker", "entrance", "expand", "class")
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Move:
    """A mean that is another than before; ``after`` is None where none applies any more."""

    place: str
    figure: str
    before: float
    after: float | None

    @property
    def is_fall(self) -> bool:
        """Tell whether it is worse."""
        return self.after is None or self.after < self.before

    def as_json(self) -> dict[str, Any]:
        """Return the move as JSON values."""
        return {"row": self.place, "figure": self.figure, "before": self.before, "now": self.after}

    def __str__(self) -> str:
        after = "nothing" if self.after is None else f"{self.after:.6f}"
        verb = "fell" if self.is_fall else "rose"
        return f"{self.place}: {self.figure} {verb} from {self.before:.6f} to {after}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What fell and rose; ``compared`` counts the rows that both have."""

    moves: tuple[Move, ...]
    compared: int

    @property
    def falls(self) -> tuple[Move, ...]:
        """What is worse."""
        return tuple(move for move in self.moves if move.is_fall)

    @property
    def rises(self) -> tuple[Move, ...]:
        """What is better."""
        return tuple(move for move in self.moves if not move.is_fall)


def compare(
    before: Iterable[Row],
    after: Iterable[Row],
    keys: Sequence[str] = KEYS,
    figures: Sequence[str] = FIGURES,
) -> Comparison:
    """Compare the means of the rows that both have."""
    now = {_key(row, keys): row for row in after}
    pairs = [(row, now[_key(row, keys)]) for row in before if _key(row, keys) in now]
    moves = [
        Move(_place(old, keys), figure, old[figure], new.get(figure))
        for old, new in pairs
        for figure in figures
        if old.get(figure) is not None and _moved(old[figure], new.get(figure))
    ]
    return Comparison(tuple(moves), len(pairs))


def _key(row: Row, keys: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row.get(key) for key in keys)


def _place(row: Row, keys: Sequence[str]) -> str:
    shown = {"expand" if key == "expand" else str(row.get(key)): row.get(key) for key in keys}
    return " ".join(name for name, value in shown.items() if value not in (None, False))


def _moved(before: float, after: float | None) -> bool:
    return after is None or abs(after - before) > TOLERANCE


def read_rows(path: Path) -> list[Row]:
    """Read the rows of an evaluation that was written with ``--json``.

    Raises:
        Failure: the file holds none.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror}", INVALID_BASELINE) from error
    except ValueError as error:
        raise Failure(f"{path} is no JSON", INVALID_BASELINE) from error
    rows = content.get("rows") if isinstance(content, dict) else content
    if not isinstance(rows, list) or not rows or not all(map(_is_row, rows)):
        raise Failure(f"{path} holds no rows as crystal eval --json prints them", INVALID_BASELINE)
    return rows


def _is_row(row: object) -> bool:
    if not isinstance(row, dict) or "class" not in row:
        return False
    values = [row.get(figure) for figure in FIGURES]
    return all(value is None or isinstance(value, int | float) for value in values)


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Write the means of rows as a baseline, without what a clock measured.

    Raises:
        Failure: the file cannot be written.
    """
    kept = [{name: row[name] for name in (*KEYS, "queries", *FIGURES)} for row in rows]
    lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in kept)
    try:
        path.write_text(f'{{"rows": [\n{lines}\n]}}\n', encoding="utf-8")
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror}", INVALID_BASELINE) from error
