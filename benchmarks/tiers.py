"""What a search costs at each size in each form of the index: ``python -m benchmarks.tiers``.

Every form is measured by ``benchmarks.scan`` beside reading the vectors once. ``--plot FILE``
draws the times against the size (needs the extra ``plot``).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.index.core import Form
from app.index.graph import GraphForm
from benchmarks import charts
from benchmarks.scan import measure

SIZES = (10_000, 30_000, 100_000, 300_000)
FORMS: Mapping[str, Form] = {
    "float32": Form(),
    "float16": Form("float16"),
    "hnsw": Form(graph=GraphForm()),
}
LIMIT = 500
RUNS = 15

Row = dict[str, float]


def run(sizes: Sequence[int], dimension: int, forms: Sequence[str]) -> dict[str, list[Row]]:
    """Measure forms at sizes; the figures are those of ``benchmarks.scan`` with the size."""
    return {
        name: [
            {"vectors": size, **measure(size, dimension, LIMIT, RUNS, FORMS[name])}
            for size in sizes
        ]
        for name in forms
    }


def _plot(found: Mapping[str, Sequence[Row]], path: Path) -> None:
    places = [row["vectors"] for row in next(iter(found.values()))]
    lines = {"reading once": [row["read_ms"] for row in next(iter(found.values()))]}
    lines |= {name: [row["scan_ms"] for row in rows] for name, rows in found.items()}
    charts.draw(path, (charts.Panel("vectors", "ms a search", places, lines, is_logarithmic=True),))


def main() -> None:
    """Print the figures, as JSON with ``--json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--forms", choices=FORMS, nargs="+", default=tuple(FORMS))
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw them as SVG or PNG")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = run(sorted(given.sizes), given.dim, given.forms)
    if given.plot:
        _plot(found, given.plot)
    if given.json:
        print(json.dumps(found))
        return
    for name, rows in found.items():
        for row in rows:
            print(f"{name:8}", "  ".join(f"{key} {value:,.2f}" for key, value in row.items()))


if __name__ == "__main__":
    main()
