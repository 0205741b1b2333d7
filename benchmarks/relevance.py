"""How well every ranker orders graded notes: ``python -m benchmarks.relevance FILE --json``.

FILE has the form of ``fixtures/golden/relevance.json``. Its notes are imported and embedded by a
real application, its queries go through the real search.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.domain.search import SearchRequest
from app.factory import Application
from app.ranking.registry import RANKERS
from benchmarks.collection import (
    GradedQuery,
    UnusableCollection,
    embedded_application,
    read_graded,
)
from cli.evaluation import metrics

LIMIT = 10
DECIMALS = 6
ALL = "all"


def measure(
    records: Iterable[Mapping[str, Any]], queries: Sequence[GradedQuery], *, cut: bool = False
) -> dict[str, dict[str, Any]]:
    """Return nDCG@10 of each ranker by class, over all, and by query.

    Classes and queries without an answer are left out. With ``cut``, each ranker has its figures
    at its own cut beside.

    Raises:
        UnusableCollection: the notes cannot be imported or embedded.
    """
    figures: dict[str, dict[str, Any]] = {}
    with embedded_application(records) as application:
        for ranker in RANKERS:
            figures[ranker.name] = _order(application, ranker.name, queries)
            if cut:
                figures[ranker.name]["cut"] = _cut(application, ranker.name, queries)
    return figures


def _order(application: Application, ranker: str, queries: Sequence[GradedQuery]) -> dict[str, Any]:
    by_query: dict[str, float] = {}
    by_class: dict[str, list[float]] = {}
    for query in queries:
        figure = metrics.ndcg(_answer(application, ranker, query, cut=False), query.grades)
        if figure is not None:
            by_query[query.id] = round(figure, DECIMALS)
            by_class.setdefault(query.group, []).append(figure)
    means: dict[str, float | None] = {
        group: _rounded(metrics.mean(by_class[group])) for group in sorted(by_class)
    }
    overall = metrics.mean(figure for group in by_class.values() for figure in group)
    return {**means, ALL: _rounded(overall), "queries": by_query}


def _cut(
    application: Application, ranker: str, queries: Sequence[GradedQuery]
) -> dict[str, float | None]:
    answers = [_answer(application, ranker, query, cut=True) for query in queries]
    pairs = list(zip(answers, (query.grades for query in queries), strict=True))
    recall = metrics.mean(metrics.relevant_recall(*pair) for pair in pairs)
    rejection = metrics.mean(metrics.rejection(*pair) for pair in pairs)
    both = None if recall is None or rejection is None else (recall + rejection) / 2
    return {
        "relevant_recall": _rounded(recall),
        "rejection": _rounded(rejection),
        "mean": _rounded(both),
        "precision": _rounded(metrics.mean(metrics.precision(*pair) for pair in pairs)),
    }


def _answer(application: Application, ranker: str, query: GradedQuery, *, cut: bool) -> list[str]:
    request = SearchRequest(query.text, ranker, LIMIT, cut=cut, fields=("external_id",))
    return [found.extra["external_id"] for found in application.searcher.search(request).found]


def _rounded(figure: float | None) -> float | None:
    return None if figure is None else round(figure, DECIMALS)


def table(figures: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the figures as lines of text, one a class, one column a ranker."""
    rows = {
        name: [ranker[name] for ranker in figures.values()]
        for name in next(iter(figures.values()))
        if name not in ("queries", "cut")
    }
    cuts = [ranker["cut"] for ranker in figures.values() if "cut" in ranker]
    if cuts:
        rows |= {f"cut: {name}": [cut[name] for cut in cuts] for name in cuts[0]}
    lines = [f"{'nDCG@10':22}" + "".join(f"{name:>13}" for name in figures)]
    for name, values in rows.items():
        cells = ("-" if value is None else f"{value:.3f}" for value in values)
        lines.append(f"{name:22}" + "".join(f"{cell:>13}" for cell in cells))
    return "\n".join(lines)


def main() -> None:
    """Print the table, or with ``--json`` the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--json", action="store_true", help="print JSON, with every query")
    parser.add_argument(
        "--cut", action="store_true", help="add relevant recall and rejection at each ranker's cut"
    )
    arguments = parser.parse_args()
    try:
        figures = measure(*read_graded(arguments.file), cut=arguments.cut)
    except UnusableCollection as error:
        sys.exit(str(error))
    if arguments.json:
        print(json.dumps(figures, ensure_ascii=False, indent=2))
    else:
        print(table(figures))


if __name__ == "__main__":
    main()
