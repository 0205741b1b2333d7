"""``python -m benchmarks.soak --seconds N --json``: faults, load and abuse, counted.

Owns how the seconds are shared out and what is printed: the table of faults tried, survived and
lost, what went wrong, and as the last line one JSON object:

- ``kills``: processes ended by SIGKILL while they worked, each looked at afterwards
- ``committed``: changes of notes that a server said it had made
- ``lost``: those of them that were not there afterwards, or not as they were promised
- ``faults``: trials of all kinds; a kill, a full disk, a text, a drawn request is one each
- ``survived``: those after which nothing was lost and nothing was otherwise than it should be
- ``requests``: requests that were answered
- ``server_errors``: answers of 500 and above, but for 503, which says what is unavailable; and
  servers that were told to stop and did not do so in order
- ``growth``: the percent by which the memory of servers under load grew, of the worst part

The seconds bound the run, which ends what it is at when they are over: a short run leaves some
faults out, and says which. From 1800 seconds on it goes on until the least numbers of a full run
are reached. Exits 1 when anything was lost or went wrong.
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.soak import (
    concurrency,
    fuzz,
    fuzz_files,
    fuzz_routes,
    kills,
    providers,
)
from benchmarks.soak.calls import Tally
from benchmarks.soak.outcome import Part, Row, table
from benchmarks.soak.processes import Place
from benchmarks.soak.trials import Trials
from tests.support.postgresql import running_server
from tests.support.provider import StubProvider

FULL_SECONDS = 1_800
"""From so many seconds on, the least numbers of kills and requests of a full run hold."""

FULL_KILLS = 200
FULL_REQUESTS = 100_000
KILLS_A_SECOND = 7 / 60
"""So many a run aims at, and takes more than the share of the kills for them."""

MOST_SHARE = 1.3
"""The seconds that the kills may take of a short run, as a multiple of their share."""

SHOWN = 10
"""So many of the things that went wrong are told of each row."""


class Share(NamedTuple):
    """A part of the run, and its weight among those that are still to come."""

    name: str
    weight: float
    run: Callable[[float], Part]


def shares(
    folder: Path, settings: Mapping[str, str], tally: Tally, given: argparse.Namespace
) -> list[Share]:
    """Return the parts in their order."""
    seed, is_full = given.seed, given.seconds >= FULL_SECONDS
    load = partial(concurrency.run, tally=tally, seed=seed)
    requests = FULL_REQUESTS if is_full else 0

    def killed(seconds: float) -> Part:
        least = max(FULL_KILLS * is_full, round(given.seconds * KILLS_A_SECOND))
        most = math.inf if is_full else seconds * MOST_SHARE
        return kills.run(Place(folder, settings), tally, kills.Bounds(seconds, most, least), seed)

    def over_postgresql(seconds: float) -> Part:
        with running_server() as server:
            url = {"CRYSTAL_DATABASE_URL": server.empty(folder / "load-postgresql-database")}
            return load(folder / "load-postgresql", {**settings, **url}, name="PostgreSQL",
                        seconds=seconds, least=0)  # fmt: skip

    return [
        Share("kills", 0.4, killed),
        Share("faults", 0.14, lambda seconds: Trials(folder, settings, tally, seed).run(seconds)),
        Share("providers", 0.12, lambda seconds: providers.run(
            folder / "providers", settings, tally, seconds)),
        Share("texts", 0.06, lambda seconds: fuzz.run(
            folder / "texts", settings, tally, seconds, seed)),
        Share("files", 0.06, lambda seconds: fuzz_files.run(
            folder / "files", settings, seconds, seed)),
        Share("routes", 0.05, lambda seconds: fuzz_routes.run(
            folder / "routes", settings, tally, seconds, seed)),
        Share("PostgreSQL", 0.04, over_postgresql),
        Share("SQLite", 0.13, lambda seconds: load(
            folder / "load-sqlite", settings, name="SQLite", seconds=seconds, least=requests)),
    ]  # fmt: skip


def run(given: argparse.Namespace) -> int:
    """Run the parts that were asked for; return the exit code."""
    tally = Tally()
    parts: list[Part] = []
    started = time.monotonic()
    with (
        TemporaryDirectory(prefix="crystal-soak-", ignore_cleanup_errors=True) as scratch,
        StubProvider() as stub,
    ):
        settings = {
            "CRYSTAL_EMBEDDING_PROVIDER": "openai",
            "CRYSTAL_EMBEDDING_BASE_URL": stub.base_url,
            "CRYSTAL_LOG_LEVEL": "WARNING",
        }
        left = [
            part
            for part in shares(Path(scratch), settings, tally, given)
            if not given.only or part.name in given.only
        ]
        while left:
            passed = time.monotonic() - started
            share = left[0].weight / sum(part.weight for part in left)
            part = left.pop(0)
            print(f"{passed:6.0f} s  {part.name} …", flush=True)
            parts.append(_run(part, max(given.seconds - passed, 0.0) * share))
            _tell(parts[-1].rows)
    return conclude(parts, tally, as_json=given.json)


def _run(part: Share, seconds: float) -> Part:
    try:
        return part.run(seconds)
    except Exception as error:  # edge: a run tells of every fault, and goes on
        row = Row(part.name, "the run itself")
        row.add([f"{type(error).__name__}: {error}"])
        return Part((row,))


def _tell(rows: tuple[Row, ...]) -> None:
    for row in rows:
        for name, found in (("lost", row.lost), ("wrong", row.wrong)):
            for sentence in found[:SHOWN]:
                print(f"          {name}: {row.fault}: {sentence[:1_000]}", flush=True)


def conclude(parts: Sequence[Part], tally: Tally, *, as_json: bool) -> int:
    """Print the table and the figures; return the exit code."""
    rows = [row for part in parts for row in part.rows]
    print(f"\n{table(rows)}\n")
    left_out = [f"{row.part} {row.fault}" for row in rows if not row.tried]
    if left_out:
        print(f"not tried for want of time: {', '.join(left_out)}\n")
    for fault in tally.faults[:SHOWN]:
        print(f"fault of ours: {fault}")
    growth = [part.growth for part in parts if part.growth is not None]
    figures = {
        "kills": sum(part.kills for part in parts),
        "committed": sum(part.committed for part in parts),
        "lost": sum(len(row.lost) for row in rows),
        "faults": sum(row.tried for row in rows),
        "survived": sum(row.survived for row in rows),
        "requests": tally.requests,
        "server_errors": tally.server_errors,
        "growth": round(max(growth, default=0.0), 2),
    }
    if as_json:
        print(json.dumps(figures))
    else:
        print(", ".join(f"{name} {value}" for name, value in figures.items()))
    is_well = figures["faults"] == figures["survived"] and not figures["server_errors"]
    return 0 if is_well else 1


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=FULL_SECONDS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", help="a part of the run; may be repeated")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    # What is told to end takes its data folders and processes with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    sys.exit(run(parser.parse_args()))


if __name__ == "__main__":
    main()
