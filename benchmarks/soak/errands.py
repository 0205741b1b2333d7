"""Kills of what is not a request: imports and reindexing by commands, migrations, snapshots.

Owns one trial of each. A command that is killed and run again must lead to what an undisturbed run
leads to.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.soak import checks
from benchmarks.soak.calls import Tally
from benchmarks.soak.outcome import Row
from benchmarks.soak.processes import Command, NotStarted, Place, Server, running, some_time
from benchmarks.soak.templates import Rows, essence, kept

KILLS_A_RUN = 3
"""So often one import is killed before it may end."""

COMMAND_SECONDS = 300.0
QUERIES = ("索引 缓存", "connection pool")
OFTEN = 0.3
"""The share of stops before which the folder is made anew."""


FileCheck = Callable[[Place], list[str]]


@dataclass(slots=True)
class Errand:
    """A command over a folder of its own, what an undisturbed run leaves, and how long it takes."""

    place: Place
    template: Path
    arguments: tuple[str, ...]
    expected: Rows
    seconds: float
    kills: int = 0


def errand(place: Place, template: Path, *arguments: str) -> Errand:
    """Run a command once, undisturbed, over a copy of a template."""
    renew(place, template)
    start = time.monotonic()
    _complete(place, arguments)
    seconds = time.monotonic() - start
    made = Errand(place, template, arguments, essence(place.database), seconds)
    renew(place, template)
    return made


def completed(place: Place, target: Path, *arguments: str) -> None:
    """Run a command over an empty folder and keep what it leaves as a template."""
    shutil.rmtree(place.folder, ignore_errors=True)
    place.make()
    _complete(place, arguments)
    shutil.copytree(place.folder, target)
    shutil.rmtree(place.folder)


def renew(place: Place, template: Path) -> None:
    """Make a folder a copy of a template, or empty where there is none."""
    shutil.rmtree(place.folder, ignore_errors=True)
    if template.exists():
        shutil.copytree(template, place.folder)
    else:
        place.make()


def _complete(place: Place, arguments: tuple[str, ...]) -> None:
    command_ = Command(place, *arguments, "--json")
    with running(command_):
        if command_.wait(COMMAND_SECONDS) != 0:
            raise NotStarted(f"{' '.join(arguments)}: {command_.printed[-2_000:]}")


def trial(given: Errand, tally: Tally, chance: random.Random, row: Row) -> None:
    """Kill a command, look at what it leaves, and now and then let it end."""
    command_ = Command(given.place, *given.arguments, "--json")
    some_time(chance, given.seconds)
    if not command_.kill():
        # It was faster than the kill.
        renew(given.place, given.template)
        return
    given.kills += 1
    wrong: list[str] = []
    if given.place.database.exists():
        with checks.copied(given.place) as copy:
            wrong = checks.of_files(copy)
        wrong += answers(given.place, tally)
    lost: list[str] = []
    if given.kills % KILLS_A_RUN == 0:
        _complete(given.place, given.arguments)
        found = essence(given.place.database)
        lost = [f"lacks {each}" for each in given.expected - found]
        wrong += [f"has {each}" for each in found - given.expected]
        renew(given.place, given.template)
    row.add(wrong, lost)


def answers(place: Place, tally: Tally, rankers: tuple[str, ...] = checks.RANKERS) -> list[str]:
    """Start a server over a folder and compare its answers."""
    with Server(place, tally) as server:
        return checks.of_answers(place, server.caller(), QUERIES, rankers)


@dataclass(frozen=True, slots=True)
class Starts:
    """A server that is killed while it starts or stops over a copy of a template."""

    place: Place
    template: Path
    expected: Rows
    seconds: float
    rankers: tuple[str, ...] = checks.RANKERS


def killed_at_start(given: Starts, tally: Tally, chance: random.Random, row: Row) -> None:
    """Kill a server that migrates its database."""
    renew(given.place, given.template)
    server = Server(given.place, tally)
    some_time(chance, given.seconds)
    server.kill()
    _judge(given, tally, row, checks.of_migrated_files)


def killed_at_stop(given: Starts, tally: Tally, chance: random.Random, row: Row) -> None:
    """Kill a server that writes a snapshot of its index before it stops."""
    if not given.place.database.exists() or chance.random() < OFTEN:
        renew(given.place, given.template)
    server = Server(given.place, tally).started()
    with running(server):
        caller = server.caller()
        caller.call("POST", "/api/notes", {"title": "late"})
        caller.get("/api/search", q="late", ranker="vector")
        server.terminate()
        some_time(chance, given.seconds)
    _judge(given, tally, row)


def _judge(given: Starts, tally: Tally, row: Row, of_files: FileCheck = checks.of_files) -> None:
    """Look at the files as they were left, and again after a start, which mends what it may."""
    with checks.copied(given.place) as copy:
        wrong = of_files(copy)
        lost = [f"lacks {each}" for each in given.expected - kept(copy.database)]
    wrong += answers(given.place, tally, given.rankers)
    with checks.copied(given.place) as copy:
        wrong += checks.of_files(copy)
    row.add(wrong, lost)
