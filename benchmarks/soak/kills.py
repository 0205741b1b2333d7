"""The part that kills: which processes, how often, and what that came to.

Owns the order of the trials. Servers at work, commands, and servers that start or stop are killed
side by side; in each of these lanes every kind has had its turn before one has its second.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache, partial
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from benchmarks.soak import errands, templates
from benchmarks.soak.calls import Tally
from benchmarks.soak.crash import WORKS, ServerKills
from benchmarks.soak.errands import Starts, errand, killed_at_start, killed_at_stop
from benchmarks.soak.outcome import Part, Row
from benchmarks.soak.processes import Place, Server

PART = "SIGKILL during"
STOP_SECONDS = 0.6
"""About so long a server takes to stop, its snapshot included."""

Trial = Callable[[Row], None]


class Bounds(NamedTuple):
    """How long to go on: for some seconds, and beyond them until so many kills, but no longer."""

    seconds: float
    most_seconds: float
    least_kills: int

    def is_over(self, passed: float, kills: int) -> bool:
        """Tell whether it is enough."""
        is_enough = passed >= self.seconds and kills >= self.least_kills
        return is_enough or passed >= self.most_seconds


def run(place: Place, tally: Tally, bounds: Bounds, seed: int) -> Part:
    """Kill until it is enough.

    Args:
        place: Has the settings of all data folders, which are made in its folder.
    """
    started = time.monotonic()
    with ExitStack() as life:
        served = ServerKills(_below(place, "served"), tally, random.Random(seed))
        life.callback(served.close)
        lanes: list[dict[str, Trial]] = [
            {name: partial(served.trial, name) for name in WORKS},
            _errands(place, tally, random.Random(seed + 1)),
            _starts(place, tally, random.Random(seed + 2)),
        ]
        rows = {name: Row(PART, name) for lane in lanes for name in lane}

        is_interrupted = threading.Event()

        def work_off(lane: dict[str, Trial]) -> None:
            for name, trial in cycle(lane.items()):
                attempt(trial, rows[name])
                is_over = bounds.is_over(time.monotonic() - started, _tried(rows))
                if is_over or is_interrupted.is_set():
                    return

        with ThreadPoolExecutor(len(lanes)) as pool:
            try:
                list(pool.map(work_off, lanes))
            finally:
                is_interrupted.set()
        committed = served.library.ledger.committed
    return Part(tuple(rows.values()), kills=_tried(rows), committed=committed)


def attempt(trial: Trial, row: Row) -> None:
    """Make one trial; whatever ends it early is told as well."""
    try:
        trial(row)
    except Exception as error:  # edge: a run tells of every fault, and goes on
        row.add([f"{type(error).__name__}: {error}"])


def _tried(rows: dict[str, Row]) -> int:
    return sum(row.tried for row in rows.values())


def _below(place: Place, name: str) -> Place:
    """Return a data folder of the same settings, with a home of its own."""
    home = {"CRYSTAL_SOURCES_HOME": str(place.folder / f"{name}-home")}
    made = Place(place.folder / name, {**place.settings, **home})
    made.make()
    return made


def _errands(place: Place, tally: Tally, chance: random.Random) -> dict[str, Trial]:
    """Return the trials of commands, each of which makes what it begins with at its first turn."""
    folder = place.folder
    nothing = folder / "nothing"

    @cache
    def home() -> str:
        return str(templates.sessions(folder / "sessions"))

    arguments: dict[str, Callable[[], tuple[str, ...]]] = {
        "import chatcrystal": lambda: (
            "import", "chatcrystal", str(templates.chatcrystal(folder / "original"))),
        "import markdown": lambda: ("import", "markdown", str(templates.VAULT)),
        "import conversations (command)": lambda: ("import", "--home", home()),
    }  # fmt: skip

    def imported(name: str) -> Trial:
        own = _below(place, name.replace(" ", "-"))
        return partial(errands.trial, errand(own, nothing, *arguments[name]()), tally, chance)

    def reindexed() -> Trial:
        library = folder / "filled"
        errands.completed(Place(folder / "filling", place.settings), library,
                          "import", "--home", home())  # fmt: skip
        made = errand(_below(place, "reindex"), library, "reindex", "--all")
        return partial(errands.trial, made, tally, chance)

    trials = {name: _prepared(partial(imported, name)) for name in arguments}
    return {**trials, "reindex": _prepared(reindexed)}


def _starts(place: Place, tally: Tally, chance: random.Random) -> dict[str, Trial]:
    """Return the trials of servers that start or stop, made at their first turn as well."""
    folder = place.folder

    def migrated() -> Trial:
        rows = templates.old_database(folder / "old")
        own = _below(place, "migration")
        seconds = _start_seconds(own, folder / "old", tally)
        return partial(killed_at_start, Starts(own, folder / "old", rows, seconds), tally, chance)

    def snapshot() -> Trial:
        large, own = _below(place, "large"), _below(place, "snapshot")
        rows = templates.large_database(large)
        starts = Starts(own, large.folder, rows, STOP_SECONDS, ("vector",))
        return partial(killed_at_stop, starts, tally, chance)

    return {"migration": _prepared(migrated), "snapshot": _prepared(snapshot)}


def _prepared(make: Callable[[], Trial]) -> Trial:
    """Return a trial that is made when it is first needed."""
    made = cache(make)

    def trial(row: Row) -> None:
        made()(row)

    return trial


def _start_seconds(place: Place, template: Path, tally: Tally) -> float:
    """Measure how long a start with the migration takes."""
    errands.renew(place, template)
    started = time.monotonic()
    with Server(place, tally):
        return time.monotonic() - started
