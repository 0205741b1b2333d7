"""What the graph stage of ``finder`` costs: ``python -m benchmarks.finder --json``.

It runs from the seeds to the relevance of every fragment: the slice from the database and the
PageRank on it. The same number of seeds, with the same number of relations a note, over 10,000
notes, over 100,000, and over these with a tag on half of them: cost must follow the slice.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.db import graph
from app.db.engine import Database
from app.domain.fragments import Fragment, GraphSlice
from app.ranking.finder.options import FinderOptions
from app.ranking.finder.seeds import fuse
from app.ranking.finder.slicing import slice_around
from app.ranking.finder.spreading import ppr
from benchmarks import graph_corpus
from benchmarks.timing import best_milliseconds

GROWTH_LIMIT = 2.0
HUB_LIMIT = 1.5
OPTIONS = FinderOptions()


def graph_stage(
    database: Database, seeds: list[Fragment], options: FinderOptions = OPTIONS
) -> tuple[GraphSlice, dict[Fragment, float]]:
    """Run the stage; return the slice and the mass of each fragment."""
    scores = fuse((seeds,), options.rrf_k, options.seed_k).scores
    walk = slice_around(scores, options)
    need = next(walk)
    with database.read() as connection:
        while True:
            found = graph.relations_of(
                connection,
                graph_corpus.SPACE_ID,
                need.fragments,
                limit=need.limit,
                entity_degree=need.entity_degree,
                is_inner=need.is_inner,
            )
            try:
                need = walk.send(found)
            except StopIteration as finished:
                around: GraphSlice = finished.value
                break
    return around, dict(ppr(scores, around.relations, options).mass)


def measure(folder: Path, few: int, many: int, runs: int) -> dict[str, Any]:
    """Return the times of the stage over the three databases, and their ratios."""
    small = graph_corpus.make(folder / "few.db", few)
    large = graph_corpus.make(folder / "many.db", many)
    hub = graph_corpus.with_hub(folder / "many.db", folder / "hub.db", many)
    cases: dict[str, tuple[Database, int]] = {
        "few": (small, few), "many": (large, many), "many_with_hub": (hub, many),
    }  # fmt: skip
    pieces: dict[str, Callable[[], object]] = {}
    figures: dict[str, Any] = {}
    for name, (database, notes) in cases.items():
        seeds = graph_corpus.seeds(notes)
        around, mass = graph_stage(database, seeds)
        figures |= {
            f"{name}_notes": notes,
            f"{name}_relations": notes * graph_corpus.RELATIONS_PER_NOTE,
            f"{name}_slice_relations": len(around.relations),
            f"{name}_slice_fragments": len(mass),
        }

        def piece(database: Database = database, seeds: list[Fragment] = seeds) -> object:
            return graph_stage(database, seeds)

        pieces[name] = piece
    best = best_milliseconds(pieces, runs)
    growth, change = best["many"] / best["few"], best["many_with_hub"] / best["many"]
    for database, _ in cases.values():
        database.close()
    return figures | {
        **{f"{name}_ms": milliseconds for name, milliseconds in best.items()},
        "growth": growth,
        "growth_over_limit": growth / GROWTH_LIMIT,
        "hub_change": change,
        "hub_change_over_limit": abs(change - 1) / (HUB_LIMIT - 1),
    }


def main() -> None:
    """Print the figures, as JSON with ``--json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--few", type=int, default=10_000)
    parser.add_argument("--many", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--folder", type=Path, help="make the databases here and keep them")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or Path(scratch)
        figures = measure(folder, arguments.few, arguments.many, arguments.runs)
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"  {name:32} {value:12.3f}")


if __name__ == "__main__":
    main()
