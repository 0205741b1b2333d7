"""How near the index comes to reading its vectors once: ``python -m benchmarks.scan --json``.

The floor is the sum over the same bytes as whole numbers, which runs at memory bandwidth.
"""

from __future__ import annotations

import argparse
import json

import numpy as np

import app  # noqa: F401 - limits native threads before numpy is imported
from app.index.faiss_flat import FlatIndex
from benchmarks.timing import best_milliseconds

LOAD_BATCH = 10_000


def measure(vectors: int, dimension: int, limit: int, runs: int) -> dict[str, float]:
    """Return milliseconds of reading, scanning and filtered scanning, and their ratios."""
    random = np.random.default_rng(0)
    matrix = random.standard_normal((vectors, dimension), dtype=np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    ids = np.arange(1, vectors + 1, dtype=np.int64)
    starts = range(0, vectors, LOAD_BATCH)
    batches = ((ids[i : i + LOAD_BATCH], matrix[i : i + LOAD_BATCH]) for i in starts)
    index = FlatIndex.loaded(dimension, vectors, batches)
    allowed = np.sort(random.choice(ids, vectors // 2, replace=False))
    query = random.standard_normal(dimension, dtype=np.float32)
    query /= np.linalg.norm(query)
    words = matrix.reshape(-1).view(np.uint64)
    best = best_milliseconds(
        {
            "read_ms": words.sum,
            "scan_ms": lambda: index.search(query, limit),
            "filtered_ms": lambda: index.search(query, limit, allowed),
        },
        runs,
    )
    return best | {
        "ratio": best["scan_ms"] / best["read_ms"],
        "filtered_ratio": best["filtered_ms"] / best["read_ms"],
    }


def main() -> None:
    """Print the table, or with ``--json`` the figures, then the line of ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--limit", type=int, default=500)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments.vectors, arguments.dim, arguments.limit, arguments.runs)
    if arguments.json:
        print(json.dumps({"vectors": arguments.vectors, "dim": arguments.dim, **figures}))
    else:
        print(f"{arguments.vectors} x {arguments.dim}, best of {arguments.runs} runs")
        for name in ("read_ms", "scan_ms", "filtered_ms"):
            print(f"  {name:12} {figures[name]:8.2f}")
    ratios = {name: round(figures[name], 3) for name in ("ratio", "filtered_ratio")}
    print(json.dumps(ratios))


if __name__ == "__main__":
    main()
