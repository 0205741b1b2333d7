"""What a search costs beyond the scan: ``python -m benchmarks.search --json``.

Server time runs from the request's arrival in our code to the body as bytes. The provider
answers at once. ``grow`` finds nothing and so takes the whole budget of candidates; ``direct``
has its notes in the first round.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import quote

from flask import Flask
from sqlalchemy import event
from werkzeug.test import EnvironBuilder

from app.factory import Application, build
from app.settings.store import load
from benchmarks.corpus import CHUNKS_PER_NOTE, DIMENSION, NEAR, open_corpus
from benchmarks.timing import best_milliseconds

SEARCH = "/api/search"
NUMBER = "(n)"
GROW = f"absent 索引 words {NUMBER}"
DIRECT = f"{NEAR} words {NUMBER}"
OTHERS = 50
"""So many other queries are asked in turn: an index remembers fewer answers."""

BUDGET = 500
FIXED_MS = 2.0
GROW_FACTOR = 3.0
STARTUP_LIMIT_SECONDS = 2.0
MEMORY_FACTOR = 1.5
MEMORY_BASE_MB = 350.0
_UNCOUNTED = ("BEGIN", "COMMIT", "ROLLBACK", "PRAGMA")


def request(flask: Flask, path: str, **parameters: str) -> Callable[[], bytes]:
    """Return a call that sends a request straight into the WSGI application.

    ``NUMBER`` in a parameter is another one at each call.
    """
    text = "&".join(f"{name}={quote(value)}" for name, value in parameters.items())
    queries = [text.replace(quote(NUMBER), str(number)) for number in range(OTHERS)]
    builders = [
        EnvironBuilder(path=path, query_string=query, base_url="http://localhost:3721")
        for query in queries
    ]
    environs = cycle([builder.get_environ() for builder in builders])
    return lambda: b"".join(flask.wsgi_app(dict(next(environs)), _start_response))


def _start_response(status: str, *_: Any) -> Callable[[bytes], object]:
    if not status.startswith("200"):
        raise SystemExit(f"the search answered {status}")
    return lambda _: None


def scan_of(application: Application, query: str) -> Callable[[], object]:
    """Return a call that only scans the index, for the whole budget, each time for another text."""
    texts = [query.replace(NUMBER, f"scan {number}") for number in range(OTHERS)]
    vectors = cycle([application.embedder.embed_query(text).vector for text in texts])
    with application.mirror.open() as (_, view):
        index = view.index
    if index is None:
        raise SystemExit("the index is empty")
    return lambda: list(index.search(next(vectors), BUDGET))


def count_statements(application: Application, call: Callable[[], object]) -> int:
    """Count the SQL statements of one call, transactions' own words left out."""
    seen: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if not statement.startswith(_UNCOUNTED):
            seen.append(statement)

    event.listen(application.database.engine, "before_cursor_execute", note)
    try:
        call()
    finally:
        event.remove(application.database.engine, "before_cursor_execute", note)
    return len(seen)


def measure(folder: Path, notes: int, runs: int) -> dict[str, Any]:
    """Return the times of both kinds of search beside that of the scan, and their limits."""
    application = open_corpus(folder, notes)
    application.warm()
    flask = application.flask()
    grow, direct = request(flask, SEARCH, q=GROW), request(flask, SEARCH, q=DIRECT)
    best = best_milliseconds(
        {
            "scan": scan_of(application, GROW),
            "scan_near": scan_of(application, DIRECT),
            "grow": grow,
            "direct": direct,
        },
        runs,
    )
    expanded = request(flask, SEARCH, q=DIRECT, expand="true", limit="50", project="project-1")
    figures = {
        "notes": notes,
        "chunks": notes * CHUNKS_PER_NOTE,
        "dimension": DIMENSION,
        **{f"{name}_ms": milliseconds for name, milliseconds in best.items()},
        "grow_over_limit": best["grow"] / (GROW_FACTOR * best["scan"] + FIXED_MS),
        "direct_over_limit": best["direct"] / (best["scan_near"] + FIXED_MS),
        "statements": max(count_statements(application, call) for call in (grow, expanded)),
    }
    application.close()
    return figures


def measure_start(folder: Path, chunks: int) -> dict[str, float]:
    """Return seconds from a process's start to its first answers, and its peak memory.

    It starts to answer with the index loaded; the model is loaded beside, and the first search
    by meaning waits for it.
    """
    command = [sys.executable, "-m", "benchmarks.search", "--open", str(folder)]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        moments = [(time.perf_counter() - start, line) for line in process.stdout or ()]
    (started, _), (searched, _), (_, peak_line) = moments
    peak = float(peak_line)
    limit = MEMORY_FACTOR * chunks * DIMENSION * 4 / 2**20 + MEMORY_BASE_MB
    return {
        "start_seconds": started,
        "start_over_limit": started / STARTUP_LIMIT_SECONDS,
        "first_search_seconds": searched,
        "peak_mb": peak,
        "peak_over_limit": peak / limit,
    }


def open_once(folder: Path) -> None:
    """Open the database with the real model, say when it answers, print the peak memory in MB."""
    application = build(load({"data_dir": str(folder)}, environment={}))
    application.warm()
    flask = application.flask()
    request(flask, "/api/notes", search="慢查询")()
    print("started", flush=True)
    request(flask, SEARCH, q="慢查询")()
    print("searched", flush=True)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    application.close()


def main() -> None:
    """Print the figures, as JSON with ``--json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--folder", type=Path, help="keep the generated database here")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--open", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.open:
        open_once(arguments.open)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or Path(scratch)
        figures = measure(folder, arguments.notes, arguments.runs)
        figures |= measure_start(folder, figures["chunks"])
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"  {name:18} {value:10.3f}")


if __name__ == "__main__":
    main()
