"""Many writers and readers over shared notes, through two server processes of one database.

Owns the counters by which a lost update shows: every writer reads a number, adds one, and writes it
back only if nobody else has written meanwhile.
"""

from __future__ import annotations

import random
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from benchmarks.soak.calls import Answer, Caller, Gone, Tally
from benchmarks.soak.outcome import Part, Row
from benchmarks.soak.processes import Place, Server

PART = "8 writers, 8 readers, 2 servers"
WRITERS = 8
READERS = 8
SERVERS = 2
NOTES = 40
LONGEST_P99 = 10.0
"""Seconds; as long as a writer waits for its turn before it gives up."""

MOST_GROWTH = 5.0
"""Percent, of memory between the middle and the end of a run."""

JUDGED_REQUESTS = 20_000
"""Of fewer requests, growth and p99 are told and not judged: buffers are still being filled."""

SAMPLE_SECONDS = 0.5
QUERIES = ("pool count", "索引 缓存", "retry", "超时 连接池", "lock timeout")
RANKERS = ("chatcrystal", "fusion", "hybrid", "notebrain", "vector")


class Traffic:
    """What the threads of a run share: when to end, what went through, what went wrong."""

    def __init__(self, note_ids: list[int], seed: int) -> None:
        self.note_ids = note_ids
        self.is_over = threading.Event()
        self.added: Counter[int] = Counter()
        self.conflicts = 0
        self.reads: list[float] = []
        self.writes: list[float] = []
        self.wrong: list[str] = []
        self._seed = seed
        self._lock = threading.Lock()

    def chance(self, thread: int) -> random.Random:
        """Return the random numbers of a thread."""
        return random.Random(f"{self._seed} {thread}")

    def expect(self, what: str, answer: Answer, *statuses: int) -> bool:
        """Tell whether an answer is the first of some statuses; any other is a fault."""
        if answer.status not in statuses:
            with self._lock:
                self.wrong.append(f"{what}: {answer.status} {str(answer.body)[:200]}")
        return answer.status == statuses[0]

    def wrote(self, note_id: int, answer: Answer) -> None:
        """Count an edit that was answered."""
        with self._lock:
            self.writes.append(answer.seconds)
            self.added[note_id] += answer.status == 200
            self.conflicts += answer.status == 409

    def read(self, answer: Answer) -> None:
        """Keep how long a read took."""
        self.reads.append(answer.seconds)


def write(traffic: Traffic, caller: Caller, chance: random.Random) -> None:
    """Add one to a note's number; now and then make and drop a note and a relation."""
    note_id = chance.choice(traffic.note_ids)
    found = caller.get(f"/api/notes/{note_id}")
    traffic.read(found)
    if traffic.expect("get", found, 200):
        number = int(found.data["summary"].split()[1]) + 1
        version = found.data["updated_at"] or found.data["created_at"]
        body = {"summary": f"count {number} {chance.choice(QUERIES)}", "if_updated_at": version}
        answer = caller.call("PATCH", f"/api/notes/{note_id}", body)
        traffic.expect("edit", answer, 200, 409)
        traffic.wrote(note_id, answer)
    if chance.random() < 0.1:
        _come_and_go(traffic, caller, chance, note_id)


def _come_and_go(traffic: Traffic, caller: Caller, chance: random.Random, note_id: int) -> None:
    made = caller.call("POST", "/api/notes", {"title": f"passing {chance.choice(QUERIES)}"})
    if not traffic.expect("create", made, 201):
        return
    body = {"target_note_id": note_id, "relation_type": "EXTENDS"}
    own = made.data["id"]
    traffic.expect("relate", caller.call("POST", f"/api/notes/{own}/relations", body), 201)
    traffic.expect("delete", caller.call("DELETE", f"/api/notes/{own}"), 200)


def read(traffic: Traffic, caller: Caller, chance: random.Random) -> None:
    """Search, or list; what was written must be whole."""
    kind = chance.random()
    if kind < 0.3:
        query, ranker = chance.choice(QUERIES), chance.choice(RANKERS)
        answer = caller.get("/api/search", q=query, ranker=ranker)
        traffic.expect("search", answer, 200)
    elif kind < 0.5:
        answer = caller.get("/api/notes", limit=20)
        if traffic.expect("list", answer, 200) and answer.data["total"] < NOTES:
            traffic.wrong.append(f"a list of {answer.data['total']} notes")
    else:
        path = f"/api/notes/{chance.choice(traffic.note_ids)}"
        answer = caller.get(path if kind < 0.8 else f"{path}/relations")
        traffic.expect("note or relations", answer, 200)
    traffic.read(answer)


Act = Callable[[Traffic, Caller, random.Random], None]


def _repeat(act: Act, traffic: Traffic, caller: Caller, thread: int) -> None:
    chance = traffic.chance(thread)
    try:
        while not traffic.is_over.is_set():
            act(traffic, caller, chance)
    except Gone as gone:
        traffic.wrong.append(f"no answer to {gone}")
    caller.close()


def run(
    folder: Path, settings: Mapping[str, str], tally: Tally, *, name: str, seconds: float,
    least: int, seed: int,
) -> Part:  # fmt: skip
    """Have writers and readers at work for some seconds, and until there were so many requests."""
    place = Place(folder, settings)
    place.make()
    row = Row(PART, name)
    with ExitStack() as life:
        servers = [life.enter_context(Server(place, tally)) for _ in range(SERVERS)]
        traffic = Traffic(_planted(servers[0].caller()), seed)
        before = tally.requests
        memory = _measured(servers, traffic, tally, seconds, before + least)
        # Not over the connection of before: a server closes those that nobody uses.
        row.add(traffic.wrong, _lost(traffic, servers[0].caller()))
        requests = tally.requests - before
    growth = growth_of(memory)
    _judge(row, traffic, requests, growth)
    return Part((row,), committed=traffic.added.total(), growth=growth)


def _planted(caller: Caller) -> list[int]:
    made = []
    for number in range(NOTES):
        body = {"title": f"shared {number}", "summary": "count 0", "body": QUERIES[number % 5]}
        made.append(int(caller.call("POST", "/api/notes", body).data["id"]))
    return made


def _measured(
    servers: list[Server], traffic: Traffic, tally: Tally, seconds: float, enough: int
) -> list[int]:
    """Run the threads; return the memory of the servers together, in bytes, as time went by."""
    threads = [
        threading.Thread(
            target=_repeat,
            args=(write if number < WRITERS else read, traffic,
                  servers[number % SERVERS].caller(), number),
        )
        for number in range(WRITERS + READERS)
    ]  # fmt: skip
    for thread in threads:
        thread.start()
    memory: list[int] = []
    deadline = time.monotonic() + seconds
    try:
        while not memory or time.monotonic() < deadline or tally.requests < enough:
            time.sleep(SAMPLE_SECONDS)
            memory.append(sum(server.memory() for server in servers))
    finally:
        traffic.is_over.set()
        for thread in threads:
            thread.join()
    return memory


def growth_of(memory: list[int]) -> float:
    """Return by how many percent memory grew from the middle to the last tenth of a run."""
    tenth = max(len(memory) // 10, 1)
    middle = statistics.median(memory[len(memory) // 2 :][:tenth])
    return 100.0 * (statistics.median(memory[-tenth:]) - middle) / max(middle, 1)


def _lost(traffic: Traffic, caller: Caller) -> list[str]:
    """Compare every number with how often a writer was told that it had added one."""
    lost = []
    for note_id in traffic.note_ids:
        number = int(caller.get(f"/api/notes/{note_id}").data["summary"].split()[1])
        if number != traffic.added[note_id]:
            lost.append(f"note {note_id}: {number} and not {traffic.added[note_id]}")
    return lost


def _judge(row: Row, traffic: Traffic, requests: int, growth: float) -> None:
    read_p99, write_p99 = _p99(traffic.reads), _p99(traffic.writes)
    is_judged = requests >= JUDGED_REQUESTS
    if is_judged and max(read_p99, write_p99) > LONGEST_P99:
        row.wrong.append(f"p99 of {read_p99:.2f} s and {write_p99:.2f} s")
    if is_judged and growth > MOST_GROWTH:
        row.wrong.append(f"memory grew by {growth:.1f} %")
    row.survived = int(not (row.wrong or row.lost))
    row.figures = (
        f"{requests} requests, {traffic.added.total()} edits, {traffic.conflicts} conflicts "
        f"told, p99 of reads {read_p99 * 1000:.0f} ms, of edits {write_p99 * 1000:.0f} ms, memory "
        f"{growth:+.1f} %"
    )


def _p99(seconds: list[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.99)] if seconds else 0.0
