"""How near the index comes to reading its vectors once: ``python -m benchmarks.scan --json``.

The floor is one thread's sum over the same float32 bytes as whole numbers, which runs at memory
bandwidth. With ``--precision float16`` or ``--graph`` the recall against the exact answer is
measured too.
"""

from __future__ import annotations

import argparse
import json
from itertools import cycle

import numpy as np
from numpy.typing import NDArray

import app  # noqa: F401 - limits native threads before numpy is imported
from app.index.core import Form
from app.index.exact import best_first, exact_scores
from app.index.faiss_flat import FlatIndex
from app.index.graph import GraphForm
from benchmarks.timing import milliseconds

LOAD_BATCH = 10_000
QUERIES = 50
RECALL_AT = 10
CENTRES = 2_000
"""Generated vectors lie around so many centres, as those of texts do."""

SPREAD = 0.7
Vectors = NDArray[np.float32]


def generated(count: int, dimension: int, random: np.random.Generator) -> Vectors:
    """Return unit vectors around some centres (count, dimension), in bounded extra memory."""
    centres = random.standard_normal((CENTRES, dimension), dtype=np.float32)
    vectors = np.empty((count, dimension), dtype=np.float32)
    for start in range(0, count, LOAD_BATCH):
        part = vectors[start : start + LOAD_BATCH]
        part[:] = SPREAD * random.standard_normal(part.shape, dtype=np.float32)
        part += centres[random.integers(0, CENTRES, len(part))]
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return vectors


def loaded(matrix: Vectors, form: Form) -> FlatIndex:
    """Return an index of the rows, by ids from 1, all graphs built."""
    ids = np.arange(1, len(matrix) + 1, dtype=np.int64)
    starts = range(0, len(matrix), LOAD_BATCH)
    batches = ((ids[i : i + LOAD_BATCH], matrix[i : i + LOAD_BATCH]) for i in starts)
    index = FlatIndex.loaded(matrix.shape[1], len(matrix), batches, form)
    while form.graph and (merge := index.merge()):
        index = index.adopt(merge)
    return index


def recall(index: FlatIndex, matrix: Vectors, queries: Vectors) -> float:
    """Return the mean share of the exact best ten that the index finds."""
    found = 0
    for query in queries:
        rough = matrix @ query
        near = np.argpartition(-rough, 4 * RECALL_AT)[: 4 * RECALL_AT]
        order = best_first(near, exact_scores(matrix[near], query), RECALL_AT)
        mine = {each.chunk_id - 1 for each in index.search(query, RECALL_AT)}
        found += len(mine & set(near[order].tolist()))
    return found / (RECALL_AT * len(queries))


def measure(vectors: int, dimension: int, limit: int, runs: int, form: Form) -> dict[str, float]:
    """Return median milliseconds of reading, scanning and filtered scanning, and their ratios."""
    random = np.random.default_rng(0)
    matrix = generated(vectors, dimension, random)
    queries = matrix[random.integers(0, vectors, QUERIES)]
    queries = queries + 0.3 * random.standard_normal(queries.shape, dtype=np.float32) / np.sqrt(
        np.float32(dimension)
    )
    index = loaded(matrix, form)
    allowed = np.arange(1, vectors + 1, dtype=np.int64)[random.random(vectors) < 0.5]
    words = matrix.reshape(-1).view(np.uint64)
    # An index remembers its last answers, fewer than these.
    turns, filtered_turns = cycle(queries), cycle(queries)
    times = milliseconds(
        {
            "read_ms": words.sum,
            "scan_ms": lambda: list(index.search(next(turns), limit)),
            "filtered_ms": lambda: list(index.search(next(filtered_turns), limit, allowed)),
        },
        runs,
    )
    figures = {name: float(np.median(found)) for name, found in times.items()}
    if form != Form():
        figures["recall_at_10"] = recall(index, matrix, queries)
    # Each run beside its own floor: the machine's other work weighs on both.
    reads = np.array(times["read_ms"])
    return figures | {
        "ratio": float(np.median(np.array(times["scan_ms"]) / reads)),
        "best_ratio": min(times["scan_ms"]) / min(times["read_ms"]),
        "filtered_ratio": float(np.median(np.array(times["filtered_ms"]) / reads)),
    }


def main() -> None:
    """Print the table, or with ``--json`` the figures, then the line of ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--limit", type=int, default=500)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--precision", choices=("float32", "float16"), default="float32")
    parser.add_argument("--graph", action="store_true", help="search graphs, as hnsw does")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    form = Form(given.precision, GraphForm() if given.graph else None)
    figures = measure(given.vectors, given.dim, given.limit, given.runs, form)
    if given.json:
        print(json.dumps({"vectors": given.vectors, "dim": given.dim, **figures}))
    else:
        print(f"{given.vectors} x {given.dim}, {given.precision}, median of {given.runs} runs")
        for name, value in figures.items():
            print(f"  {name:14} {value:8.3f}")
    ratios = {name: round(figures[name], 3) for name in ("ratio", "filtered_ratio")}
    print(json.dumps(ratios))


if __name__ == "__main__":
    main()
