"""Where the constants of `hybrid` come from: ``python -m benchmarks.hybrid``.

Our own labelled queries are answered once, without a cut; every note that was weighed is then
weighed anew with other shares and weights. The golden files are never read.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from app.db import notes
from app.domain.search import SearchRequest
from app.factory import Application
from app.ranking.hybrid import scoring
from app.ranking.hybrid.ranker import CUT_SHARE
from benchmarks.collection import (
    GradedQuery,
    embedded_application,
    our_queries,
    our_records,
)
from cli.evaluation import metrics

DEPTH = 50
NOISE = 0.01
SHARES = ((1.0, 0.0, 0.0), (0.5, 0.5, 0.0), (0.4, 0.4, 0.2), (0.3, 0.4, 0.3))
WORDS = (0.0, 0.1, 0.15, 0.2, 0.3, 0.4)
CUTS = np.arange(0.5, 1.3, 0.02)


@dataclass(frozen=True, slots=True)
class Weights:
    """Shares of whole note, best field and title, and the weight of words."""

    whole: float
    field: float
    title: float
    words: float


CHOSEN = Weights(
    scoring.WHOLE_SHARE, scoring.FIELD_SHARE, scoring.TITLE_SHARE, scoring.WORDS_WEIGHT
)


@dataclass(frozen=True, slots=True)
class Weighed:
    """A query with the rows of its run's record, and the external ids of their notes."""

    query: GradedQuery
    rows: tuple[Mapping[str, Any], ...]


def weighed(application: Application, queries: Sequence[GradedQuery]) -> list[Weighed]:
    """Answer every query once and keep the record."""
    found = []
    for query in queries:
        request = SearchRequest(query.text, "hybrid", DEPTH, explain=True, cut=False)
        explanation = application.searcher.search(request).explanation or {}
        found.append(Weighed(query, tuple(explanation["rows"])))
    return found


def score_of(row: Mapping[str, Any], weights: Weights) -> float:
    """Weigh a row as ``app.ranking.hybrid.scoring`` does, with other weights."""
    fields = row["fields"].values()
    meaning = (
        weights.whole * row["whole"]
        + weights.field * max(fields)
        + weights.title * row["fields"].get(str(scoring.TITLE_FIELD), 0.0)
    ) / (weights.whole + weights.field + weights.title)
    if not row["counts_words"]:
        return float(meaning)
    words = weights.words * row["words"] * row["coverage"]
    return float((meaning + words) / (1 + weights.words))


def answers(
    found: Weighed, weights: Weights, names: Mapping[int, str], cut: float | None = None
) -> list[str]:
    """Return the external ids of a query's answer under other weights, best first."""
    scored = [(score_of(row, weights), row["note_id"]) for row in found.rows]
    kept = [each for each in scored if cut is None or each[0] >= cut]
    return [names[note_id] for _, note_id in sorted(kept, key=lambda each: (-each[0], each[1]))]


def ndcg(found: Sequence[Weighed], weights: Weights, names: Mapping[int, str]) -> float:
    """Return the mean nDCG@10 over the queries that have an answer."""
    figures = [metrics.ndcg(answers(each, weights, names), each.query.grades) for each in found]
    return metrics.mean(figures) or 0.0


def at_cut(
    found: Sequence[Weighed], weights: Weights, names: Mapping[int, str], cut: float
) -> tuple[float, float]:
    """Return relevant recall and rejection at a cut."""
    given = [(answers(each, weights, names, cut)[:10], each.query.grades) for each in found]
    recall = metrics.mean(metrics.relevant_recall(answer, grades) for answer, grades in given)
    rejection = metrics.mean(metrics.rejection(answer, grades) for answer, grades in given)
    return recall or 0.0, rejection or 0.0


def measure() -> dict[str, Any]:
    """Return the sweep of shares and words, and that of the cut at the chosen ones."""
    queries = our_queries()
    with embedded_application(our_records()) as application:
        found = weighed(application, queries)
        names = application_names(application)
        border = application.embedder.spec.border
    sweep = {
        f"{whole}/{field}/{title} words {words}": round(
            ndcg(found, Weights(whole, field, title, words), names), 4
        )
        for (whole, field, title), words in product(SHARES, WORDS)
    }
    cuts = {
        round(float(share), 2): at_cut(found, CHOSEN, names, float(share) * border)
        for share in CUTS
    }
    best = max(sum(pair) / 2 for pair in cuts.values())
    plateau = [share for share, pair in cuts.items() if sum(pair) / 2 >= best - NOISE]
    recall, rejection = at_cut(found, CHOSEN, names, CUT_SHARE * border)
    return {
        "ndcg@10": sweep,
        "chosen": round(ndcg(found, CHOSEN, names), 4),
        "cut_plateau": [min(plateau), max(plateau)],
        "cut_share": CUT_SHARE,
        "relevant_recall": round(recall, 3),
        "rejection": round(rejection, 3),
        "best_mean": round(best, 3),
    }


def application_names(application: Application) -> dict[int, str]:
    """Return the external id of every note."""
    with application.database.read() as connection:
        found = notes.get_many(connection, notes.all_ids(connection))
    return {note.id: note.external_id or "" for note in found}


def main() -> None:
    """Print the sweeps, as JSON with ``--json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure()
    if arguments.json:
        print(json.dumps(figures))
        return
    print("nDCG@10 by shares of whole note, best field, title, and the weight of words")
    for name, figure in figures.pop("ndcg@10").items():
        print(f"  {name:28} {figure:.3f}")
    for name, figure in figures.items():
        print(f"  {name:28} {figure}")


if __name__ == "__main__":
    main()
