"""Faults of the machine: full disks, folders that cannot be written, damaged files, wrong clocks.

Owns one trial of each. After every one the database must hold what was promised, and no answer may
be a fault of ours.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.soak import checks, templates
from benchmarks.soak.calls import Caller, Tally
from benchmarks.soak.ledger import Ledger, stored_notes
from benchmarks.soak.outcome import Row
from benchmarks.soak.processes import Command, NotStarted, Place, Server, running, until

ROOM = 300_000
"""Bytes that a file may grow before the disk is full."""

DAY = 86_400
MOST_NOTES = 400
REFUSAL_SECONDS = 120.0
MENDING_SECONDS = 60.0
DATABASE_UNAVAILABLE = "database_unavailable"


def write_notes(caller: Caller, ledger: Ledger, count: int, prefix: str) -> list[str]:
    """Create notes until one is refused; return what was answered otherwise than by 201 or 503."""
    for number in range(count):
        title, summary = f"{prefix} {number}", "索引 缓存 " * 100
        ledger.attempt(title, summary)
        answer = caller.call("POST", "/api/notes", {"title": title, "summary": summary})
        if answer.status == 201:
            ledger.promised(title, summary)
        elif answer.code == DATABASE_UNAVAILABLE:
            return []
        else:
            return [f"create: {answer.status} {answer.body}"]
    return []


def kept_promises(place: Place, ledger: Ledger, tally: Tally, row: Row, wrong: list[str]) -> None:
    """Look at the files, start a server over them and compare; count the trial."""
    with checks.copied(place) as copy:
        wrong = wrong + checks.of_files(copy)
        lost = ledger.lost(stored_notes(copy.database))
    with Server(place, tally) as server:
        wrong += checks.of_answers(place, server.caller(), ("索引 缓存", "pool"))
    row.add(wrong, lost)


def disk_full(place: Place, tally: Tally, row: Row, chance: random.Random) -> None:
    """No file of the folder can grow beyond a limit."""
    ledger = Ledger()
    with Server(place, tally) as server:
        wrong = write_notes(server.caller(), ledger, 5, "before")
    limit = place.database.stat().st_size + chance.randrange(ROOM)
    server = Server(place, tally, file_bytes=limit)
    with running(server):
        caller = server.started().caller()
        wrong += write_notes(caller, ledger, MOST_NOTES, "filling")
        found = caller.get("/api/notes", limit=5)
        if found.status != 200:
            wrong.append(f"reads fail on a full disk: {found.body}")
    kept_promises(place, ledger, tally, row, wrong)


def disk_full_at_start(place: Place, tally: Tally, row: Row, chance: random.Random) -> None:
    """The disk is full when the database is made."""
    row.add(refused(place, tally, file_bytes=chance.randrange(1_000, 60_000)))


def read_only(place: Place, tally: Tally, row: Row, _chance: random.Random) -> None:
    """Neither the folder nor a file in it can be written."""
    ledger = Ledger()
    with Server(place, tally) as server:
        wrong = write_notes(server.caller(), ledger, 5, "before")
    with _unwritable(place.folder):
        before = digests(place.folder)
        wrong += refused(place, tally, as_nobody=True)
        if digests(place.folder) != before:
            wrong.append("files changed")
    kept_promises(place, ledger, tally, row, wrong)


@contextmanager
def _unwritable(folder: Path) -> Iterator[None]:
    """Take away the right to write a folder and its files, for a while."""
    paths = [*folder.rglob("*"), folder]
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in paths}
    # Whoever serves as nobody must get there and read it.
    above = [parent for parent in folder.parents if parent.stat().st_uid == os.geteuid()]
    opened = {parent: stat.S_IMODE(parent.stat().st_mode) for parent in above}
    for path, mode in opened.items():
        path.chmod(mode | stat.S_IXOTH)
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        yield
    finally:
        for path, mode in {**modes, **opened}.items():
            path.chmod(mode)


def refused(place: Place, tally: Tally, *named: str, **limits: Any) -> list[str]:
    """Start a server that cannot work; return what is wrong with how it says so."""
    server = Server(place, tally, **limits)
    with running(server):
        try:
            server.started(REFUSAL_SECONDS)
        except NotStarted as error:
            text = str(error)
            code = server.wait(REFUSAL_SECONDS)
        else:
            return ["the server started all the same"]
    wrong = [] if code == 1 else [f"exit {code}: {text[-500:]}"]
    wrong += [f"it does not name {name}: {text[-300:]}" for name in named if name not in text]
    return wrong + (["a traceback"] if "Traceback" in text else [])


def digests(folder: Path) -> dict[str, str]:
    """Return a digest of every file of a folder but its process and log files."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.suffix != ".pid"
    }


Damage = Callable[[Path, random.Random], None]


def truncated(path: Path, chance: random.Random) -> None:
    """Cut a file off."""
    os.truncate(path, chance.randrange(path.stat().st_size))


def without_head(path: Path, chance: random.Random) -> None:
    """Write over the beginning of a file."""
    overwritten(path, chance, start=0)


def overwritten(path: Path, chance: random.Random, start: int | None = None) -> None:
    """Write over 4096 bytes somewhere in a file."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(chance.randrange(max(size - 4_096, 1)) if start is None else start)
        file.write(chance.randbytes(4_096))


def garbage(path: Path, chance: random.Random) -> None:
    """Replace a file by one of the same size."""
    path.write_bytes(chance.randbytes(path.stat().st_size))


def emptied(path: Path, _chance: random.Random) -> None:
    """Leave a file of no length."""
    os.truncate(path, 0)


DATABASE_DAMAGES: dict[str, Damage] = {
    "database without its head": without_head,
    "database replaced by noise": garbage,
    "database cut off": truncated,
}
SNAPSHOT_DAMAGES: dict[str, Damage] = {
    "snapshot cut off": truncated,
    "snapshot with noise in it": overwritten,
    "snapshot replaced by noise": garbage,
    "snapshot of no length": emptied,
}


def damaged_database(damage: Damage, place: Place, tally: Tally, row: Row,
                     chance: random.Random) -> None:  # fmt: skip
    """The file of the database is damaged while no server runs, and there is a backup."""
    ledger = Ledger()
    with Server(place, tally) as server:
        wrong = write_notes(server.caller(), ledger, 30, "before")
    backup = place.folder / "crystal.db.20260101T000000000000.bak"
    shutil.copy(place.database, backup)
    damage(place.database, chance)
    for side in ("-wal", "-shm"):
        place.database.with_name(place.database.name + side).unlink(missing_ok=True)
    before = digests(place.folder)
    wrong += refused(place, tally, "damaged", backup.name)
    wrong += _examined(place)
    if digests(place.folder) | before != before:
        changed = [name for name, digest in digests(place.folder).items()
                   if before.get(name, digest) != digest]  # fmt: skip
        wrong += [f"{name} is overwritten" for name in changed]
    shutil.copy(backup, place.database)
    kept_promises(place, ledger, tally, row, wrong)


def damaged_inside(place: Place, tally: Tally, row: Row, chance: random.Random) -> None:
    """Somewhere in the file of the database is noise, and a server runs over it all the same."""
    ledger = Ledger()
    with Server(place, tally) as server:
        wrong = write_notes(server.caller(), ledger, 30, "before")
    backup = place.folder.with_name(f"{place.folder.name}.backup")
    shutil.copy(place.database, backup)
    overwritten(place.database, chance)
    server = Server(place, tally)
    with running(server):
        try:
            caller = server.started(REFUSAL_SECONDS).caller()
        except NotStarted as error:
            wrong += [] if DATABASE_UNAVAILABLE in str(error) else [f"not started: {error}"]
        else:
            wrong += [fault for path in ASKED for fault in _no_fault_of_ours(caller, path)]
    for path in (place.database, *place.folder.glob("crystal.db-*")):
        path.unlink()
    shutil.copy(backup, place.database)
    kept_promises(place, ledger, tally, row, wrong)


ASKED = (
    "/api/notes?limit=100",
    "/api/notes?search=before",
    *(f"/api/notes/{number}" for number in range(1, 31)),
    *(f"/api/search?q=before&limit=50&ranker={ranker}" for ranker in checks.RANKERS),
    "/api/ready",
    "/api/status",
    "/api/relations/graph",
)


def _no_fault_of_ours(caller: Caller, path: str) -> list[str]:
    answer = caller.get(path)
    is_told = answer.status < 500 or answer.code == DATABASE_UNAVAILABLE
    return [] if is_told else [f"{path}: {answer.status} {answer.body}"]


def _examined(place: Place) -> list[str]:
    """Have the doctor look at a damaged database."""
    doctor = Command(place, "doctor", "--json")
    with running(doctor):
        code = doctor.wait(REFUSAL_SECONDS)
    return [] if code == 1 and "damaged" in doctor.printed else [f"doctor: {code} {doctor.printed}"]


def damaged_snapshot(damage: Damage, template: Callable[[], Path], place: Place, tally: Tally,
                     row: Row, chance: random.Random) -> None:  # fmt: skip
    """The snapshot of an index is damaged; it is optional, so nobody may notice."""
    shutil.rmtree(place.folder)
    shutil.copytree(template(), place.folder)
    wrong = []
    for path in (place.folder / "snapshots").glob("*.snapshot"):
        damage(path, chance)
    with Server(place, tally) as server:
        caller = server.caller()
        until(lambda: not _compared(place, caller), MENDING_SECONDS, 1.0)
        wrong += _compared(place, caller)
    row.add(wrong)


def _compared(place: Place, caller: Caller) -> list[str]:
    return checks.of_answers(place, caller, ("索引 缓存", "pool"), ("vector",))


def snapshot_template(place: Place, tally: Tally) -> Path:
    """Make a data folder with a snapshot in it.

    Raises:
        NotStarted: no snapshot was written.
    """
    templates.large_database(place)
    with Server(place, tally) as server:
        server.caller().get("/api/search", q="索引", ranker="vector")
    if not list(place.folder.glob("snapshots/*.snapshot")):
        raise NotStarted("no snapshot was written")
    return place.folder
