"""A large index over a real database: ``python -m benchmarks.large --vectors 1000000 --dim 384``.

Prints how long one process takes to load the vectors from their rows and from a snapshot, to
search, and to see one note more, and its peak memory. Each is measured in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

import app  # noqa: F401 - limits native threads before numpy is imported
from app.db import migrate, spaces
from app.db.engine import Database
from app.domain.spaces import SpaceSpec
from app.index.core import Form
from app.mirror.held_vectors import Holding
from app.mirror.mirror import Mirror
from app.sync import spaces as space_sync
from benchmarks.memory import peak_bytes
from benchmarks.peer_ours import add_chunks, add_notes, query
from benchmarks.scan import generated

BATCH = 10_000
SEARCHES = 41
EDITS = 11
LIMIT = 10


def fill(folder: Path, count: int, dimension: int) -> None:
    """Write the database with so many notes of one chunk each."""
    database = _opened(folder)
    random = np.random.default_rng(0)
    spec = SpaceSpec("generated", "generated", dimension, 2_000)
    space_id = space_sync.prepare(database, spec).id
    for start in range(0, count, BATCH):
        vectors = generated(min(BATCH, count - start), dimension, random)
        with database.write() as connection:
            add_notes(connection, range(start + 1, start + len(vectors) + 1))
            add_chunks(connection, space_id, start + 1, vectors)
    database.close()


def _opened(folder: Path) -> Database:
    database = Database(f"sqlite:///{folder / 'crystal.db'}")
    migrate.upgrade(database)
    return database


def measure(folder: Path, count: int, dimension: int, precision: str) -> dict[str, float]:
    """Load, search and edit in this process, then leave a snapshot; MB and milliseconds."""
    database = _opened(folder)
    mirror = Mirror(database, holding=Holding(Form(precision), folder / "snapshots"))
    # Other ones than the run before has added.
    with database.read() as connection:
        random = np.random.default_rng(_newest_note(connection))
    vectors = generated(SEARCHES + EDITS, dimension, random)
    start = time.perf_counter()
    query(mirror, vectors[0], LIMIT)
    figures = {"first_search_ms": _since(start)}
    times = [query(mirror, vector, LIMIT)[0] for vector in vectors[1:SEARCHES]]
    edits = [_edit(database, mirror, vector) for vector in vectors[SEARCHES:]]
    figures |= {
        "search_p50_ms": float(np.median(times)),
        "search_best_ms": min(times),
        "edit_p50_ms": float(np.median(edits)),
        "peak_mb": peak_bytes() / 2**20,
    }
    start = time.perf_counter()
    mirror.close()
    figures["close_ms"] = _since(start)
    database.close()
    return figures


def _edit(database: Database, mirror: Mirror, vector: NDArray[np.float32]) -> float:
    """Store one note more and let the next search see it; milliseconds."""
    start = time.perf_counter()
    with database.write() as connection:
        space = spaces.active(connection)
        if space is None:
            raise SystemExit("there is no active space")
        row = _newest_note(connection)
        add_notes(connection, range(row + 1, row + 2))
        add_chunks(connection, space.id, row + 1, vector[np.newaxis, :])
    with mirror.open():
        milliseconds = _since(start)
    if query(mirror, vector, 1)[1] != [row + 1]:
        raise SystemExit("a note that was written is not found")
    return milliseconds


def _newest_note(connection: Connection) -> int:
    return int(connection.exec_driver_sql("SELECT max(id) FROM notes").scalar_one())


def _since(start: float) -> float:
    return (time.perf_counter() - start) * 1000


def _in_a_process(folder: Path, given: argparse.Namespace, what: str) -> dict[str, Any]:
    options = ["--vectors", str(given.vectors), "--dim", str(given.dim), "--step", what]
    options += ["--folder", str(folder), "--precision", given.precision]
    command = [sys.executable, "-m", "benchmarks.large", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _step(given: argparse.Namespace) -> dict[str, float]:
    if given.step == "fill":
        fill(given.folder, given.vectors, given.dim)
        return {}
    return measure(given.folder, given.vectors, given.dim, given.precision)


def main() -> None:
    """Print the figures, as JSON with ``--json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=int, default=1_000_000)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--precision", choices=("float32", "float16"), default="float32")
    parser.add_argument("--folder", type=Path, help="keep the generated database here")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--step", choices=("fill", "measure"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        print(json.dumps(_step(given)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "crystal.db").exists():
            _in_a_process(folder, given, "fill")
        for snapshot in (folder / "snapshots").glob("*"):
            snapshot.unlink()
        figures = {
            "from_rows": _in_a_process(folder, given, "measure"),
            "from_snapshot": _in_a_process(folder, given, "measure"),
        }
    if given.json:
        print(json.dumps({"vectors": given.vectors, "dim": given.dim, **figures}))
        return
    print(f"{given.vectors} x {given.dim}, {given.precision}")
    for name in figures["from_rows"]:
        texts = [f"{figures[column][name]:14.1f}" for column in figures]
        print(f"  {name:18}" + "".join(texts))


if __name__ == "__main__":
    main()
