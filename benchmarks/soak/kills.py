"""The part that kills: which processes, how often, and what that came to.

Owns the order of the trials; every kind has had its turn before one has its second.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

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


def run(folder: Path, place: Place, tally: Tally, seconds: float, least: int, seed: int) -> Part:
    """Kill for some seconds, and until there were so many kills.

    Args:
        folder: Takes the data folders.
        place: Has the settings of all of them.
    """
    chance = random.Random(seed)
    started = time.monotonic()
    with ExitStack() as life:
        served = ServerKills(_below(folder, place, "served"), tally, chance)
        life.callback(served.close)
        trials: dict[str, Trial] = {name: partial(served.trial, name) for name in WORKS}
        trials |= _others(folder, place, tally, chance)
        rows = {name: Row(PART, name) for name in trials}
        while time.monotonic() - started < seconds or _tried(rows) < least:
            for name, trial in trials.items():
                attempt(trial, rows[name])
                if time.monotonic() - started > seconds and _tried(rows) >= least:
                    break
        committed = served.library.ledger.committed
    kept = tuple(rows.values())
    return Part(kept, kills=_tried(rows), committed=committed)


def attempt(trial: Trial, row: Row) -> None:
    """Make one trial; whatever ends it early is told as well."""
    try:
        trial(row)
    except Exception as error:  # edge: a run tells of every fault, and goes on
        row.add([f"{type(error).__name__}: {error}"])


def _tried(rows: dict[str, Row]) -> int:
    return sum(row.tried for row in rows.values())


def _below(folder: Path, place: Place, name: str) -> Place:
    """Return a data folder of the same settings, with a home of its own."""
    home = {"CRYSTAL_SOURCES_HOME": str(folder / f"{name}-home")}
    made = Place(folder / name, {**place.settings, **home})
    made.make()
    return made


def _others(folder: Path, place: Place, tally: Tally, chance: random.Random) -> dict[str, Trial]:
    original = templates.chatcrystal(folder / "original")
    home = templates.sessions(folder / "sessions")
    nothing = folder / "nothing"
    imports = {
        "import chatcrystal": ("import", "chatcrystal", str(original)),
        "import markdown": ("import", "markdown", str(templates.VAULT)),
        "import conversations (command)": ("import", "--home", str(home)),
    }
    trials: dict[str, Trial] = {}
    for name, arguments in imports.items():
        own = _below(folder, place, name.replace(" ", "-"))
        made = errand(own, nothing, *arguments)
        trials[name] = partial(errands.trial, made, tally, chance)
        filled = own
    library = folder / "filled"
    errands.completed(filled, library, *imports["import conversations (command)"])
    made = errand(_below(folder, place, "reindex"), library, "reindex", "--all")
    trials["reindex"] = partial(errands.trial, made, tally, chance)
    old = folder / "old"
    rows = templates.old_database(old)
    own = _below(folder, place, "migration")
    starts = Starts(own, old, rows, _start_seconds(own, old, tally))
    trials["migration"] = partial(killed_at_start, starts, tally, chance)
    large = _below(folder, place, "large")
    rows = templates.large_database(large)
    stops = Starts(_below(folder, place, "snapshot"), large.folder, rows, STOP_SECONDS, ("vector",))
    trials["snapshot"] = partial(killed_at_stop, stops, tally, chance)
    return trials


def _start_seconds(place: Place, template: Path, tally: Tally) -> float:
    """Measure how long a start with the migration takes."""
    errands.renew(place, template)
    started = time.monotonic()
    with Server(place, tally):
        return time.monotonic() - started
