"""What many notes cost at once: ``python -m benchmarks.bulk --json``.

Notes are imported, embedded by a provider that answers at once, and searched, each size by a
process of its own over a database of its own. Printed are seconds on the clock and of the
processor for each step, the peak memory of the process beside the size of the vectors (those of
chunks, whole notes and fields, all of which ``hybrid`` holds), and
``growth``: the processor time of a note at the largest size over that at the smallest, which is 1
where the cost is linear. ``--plot FILE`` draws the costs against the size (needs the extra
``plot``).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from zlib import crc32

import numpy as np
from sqlalchemy import func, select

import app  # noqa: F401 - limits native threads before numpy is imported
from app.db.models import embeddings
from app.domain.search import SearchRequest
from app.embedding.base import Embedder
from app.factory import Application, build
from app.settings.store import load
from benchmarks import charts
from benchmarks.corpus import records
from benchmarks.memory import peak_bytes

SIZES = (12_500, 25_000, 50_000, 100_000)
DIMENSION = 384
BYTES_PER_NUMBER = 4
LONGEST_SECONDS = 600.0
"""So long may 100,000 notes take."""

MOST_MEMORY = 2.0
"""So many times the vectors may a process take."""

QUERY = "index 索引"
STEPS = ("import", "embed", "search")


class SpreadEmbedder(Embedder):
    """A provider that answers at once, with other vectors for other texts."""

    provider = "generated"
    default_model = "generated"
    known_dimension = DIMENSION

    def request_vectors(self, texts: Sequence[str], *, is_query: bool) -> object:
        """Return vectors that the texts decide; shape (number of texts, 384)."""
        random = np.random.default_rng(crc32("".join(texts).encode()))
        return random.standard_normal((len(texts), DIMENSION), dtype=np.float32)


def measure(folder: Path, note_count: int) -> dict[str, float]:
    """Take in so many notes in this process; seconds and megabytes."""
    settings = load({"data_dir": str(folder)}, environment={})
    application = build(settings, SpreadEmbedder(settings.embedding))
    work: dict[str, Callable[[], object]] = {
        "import": lambda: application.importer.import_records(
            records(note_count, np.random.default_rng(0))
        ),
        "embed": lambda: _embed(application),
        "search": lambda: _search(application),
    }
    figures: dict[str, float] = {"notes": note_count}
    with closing(application):
        for step in STEPS:
            start, used = time.perf_counter(), time.process_time()
            work[step]()
            figures[f"{step}_s"] = time.perf_counter() - start
            figures[f"{step}_cpu_s"] = time.process_time() - used
        with application.database.read() as connection:
            vectors = connection.execute(select(func.count()).select_from(embeddings)).scalar_one()
    figures["seconds"] = sum(figures[f"{step}_s"] for step in STEPS)
    figures["vectors"] = vectors
    figures["vectors_mb"] = vectors * DIMENSION * BYTES_PER_NUMBER / 2**20
    figures["peak_mb"] = peak_bytes() / 2**20
    figures["memory_over_vectors"] = figures["peak_mb"] / figures["vectors_mb"]
    return figures


def _embed(application: Application) -> None:
    application.batches.embed_many(application.batches.unembedded())
    application.companions.fill()


def _search(application: Application) -> None:
    """Search as the first query after the import does, by words and by meaning."""
    for ranker in ("chatcrystal", "hybrid"):
        if not application.searcher.search(
            SearchRequest(QUERY, ranker, cut=False, topics=(QUERY,))
        ).found:
            raise SystemExit(f"nothing is found by {ranker}")


def _in_a_process(note_count: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.bulk", "--notes", str(note_count)]
        done = subprocess.run([*command, "--step", folder], stdout=subprocess.PIPE, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def growth(rows: Sequence[dict[str, float]]) -> float:
    """Return the processor time of a note at the last size over that at the first."""
    costs = [sum(row[f"{step}_cpu_s"] for step in STEPS) / row["notes"] for row in rows]
    return costs[-1] / costs[0]


def _plot(rows: Sequence[dict[str, float]], path: Path) -> None:
    sizes = [row["notes"] for row in rows]
    seconds = {step: [row[f"{step}_cpu_s"] for row in rows] for step in STEPS}
    memory = {
        "peak of the process": [row["peak_mb"] for row in rows],
        "its vectors": [row["vectors_mb"] for row in rows],
    }
    charts.draw(
        path,
        (
            charts.Panel("notes", "processor seconds", sizes, seconds),
            charts.Panel("notes", "MB", sizes, memory),
        ),
    )


def main() -> None:
    """Print the figures, as JSON with ``--json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, nargs="+", default=SIZES, help="sizes")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw them as SVG or PNG")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--step", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        print(json.dumps(measure(given.step, given.notes[0])))
        return
    rows = [_in_a_process(size) for size in sorted(given.notes)]
    if given.plot:
        _plot(rows, given.plot)
    if given.json:
        print(json.dumps({"sizes": rows, "growth": growth(rows)}))
        return
    for row in rows:
        print("  ".join(f"{name} {value:,.1f}" for name, value in row.items()))
    print(f"growth {growth(rows):.2f}")


if __name__ == "__main__":
    main()
