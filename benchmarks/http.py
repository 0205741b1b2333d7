"""What a server answers over HTTP under load: ``python -m benchmarks.http --json``.

The server runs in a process of its own as ``crystal serve`` does, and as two workers of gunicorn
for repeated queries; its provider answers at once. The clients are threads of this process, on the
same machine. ``new`` are queries that nobody asked before and that take the whole budget of
candidates, ``direct`` such that have their notes in the first round, ``repeated`` a few queries
again and again. ``cpu_ms`` is the processor's time of the server for one request.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from urllib.parse import quote

from benchmarks.corpus import NEAR, open_corpus

CLIENTS = (1, 8, 32)
ONE_PROCESS, TWO_WORKERS = 1, 2
WANTED = {"new": 100.0, "direct": 150.0, "repeated": 300.0}
"""Requests per second with eight clients."""

WANTED_AT = 8
TAIL = 4.0
"""The 99th percentile may be so many times the median."""

START_SECONDS = 180.0
IDLE_SHARE = 0.1
"""A server that takes less of a processor has loaded everything."""

WARM_REQUESTS = 400
"""A server that has run for a while has read most rows before."""

HOST = "127.0.0.1"

Queries = Callable[[int], str]


@dataclass(frozen=True, slots=True)
class Load:
    """A kind of query, and how many processes serve it."""

    name: str
    processes: int
    query: Queries


LOADS = (
    Load("new", ONE_PROCESS, lambda number: f"absent 索引 words {number}"),
    Load("direct", ONE_PROCESS, lambda number: f"{NEAR} words {number}"),
    Load("repeated", TWO_WORKERS, lambda number: f"{NEAR} again {number % 20}"),
)


@contextmanager
def served(folder: Path, processes: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Serve the corpus; give the port, and the ids of the processes that answer."""
    with socket.create_server((HOST, 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m"]
    if processes == ONE_PROCESS:
        command += ["benchmarks.http_server", str(folder), str(port)]
    else:
        command += ["gunicorn", "-c", "python:cli.admin.gunicorn_conf", "-w", str(processes)]
        command += ["-b", f"{HOST}:{port}", "benchmarks.http_worker:app"]
    environment = os.environ | {
        "CRYSTAL_DATA_DIR": str(folder),
        "CRYSTAL_LOG_LEVEL": "WARNING",
        # Its model would embed all notes meanwhile, which takes one of two cores.
        "CRYSTAL_SEARCH_SECOND_SPACE": "false",
    }
    process = subprocess.Popen(command, env=environment)
    try:
        _wait(port, process)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("ascii")
        workers = tuple(map(int, children.split())) if processes > 1 else (process.pid,)
        _settle(workers)
        yield port, workers
    finally:
        process.terminate()
        process.wait()


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with closing(Connection(port)) as connection:
                connection.get("/api/health")
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server does not answer")


def _settle(workers: Sequence[int]) -> None:
    """Wait until the processes have loaded what they load beside their first answers."""
    deadline, used = time.monotonic() + START_SECONDS, -1.0
    while time.monotonic() < deadline:
        now = _processor_seconds(workers)
        if now - used < IDLE_SHARE and used >= 0:
            return
        used = now
        time.sleep(1.0)
    raise SystemExit("the server is not idle")


class Connection:
    """A connection that stays open; as little work a request as a client can do."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection((HOST, port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._tail = f" HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode("ascii")

    def get(self, path: str) -> None:
        """Send a request and read its answer, which must be a success."""
        self._socket.sendall(b"GET " + path.encode("ascii") + self._tail)
        answer = self._socket.recv(65536)
        while b"\r\n\r\n" not in answer:
            answer += self._received()
        head, _, body = answer.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"the server answered {head[:40]!r}")
        left = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]) - len(body)
        while left:
            left -= len(self._received())

    def _received(self) -> bytes:
        found = self._socket.recv(65536)
        if not found:
            raise ConnectionError("the server closed the connection")
        return found

    def close(self) -> None:
        """Close it."""
        self._socket.close()


def measure(
    port: int, workers: Sequence[int], query: Queries, clients: int, numbers: Iterator[int],
    requests: int,
) -> dict[str, float]:  # fmt: skip
    """Send so many searches from so many clients at once; return rate, times and server's work.

    Every client sends as many as any other: else those whose worker has fewer clients would send
    most, and the times would be theirs.
    """
    times: list[float] = []

    def work() -> None:
        with closing(Connection(port)) as connection:
            for _ in range(requests // clients):
                # It is advanced in one step of the interpreter, so threads may share it.
                path = f"/api/search?q={quote(query(next(numbers)))}"
                start = time.perf_counter()
                connection.get(path)
                times.append((time.perf_counter() - start) * 1000)

    used = _processor_seconds(workers)
    begin = time.perf_counter()
    threads = [threading.Thread(target=work) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - begin
    cuts = statistics.quantiles(times, n=100)
    return {
        "per_second": len(times) / elapsed,
        "p50_ms": cuts[49],
        "p99_ms": cuts[98],
        "p99_over_p50": cuts[98] / cuts[49],
        "cpu_ms": (_processor_seconds(workers) - used) * 1000 / len(times),
    }


def _processor_seconds(pids: Sequence[int]) -> float:
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def run(folder: Path, notes: int, requests: int) -> dict[str, dict[str, float]]:
    """Measure every load with every number of clients; keys are as in ``new 8``."""
    open_corpus(folder, notes).close()
    found: dict[str, dict[str, float]] = {}
    numbers = count()
    for processes in (ONE_PROCESS, TWO_WORKERS):
        with served(folder, processes) as (port, workers):
            for load in (each for each in LOADS if each.processes == processes):
                measure(port, workers, load.query, max(CLIENTS), numbers, WARM_REQUESTS)
                for clients in CLIENTS:
                    name = f"{load.name} {clients}"
                    found[name] = measure(port, workers, load.query, clients, numbers, requests)
    return found


def _verdict(name: str, figures: dict[str, float]) -> dict[str, float]:
    load, _, clients = name.partition(" ")
    if int(clients) != WANTED_AT:
        return {}
    return {
        "rate_over_wanted": figures["per_second"] / WANTED[load],
        "tail_over_limit": figures["p99_over_p50"] / TAIL,
    }


def main() -> None:
    """Print the figures, as JSON with ``--json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=600, help="of each load and client number")
    parser.add_argument("--folder", type=Path, help="keep the generated database here")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or Path(scratch)
        found = run(folder, arguments.notes, arguments.requests)
    found = {name: figures | _verdict(name, figures) for name, figures in found.items()}
    if arguments.json:
        print(json.dumps(found))
        return
    for name, figures in found.items():
        print(f"{name:12}", "  ".join(f"{key} {value:8.2f}" for key, value in figures.items()))


if __name__ == "__main__":
    main()
