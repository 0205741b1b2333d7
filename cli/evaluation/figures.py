"""The figures of many answers: by query, by class and way to ask, with their uncertainty.

Owns the JSON form of an evaluation (docs/evaluation.md). Pure: answers come in, values go out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from cli.evaluation import metrics
from cli.evaluation.queries import OVERALL
from cli.evaluation.values import Answered, Found, Judgement, Method

NDCG = "ndcg@10"
MRR = "mrr"
RECALL = "recall@5"
RELEVANT_RECALL = "relevant_recall"
PRECISION = "precision"
REJECTION = "rejection"
FIGURES = (NDCG, MRR, RECALL, RELEVANT_RECALL, PRECISION, REJECTION)
COMPARED = (NDCG, RELEVANT_RECALL, REJECTION)

DECIMALS = 6
TIME_DECIMALS = 3
FEWEST = 2
"""Of fewer queries nothing is said about chance."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer with its figures; one that does not apply is None."""

    judgement: Judgement
    method: Method
    answered: Answered
    figures: Mapping[str, float | None]

    @property
    def group(self) -> str:
        """The class of the query."""
        return self.judgement.query.group


def judge(judgement: Judgement, method: Method, answered: Answered) -> Judged:
    """Work out the figures of one answer: order without the border, the rest with it."""
    order, shown, grades = _names(answered.order), _names(answered.shown), judgement.grades
    return Judged(
        judgement,
        method,
        answered,
        {
            NDCG: metrics.ndcg(order, grades),
            MRR: metrics.reciprocal_rank(order, grades),
            RECALL: metrics.recall(order, grades),
            RELEVANT_RECALL: metrics.relevant_recall(shown, grades),
            PRECISION: metrics.precision(shown, grades),
            REJECTION: metrics.rejection(shown, grades),
        },
    )


def _names(found: Iterable[Found]) -> list[str]:
    return [str(each.note_id) for each in found]


def classes_of(judged: Iterable[Judged]) -> tuple[str, ...]:
    """Return the classes in the order of the file, the whole file last."""
    return (*dict.fromkeys(each.group for each in judged), OVERALL)


def grouped(judged: Sequence[Judged]) -> Iterator[tuple[Method, str, list[Judged]]]:
    """Go through every way to ask and every class of it."""
    by_method: dict[Method, list[Judged]] = {}
    for each in judged:
        by_method.setdefault(each.method, []).append(each)
    for method, members in by_method.items():
        for group in classes_of(members):
            yield method, group, [each for each in members if group in (each.group, OVERALL)]


def rows_of(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """Return the means, one row a way and class, and the times of the answers."""
    return [
        {
            **method.keys(),
            "class": group,
            "queries": len(members),
            **{name: _rounded(metrics.mean(_values(members, name))) for name in FIGURES},
            **_times(members),
        }
        for method, group, members in grouped(judged)
    ]


def _times(members: Sequence[Judged]) -> dict[str, float]:
    times = [each.answered.milliseconds for each in members]
    median, slow = np.percentile(times, (50, 95)).tolist()
    return {"median_ms": round(median, TIME_DECIMALS), "p95_ms": round(slow, TIME_DECIMALS)}


def intervals_of(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """Return between what 95 % of the bootstrapped means of each row lie; None for too few."""
    return [
        {
            **method.keys(),
            "class": group,
            **{name: _interval(_values(members, name)) for name in FIGURES},
        }
        for method, group, members in grouped(judged)
    ]


def _interval(figures: Sequence[float]) -> list[float] | None:
    if len(figures) < FEWEST:
        return None
    return [round(bound, DECIMALS) for bound in metrics.interval(metrics.bootstrap_means(figures))]


def comparisons_of(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """Compare every two ways on the queries that both have the figure of, by a paired test."""
    by_method: dict[Method, list[Judged]] = {}
    for each in judged:
        by_method.setdefault(each.method, []).append(each)
    return [
        {"one": one.keys(), "other": other.keys(), "figure": name, **compared}
        for one, other in combinations(by_method, 2)
        for name in COMPARED
        if (compared := _compared(by_method[one], by_method[other], name))
    ]


def _compared(one: Sequence[Judged], other: Sequence[Judged], name: str) -> dict[str, Any] | None:
    pairs = [
        (first, second)
        for each, beside in zip(one, other, strict=True)
        if (first := each.figures[name]) is not None
        and (second := beside.figures[name]) is not None
    ]
    if len(pairs) < FEWEST:
        return None
    firsts, seconds = [first for first, _ in pairs], [second for _, second in pairs]
    differences = [first - second for first, second in pairs]
    return {
        "queries": len(pairs),
        "difference": round(sum(differences) / len(pairs), DECIMALS),
        "interval": _interval(differences),
        "p_value": round(metrics.paired_p_value(firsts, seconds), DECIMALS),
    }


def false_matches_of(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """List every note that was shown and does not answer the query."""
    return [
        {
            **each.method.keys(),
            "class": each.group,
            "id": each.judgement.query.id,
            "query": each.judgement.query.text,
            "has_answer": metrics.has_answer(each.judgement.grades),
            "rank": rank,
            "note_id": found.note_id,
            "title": found.title,
            "score": found.score,
            "via_relation": found.via_relation,
        }
        for each in judged
        for rank, found in enumerate(each.answered.shown, start=1)
        if each.judgement.grades.get(str(found.note_id), 0) <= 0
    ]


def queries_of(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """Return the figures of every query in every way, with the notes that came."""
    return [
        {
            **each.method.keys(),
            "class": each.group,
            "id": each.judgement.query.id,
            "query": each.judgement.query.text,
            **{name: _rounded(each.figures[name]) for name in FIGURES},
            "ms": round(each.answered.milliseconds, TIME_DECIMALS),
            "order": [found.note_id for found in each.answered.order],
            "shown": [found.note_id for found in each.answered.shown],
        }
        for each in judged
    ]


def _values(members: Iterable[Judged], name: str) -> list[float]:
    return [figure for each in members if (figure := each.figures[name]) is not None]


def _rounded(figure: float | None) -> float | None:
    return None if figure is None else round(figure, DECIMALS)
