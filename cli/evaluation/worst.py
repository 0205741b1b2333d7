"""The queries that went worst, each with the server's own word on why.

Owns the choice: the lowest nDCG@10, then the lowest reciprocal rank, then the order of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cli.evaluation.asking import Asker
from cli.evaluation.figures import MRR, NDCG, Judged
from cli.evaluation.metrics import best_notes, mean
from cli.evaluation.values import SEARCH, Method
from cli.failures import Failure

NOTE_NOT_FOUND = 404


def worst_of(
    asker: Asker, judged: Sequence[Judged], titles: Mapping[str, str], number: int
) -> list[dict[str, Any]]:
    """Return the worst queries of the best way to search, with why their answer is not first.

    Raises:
        Failure: the server does not answer.
    """
    method = _best(judged)
    members = [each for each in judged if each.method == method]
    imperfect = [each for each in members if (each.figures[NDCG] or 0.0) < 1]
    having = [each for each in imperfect if each.figures[NDCG] is not None]
    having.sort(key=lambda each: (each.figures[NDCG] or 0.0, each.figures[MRR] or 0.0))
    return [_told(asker, each, titles) for each in having[:number]]


def _best(judged: Sequence[Judged]) -> Method | None:
    """Return the way to search with the highest mean nDCG@10, the first of equal ones."""
    methods = dict.fromkeys(each.method for each in judged if each.method.entrance == SEARCH)
    means = {
        method: mean(each.figures[NDCG] for each in judged if each.method == method) or 0.0
        for method in methods
    }
    return max(means, key=lambda method: means[method], default=None)


def _told(asker: Asker, judged: Judged, titles: Mapping[str, str]) -> dict[str, Any]:
    query, order = judged.judgement.query, judged.answered.order
    wanted = _wanted(judged)
    is_known = wanted in titles
    ranks = [rank for rank, found in enumerate(order, start=1) if str(found.note_id) == wanted]
    return {
        **judged.method.keys(),
        "class": judged.group,
        "id": query.id,
        "query": query.text,
        NDCG: judged.figures[NDCG],
        "note_id": int(wanted) if is_known else None,
        "title": titles.get(wanted),
        "rank": ranks[0] if ranks else None,
        "first": order[0].title if order else None,
        "explanation": _explanation(asker, judged, int(wanted)) if is_known else None,
    }


def _wanted(judged: Judged) -> str:
    """Return the best-graded note that stands worst; of several that are missing, the first."""
    places = {str(found.note_id): rank for rank, found in enumerate(judged.answered.order)}
    best = [note for note in judged.judgement.grades if note in best_notes(judged.judgement.grades)]
    return max(best, key=lambda note: places.get(note, len(places)))


def _explanation(asker: Asker, judged: Judged, note_id: int) -> dict[str, Any] | None:
    try:
        why = asker.why(judged.method, judged.judgement.query.text, note_id)
    except Failure as failure:
        if failure.status == NOTE_NOT_FOUND:
            return None
        raise
    return why and {name: why.get(name) for name in ("returned", "stage", "rule", "message")}
