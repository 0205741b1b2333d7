"""What so many chunks need: ``python -m benchmarks.sizing --dim 384``.

Measures on this machine what one vector costs in memory, in a graph, in a database file and in
time, and works out the rest. What lies beyond the machine is arithmetic and not a measurement.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np

from app.index.core import Core, Form
from app.index.graph import GraphForm
from benchmarks.large import fill
from benchmarks.scan import generated, loaded
from benchmarks.timing import milliseconds

SCANNED = 200_000
STORED = 20_000
JOINED = 5_000
RUNS = 15
COUNTS = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
NODE_BYTES = 48 * 2**30
"""What of a machine with 64 GB may hold vectors."""

Costs = dict[str, float]


def measured(dimension: int) -> Costs:
    """Return bytes of one vector, and nanoseconds that a scan takes for it."""
    random = np.random.default_rng(0)
    matrix = generated(SCANNED, dimension, random)
    index = loaded(matrix, Form())
    queries = iter(matrix)
    times = milliseconds({"scan": lambda: list(index.search(next(queries), 500))}, RUNS)["scan"]
    narrow = loaded(matrix, Form("float16"))
    joined = loaded(matrix[:JOINED], Form()).segments[0].core.with_graph(GraphForm())
    if joined.graph is None:
        raise SystemExit("there is no graph")
    with tempfile.TemporaryDirectory() as name:
        fill(Path(name), STORED, dimension)
        stored = sum(path.stat().st_size for path in Path(name).glob("crystal.db*"))
    return {
        "float32_bytes": _bytes([segment.core for segment in index.segments]) / SCANNED,
        "float16_bytes": _bytes([segment.core for segment in narrow.segments]) / SCANNED,
        "graph_bytes": joined.graph.to_bytes().nbytes / JOINED,
        "database_bytes": stored / STORED,
        "scan_ns": float(np.median(times)) * 1e6 / SCANNED,
    }


def _bytes(cores: list[Core]) -> int:
    return sum(core.ids.nbytes + core.planes.nbytes for core in cores)


def worked_out(costs: Costs, count: int) -> dict[str, float]:
    """Return gigabytes and seconds for so many chunks, and machines of 64 GB that hold them."""
    return {
        "float32_gb": costs["float32_bytes"] * count / 2**30,
        "float16_gb": costs["float16_bytes"] * count / 2**30,
        "hnsw_gb": (costs["float32_bytes"] + costs["graph_bytes"]) * count / 2**30,
        "database_gb": costs["database_bytes"] * count / 2**30,
        "scan_seconds": costs["scan_ns"] * count / 1e9,
        "machines": float(-(-costs["float32_bytes"] * count // NODE_BYTES)),
    }


def main() -> None:
    """Print the costs and a table, as JSON with ``--json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    costs = measured(given.dim)
    table = {count: worked_out(costs, count) for count in COUNTS}
    if given.json:
        print(json.dumps({"dim": given.dim, "measured": costs, "table": table}))
        return
    print(f"one vector of {given.dim} dimensions: " + ", ".join(
        f"{name} {value:.0f}" for name, value in costs.items()
    ))  # fmt: skip
    print("       chunks" + "".join(f"{name:>14}" for name in table[COUNTS[0]]))
    for count, row in table.items():
        print(f"{count:13,}" + "".join(f"{value:14,.2f}" for value in row.values()))


if __name__ == "__main__":
    main()
