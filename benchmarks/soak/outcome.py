"""What a part of the run came to.

Owns the rows of the table and their sums. Must not judge what a fault is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Row:
    """One kind of fault: how often it was tried and survived, and what was lost.

    ``wrong`` are sentences on what went otherwise than it should, ``lost`` those on notes that were
    committed and are not there or not as they were. ``figures`` are told beside.
    """

    part: str
    fault: str
    tried: int = 0
    survived: int = 0
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    figures: str = ""

    def add(self, wrong: Iterable[str] = (), lost: Iterable[str] = ()) -> None:
        """Count one trial."""
        found, gone = list(wrong), list(lost)
        self.tried += 1
        self.survived += not (found or gone)
        self.wrong += found
        self.lost += gone


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of a part, with the notes that were committed and the growth of memory in %."""

    rows: tuple[Row, ...]
    kills: int = 0
    committed: int = 0
    growth: float | None = None


def table(rows: Iterable[Row]) -> str:
    """Write the rows that were tried as a table of Markdown."""
    lines = ["| part | fault | tried | survived | lost | |", "|---|---|---:|---:|---:|---|"]
    lines += [
        f"| {row.part} | {row.fault} | {row.tried} | {row.survived} | {len(row.lost)} "
        f"| {row.figures} |"
        for row in rows
        if row.tried
    ]
    return "\n".join(lines)
