"""Providers that are down, slow, or answer nonsense.

Owns one trial of each behaviour: notes are kept, searches by meaning say what is wrong, those by
words go on, none takes long, and nothing is left of it once the provider is well.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.soak.calls import Caller, Tally
from benchmarks.soak.outcome import Part, Row
from benchmarks.soak.processes import Place, Server, until
from tests.support.provider import (
    Behaviour,
    StubProvider,
    delayed,
    dripping,
    fine,
    of_dimension,
    raw,
    refused_address,
    status,
    vectors,
)

PART = "provider"
TIMEOUT = 1.0
MOST_SECONDS = 5.0
RECOVERY_SECONDS = 90.0
"""The longest that a provider is left alone, and some."""

HUGE = 80 * 2**20

BEHAVIOURS: dict[str, Behaviour] = {
    "answers late": delayed(30.0),
    "one byte after the other": dripping(0.2),
    **{f"status {code}": status(code) for code in (400, 401, 403, 404, 408, 409, 500, 502, 503)},
    "status 429, Retry-After": status(429, {"Retry-After": "3600"}),
    "redirect to elsewhere": status(307, {"Location": "http://127.0.0.2/v1/embeddings"}),
    "no JSON": raw(b'{"data": [{"embedd'),
    "JSON of another form": raw(b'["no"]'),
    "nesting without end": raw(b"[" * 200_000),
    "fewer vectors than texts": vectors([]),
    "NaN": raw(b'{"data":[{"index":0,"embedding":[NaN' + b",0.5" * 63 + b"]}]}"),
    "Infinity": raw(b'{"data":[{"index":0,"embedding":[Infinity' + b",0.5" * 63 + b"]}]}"),
    "zero vector": vectors([[0.0] * 64]),
    "another dimension": of_dimension(32),
    "a huge body": raw(b" " * HUGE),
}


def run(folder: Path, settings: Mapping[str, str], tally: Tally, seconds: float) -> Part:
    """Try every behaviour once on one server, as many as the seconds allow."""
    deadline = time.monotonic() + seconds
    own = {**settings, "CRYSTAL_EMBEDDING_TIMEOUT": str(TIMEOUT), "CRYSTAL_EMBEDDING_RETRIES": "1"}
    rows = []
    with StubProvider() as stub:
        place = Place(folder, {**own, "CRYSTAL_EMBEDDING_BASE_URL": stub.base_url})
        place.make()
        with Server(place, tally) as server:
            caller = server.caller()
            caller.call("POST", "/api/notes", {"title": "索引 pool", "summary": "kept"})
            for number, (name, behaviour) in enumerate(BEHAVIOURS.items()):
                row = Row(PART, name)
                rows.append(row)
                if number == 0 or time.monotonic() < deadline:
                    row.add(_tried(caller, stub, behaviour, number))
    rows.append(Row(PART, "down"))
    if time.monotonic() < deadline:
        _down(folder.with_name("down"), own, tally, rows[-1])
    return Part(tuple(rows))


def _tried(caller: Caller, stub: StubProvider, behaviour: Behaviour, number: int) -> list[str]:
    stub.behave(behaviour)
    wrong, note_id = _while_ill(caller, f"behaviour {number}")
    stub.behave(fine)
    if note_id is None or not until(lambda: _embeds(caller, note_id), RECOVERY_SECONDS, 0.5):
        wrong.append("not embedded once the provider was well")
    answer = caller.get("/api/search", q=f"well {number}", ranker="chatcrystal")
    return wrong if answer.status == 200 else [*wrong, f"search: {answer.body}"]


def _while_ill(caller: Caller, title: str) -> tuple[list[str], int | None]:
    """Write and search while the provider misbehaves; return what is wrong, and the note."""
    wrong = []
    made = caller.call("POST", "/api/notes", {"title": title, "summary": "pool"})
    note_id = made.data["id"] if made.status == 201 else None
    if note_id is None:
        wrong.append(f"create: {made.status} {made.body}")
    by_meaning = caller.get("/api/search", q=f"{title} meaning", ranker="chatcrystal")
    if by_meaning.status != 503:
        wrong.append(f"chatcrystal: {by_meaning.status} {json.dumps(by_meaning.body)[:300]}")
    by_words = caller.get("/api/search", q=f"{title} pool", ranker="hybrid")
    if by_words.status != 200 or not by_words.body.get("warnings"):
        wrong.append(f"hybrid: {by_words.status} {json.dumps(by_words.body)[:300]}")
    ready = caller.get("/api/ready")
    if ready.status != 503:
        wrong.append(f"ready: {ready.status}")
    slow = max(answer.seconds for answer in (made, by_meaning, by_words, ready))
    if slow > MOST_SECONDS:
        wrong.append(f"an answer took {slow:.1f} s")
    return wrong, note_id


def _embeds(caller: Caller, note_id: int) -> bool:
    return caller.call("POST", f"/api/notes/{note_id}/embed").status == 200


def _down(folder: Path, settings: Mapping[str, str], tally: Tally, row: Row) -> None:
    """Nobody listens at the provider's address."""
    with refused_address() as address:
        place = Place(folder, {**settings, "CRYSTAL_EMBEDDING_BASE_URL": address})
        place.make()
        with Server(place, tally) as server:
            row.add(_while_ill(server.caller(), "nobody")[0])
