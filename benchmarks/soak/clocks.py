"""Faults between processes: clocks that jump, and servers that share a data folder.

Owns one trial of each.
"""

from __future__ import annotations

import random
import threading
from pathlib import Path

from benchmarks.soak.calls import Caller, Gone, Tally
from benchmarks.soak.faults import DAY, kept_promises, refused, write_notes
from benchmarks.soak.ledger import Ledger
from benchmarks.soak.outcome import Row
from benchmarks.soak.processes import Place, Server, running, some_time

JUMPS = (0, 3_650 * DAY, -3_650 * DAY, DAY, -1, 0)
EDITS = 3


def clock_jumps(place: Place, tally: Tally, row: Row, _chance: random.Random) -> None:
    """The clock goes forward and back by years while the server runs."""
    clock = place.folder.parent / f"{place.folder.name}.clock"
    clock.write_text("0", "ascii")
    ledger = Ledger()
    wrong: list[str] = []
    with Server(place, tally, clock=clock) as server:
        caller = server.caller()
        made = caller.call("POST", "/api/notes", {"title": "shared", "summary": "0"})
        ledger.attempt("shared", "0")
        for number, jump in enumerate(JUMPS):
            _set(clock, jump)
            wrong += write_notes(caller, ledger, 2, f"jump {number}")
            wrong += _edited(caller, ledger, made.data["id"], number)
            wrong += _found(caller, f"jump {number} 1")
    kept_promises(place, ledger, tally, row, wrong)


def _set(clock: Path, seconds: int) -> None:
    aside = clock.with_suffix(".aside")
    aside.write_text(str(seconds), "ascii")
    aside.replace(clock)


def _edited(caller: Caller, ledger: Ledger, note_id: int, number: int) -> list[str]:
    """Edit a note by its versions, each of which must hold once."""
    wrong = []
    for edit in range(EDITS):
        note = caller.get(f"/api/notes/{note_id}").data
        version = note["updated_at"] or note["created_at"]
        summary = f"{number} {edit}"
        body = {"summary": summary, "if_updated_at": version}
        first = caller.call("PATCH", f"/api/notes/{note_id}", body)
        second = caller.call("PATCH", f"/api/notes/{note_id}", body)
        ledger.promised("shared", summary)
        if (first.status, second.status) != (200, 409):
            wrong.append(f"edits of one version: {first.status}, {second.status}")
        opened = caller.call("POST", f"/api/notes/{note_id}/open")
        if opened.status != 200:
            wrong.append(f"open: {opened.body}")
    return wrong


def _found(caller: Caller, title: str) -> list[str]:
    for ranker in ("chatcrystal", "fusion", "hybrid"):
        answer = caller.get("/api/search", q=title, ranker=ranker, limit=50)
        if title not in [row["title"] for row in answer.data or ()]:
            return [f"{ranker} does not find {title}: {answer.status}"]
    return []


def two_servers(place: Place, tally: Tally, row: Row, chance: random.Random) -> None:
    """Two servers work on one data folder, and one is killed while both write."""
    ledger = Ledger()
    wrong: list[str] = []
    with Server(place, tally) as first:
        second = Server(place, tally)
        with running(second):
            caller, other = first.caller(), second.started().caller()
            wrong += write_notes(caller, ledger, 2, "first") + _found(other, "first 1")
            wrong += write_notes(other, ledger, 2, "second") + _found(caller, "second 1")
            thread = threading.Thread(target=_until_gone, args=(other, ledger))
            thread.start()
            some_time(chance, 1.0)
            second.kill()
            thread.join()
        wrong += write_notes(caller, ledger, 5, "after") + _found(caller, "after 4")
        wrong += refused(place, tally, "running already", port=first.port)
    kept_promises(place, ledger, tally, row, wrong)


def _until_gone(caller: Caller, ledger: Ledger) -> None:
    try:
        write_notes(caller, ledger, 1_000, "killed")
    except Gone:
        caller.close()
