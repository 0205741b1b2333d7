"""The part of faults of the machine: which there are, and how often each is tried.

Owns their table.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path

from benchmarks.soak import clocks, faults
from benchmarks.soak.calls import Tally
from benchmarks.soak.kills import attempt
from benchmarks.soak.outcome import Part, Row
from benchmarks.soak.processes import Place

PART = "fault"

Fault = Callable[[Place, Tally, Row, random.Random], None]


class Trials:
    """Faults on data folders of their own."""

    def __init__(self, folder: Path, settings: Mapping[str, str], tally: Tally, seed: int) -> None:
        self._folder = folder / "faults"
        self._settings = settings
        self._tally = tally
        self._chance = random.Random(seed)
        self._count = 0

    def run(self, seconds: float) -> Part:
        """Try the faults in turn until the time is over."""
        deadline = time.monotonic() + seconds
        self._folder.mkdir(mode=0o700)
        known = self._faults()
        rows = {name: Row(PART, name) for name in known}
        while True:
            for name, fault in known.items():
                place = self._place()
                attempt(partial(self._one, fault, place), rows[name])
                if time.monotonic() > deadline:
                    return Part(tuple(rows.values()))

    def _one(self, fault: Fault, place: Place, row: Row) -> None:
        fault(place, self._tally, row, self._chance)

    def _place(self) -> Place:
        self._count += 1
        place = Place(self._folder / f"{self._count}", self._settings)
        place.make()
        return place

    def _faults(self) -> dict[str, Fault]:
        @cache
        def template() -> Path:
            return faults.snapshot_template(self._place(), self._tally)

        return {
            "disk full": faults.disk_full,
            "disk full at the first start": faults.disk_full_at_start,
            "data folder read-only": faults.read_only,
            **{name: partial(faults.damaged_database, damage)
               for name, damage in faults.DATABASE_DAMAGES.items()},
            "database with noise in it": faults.damaged_inside,
            **{name: partial(faults.damaged_snapshot, damage, template)
               for name, damage in faults.SNAPSHOT_DAMAGES.items()},
            "clock jumps": clocks.clock_jumps,
            "two servers, one killed": clocks.two_servers,
        }  # fmt: skip
