"""How well every ranker orders graded notes: ``python -m benchmarks.relevance FILE --json``.

FILE has the form of ``fixtures/golden/relevance.json``, or is a folder like ``fixtures/graded``.
Its notes are imported and embedded by a real application, its queries go through the real search.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.db import notes
from app.domain.notes import NoteFilters
from app.domain.search import SearchRequest
from app.embedding import quality
from app.factory import Application
from app.ranking.registry import PART_WORDS, RANKERS
from app.ranking.run import LexicalHits
from app.search.evidence import Evidence, Sought
from app.search.kept import Kept
from benchmarks.collection import (
    WITH_SECOND,
    GradedQuery,
    UnusableCollection,
    embedded_application,
    read_graded,
)
from cli.evaluation import metrics

LIMIT = 10
LEXICAL = "lexical"
HYBRID_WITH_SECOND = "hybrid+e5"
DECIMALS = 6
ALL = "all"

Ask = Callable[[str, bool], list[str]]
"""Answers a query, with or without a cut, by the external ids of at most ``LIMIT`` notes."""


def measure(
    records: Iterable[Mapping[str, Any]], queries: Sequence[GradedQuery], *, cut: bool = False
) -> dict[str, dict[str, Any]]:
    """Return nDCG@10 of each ranker by class, over all, and by query.

    Beside the rankers there is ``lexical``, the words alone, and with the extra ``quality``
    ``hybrid+e5``; ``hybrid`` is always without the second model. Classes and queries without an
    answer are left out. With ``cut``, each has its figures at its own cut beside.

    Raises:
        UnusableCollection: the notes cannot be imported or embedded.
    """
    figures: dict[str, dict[str, Any]] = {}
    values = WITH_SECOND if quality.is_installed() else None
    with embedded_application(records, values) as application:
        asks = {ranker.name: _ranked(application, ranker.name) for ranker in RANKERS}
        for name, ask in (asks | {LEXICAL: _by_words(application)}).items():
            figures[name] = _figures(ask, queries, cut=cut)
        if application.second_companions is not None:
            application.second_companions.fill()
            figures[HYBRID_WITH_SECOND] = _figures(asks["hybrid"], queries, cut=cut)
    return figures


def _figures(ask: Ask, queries: Sequence[GradedQuery], *, cut: bool) -> dict[str, Any]:
    return _order(ask, queries) | ({"cut": _cut(ask, queries)} if cut else {})


def _order(ask: Ask, queries: Sequence[GradedQuery]) -> dict[str, Any]:
    by_query: dict[str, float] = {}
    by_class: dict[str, list[float]] = {}
    for query in queries:
        figure = metrics.ndcg(ask(query.text, False), query.grades)
        if figure is not None:
            by_query[query.id] = round(figure, DECIMALS)
            by_class.setdefault(query.group, []).append(figure)
    means: dict[str, float | None] = {
        group: _rounded(metrics.mean(by_class[group])) for group in sorted(by_class)
    }
    overall = metrics.mean(figure for group in by_class.values() for figure in group)
    return {**means, ALL: _rounded(overall), "queries": by_query}


def _cut(ask: Ask, queries: Sequence[GradedQuery]) -> dict[str, float | None]:
    answers = [ask(query.text, True) for query in queries]
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


def _ranked(application: Application, ranker: str) -> Ask:
    def ask(query: str, cut: bool) -> list[str]:
        request = SearchRequest(query, ranker, LIMIT, cut=cut, fields=("external_id",))
        return [found.extra["external_id"] for found in application.searcher.search(request).found]

    return ask


def _by_words(application: Application) -> Ask:
    """Ask the lexical index alone; it has no cut."""

    def ask(query: str, cut: bool) -> list[str]:
        with application.mirror.open((PART_WORDS,)) as (connection, view):
            evidence = Evidence(
                connection,
                view,
                Sought(query, None, NoteFilters()),
                Kept.over(application.database.version),
            )
            ids = [hit.note_id for hit in evidence.meet(LexicalHits(LIMIT))]
            known = {note.id: note.external_id for note in notes.get_many(connection, ids)}
        return [known[note_id] or "" for note_id in ids]

    return ask


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
