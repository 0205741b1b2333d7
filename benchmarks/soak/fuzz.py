"""Texts, files and requests that nobody would send, drawn at random, and known bombs.

Owns the limits: no answer is a fault of ours, none takes longer than five seconds, and memory does
not grow by them.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping
from itertools import cycle
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, given

from benchmarks.soak.calls import Answer, Tally
from benchmarks.soak.checks import RANKERS
from benchmarks.soak.concurrency import MOST_GROWTH, growth_of
from benchmarks.soak.outcome import Part, Row
from benchmarks.soak.processes import Place, Server
from tests.support.hostile import BOMBS, LONG_TEXTS, SHORT_TEXTS

PART = "fuzz"
MOST_SECONDS = 5.0
LONGEST_QUERY = 4_000
MOST_NOTES = 60
EXAMPLES = 10
"""Texts of one draw; draws go on until the time is over."""

JUDGED_DRAWS = 40
"""After fewer, as many notes as are kept may not be there yet."""

_SEARCHABLE = {200, 400}


class Texts:
    """Takes texts through everything that a text goes through."""

    def __init__(self, server: Server) -> None:
        """Ask a server."""
        self._server = server
        self._caller = server.caller()
        self._worked = server.worked()
        self._rankers = cycle(RANKERS)
        self._notes: list[int] = []

    def tried(self, text: str) -> list[str]:
        """Create a note of a text, search for it, ask why, and show it; return what is wrong."""
        wrong: list[str] = []
        body = {"title": text[:200], "summary": text[:1_000], "body": text, "tags": [text[:20]]}
        made = self._caller.call("POST", "/api/notes", body)
        wrong += self._unless(made, {201, 400}, "create", text)
        note_id = made.data["id"] if made.status == 201 else 1
        query = text[:LONGEST_QUERY].encode("utf-8", "replace").decode()
        parameters = {"q": query, "ranker": next(self._rankers), "explain": "true"}
        found = self._caller.get("/api/search", **parameters)
        wrong += self._unless(found, _SEARCHABLE, f"search by {parameters['ranker']}", text)
        why = self._caller.get("/api/search/why", q=query, note_id=note_id)
        wrong += self._unless(why, {*_SEARCHABLE, 404}, "why", text)
        listed = self._caller.get("/api/notes", search=query[:500])
        wrong += self._unless(listed, _SEARCHABLE, "list", text)
        shown = self._caller.get(f"/api/notes/{note_id}")
        wrong += self._unless(shown, {200, 404}, "show", text)
        if made.status == 201:
            self._notes.append(note_id)
        if len(self._notes) > MOST_NOTES:
            gone = self._caller.call("DELETE", f"/api/notes/{self._notes.pop(0)}")
            wrong += self._unless(gone, {200}, "delete", text)
        return wrong

    def _unless(self, answer: Answer, statuses: set[int], what: str, text: str) -> list[str]:
        wrong = []
        if answer.status not in statuses:
            wrong.append(f"{what} {text[:40]!r}: {answer.status} {str(answer.body)[:200]}")
        before, self._worked = self._worked, self._server.worked()
        # Where others keep the processors busy, waiting for them is no hang.
        if min(answer.seconds, self._worked - before) > MOST_SECONDS:
            wrong.append(f"{what} {text[:40]!r}: {answer.seconds:.1f} s")
        return wrong


def run(folder: Path, settings: Mapping[str, str], tally: Tally, seconds: float, seed: int) -> Part:
    """Send texts to one server for some seconds, the known bombs first."""
    place = Place(folder, settings)
    place.make()
    bombs, drawn = Row(PART, "known bombs of 100,000 characters"), Row(PART, "drawn texts")
    deadline = time.monotonic() + seconds
    with Server(place, tally) as server:
        texts = Texts(server)
        for text in _in_time(_shuffled(seed), deadline - seconds / 2):
            bombs.add(texts.tried(text))
        memory = []
        while time.monotonic() < deadline or not drawn.tried:
            seed += 1
            _draw(texts, drawn, seed)
            memory.append(server.memory())
    growth = growth_of(memory)
    if len(memory) >= JUDGED_DRAWS and growth > MOST_GROWTH:
        drawn.wrong.append(f"memory grew by {growth:.1f} %")
        drawn.survived -= 1
    drawn.figures = f"memory {growth:+.1f} %, longest answer {tally.longest:.1f} s"
    return Part((bombs, drawn))


def _shuffled(seed: int) -> list[str]:
    return random.Random(seed).sample(list(BOMBS.values()), len(BOMBS))


def _in_time(texts: list[str], deadline: float) -> Iterator[str]:
    for text in texts:
        if time.monotonic() > deadline:
            return
        yield text


def _draw(texts: Texts, row: Row, seed: int) -> None:
    """Send some texts that hypothesis draws."""

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(SHORT_TEXTS | LONG_TEXTS)
    def send(text: str) -> None:
        row.add(texts.tried(text))

    send()
