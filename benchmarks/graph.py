"""How long the graph questions take in memory: ``python -m benchmarks.graph [--json]``.

Walks three hops over many edges, given as arrays and as pairs, looks for near names, and lays out a
thousand notes. The walk is meant to take under 30 ms.
"""

from __future__ import annotations

import argparse
import json

import numpy as np

import app  # noqa: F401 - limits native threads before numpy is imported
from app.graph.layout import layout
from app.graph.near import near_names
from app.graph.walk import BOTH, OUT, distances, distances_along
from benchmarks.timing import best_milliseconds

HOPS = 3


def measure(nodes: int, edges: int, runs: int) -> dict[str, float]:
    """Return the best milliseconds of each piece of work."""
    random = np.random.default_rng(0)
    sources, targets = random.integers(1, nodes + 1, (2, edges))
    pairs = list(zip(sources.tolist(), targets.tolist(), strict=True))
    titles = {f"note {number} on subject {number % 97}": 1 for number in range(nodes)}
    drawn = [(source - 1, target - 1) for source, target in pairs if max(source, target) <= 1_000]
    return best_milliseconds(
        {
            "walk_ms": lambda: distances_along(sources, targets, 1, HOPS, OUT),
            "walk_both_ways_ms": lambda: distances_along(sources, targets, 1, HOPS, BOTH),
            "walk_pairs_ms": lambda: distances(pairs, 1, HOPS, OUT),
            "near_names_ms": lambda: near_names("nota 77 on subjct 77", titles),
            "layout_of_1000_ms": lambda: layout(1_000, drawn),
        },
        runs,
    )


def main() -> None:
    """Print the figures as a table, or with ``--json`` as one object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--edges", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments.nodes, arguments.edges, arguments.runs)
    if arguments.json:
        print(json.dumps({"nodes": arguments.nodes, "edges": arguments.edges, **figures}))
        return
    print(f"{arguments.nodes} notes, {arguments.edges} edges, {HOPS} hops, best of "
          f"{arguments.runs} runs")  # fmt: skip
    for name, milliseconds in figures.items():
        print(f"  {name:20} {milliseconds:8.2f}")


if __name__ == "__main__":
    main()
