"""What counts as a fall, and what is told of it."""

from __future__ import annotations

from typing import Any

import pytest

from cli.evaluation.baseline import TOLERANCE, compare


def row(ndcg: float | None, mrr: float | None = 0.5, **keys: Any) -> dict[str, Any]:
    """A row of an evaluation."""
    named = {"ranker": "hybrid", "entrance": "search", "expand": False, "class": "all", **keys}
    return {**named, "queries": 5, "ndcg@10": ndcg, "mrr": mrr}


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (0.8, 0.8, None),
        (0.8, 0.8 - TOLERANCE / 2, None),
        (0.8, 0.8 + TOLERANCE / 2, None),
        (0.8, 0.7998, "hybrid search all: ndcg@10 fell from 0.800000 to 0.799800"),
        (0.8, 0.8125, "hybrid search all: ndcg@10 rose from 0.800000 to 0.812500"),
        (0.8, None, "hybrid search all: ndcg@10 fell from 0.800000 to nothing"),
        (None, 0.8, None),
        (None, None, None),
    ],
    ids=["same", "just-less", "just-more", "less", "more", "gone", "new", "never"],
)
def test_a_mean_moves_by_more_than_machines_differ(
    before: float | None, after: float | None, told: str | None
) -> None:
    compared = compare([row(before)], [row(after)])
    assert [str(move) for move in compared.moves] == ([told] if told else [])
    assert len(compared.falls) + len(compared.rises) == len(compared.moves)
    assert bool(compared.falls) is (told is not None and "fell" in told)


def test_rows_are_compared_with_their_like() -> None:
    before = [
        row(0.9),
        row(0.8, expand=True),
        row(0.7, ranker="vector"),
        {**row(0.6), "class": "a"},
    ]
    compared = compare(before, list(reversed(before)))
    assert (compared.moves, compared.compared) == ((), 4)
    worse = compare(before, [row(0.9), row(0.5, expand=True)])
    assert worse.compared == 2
    assert [str(move) for move in worse.falls] == [
        "hybrid search expand all: ndcg@10 fell from 0.800000 to 0.500000"
    ]


def test_every_figure_is_held() -> None:
    (move,) = compare([row(0.9, 0.8)], [row(0.9, 0.7)]).moves
    assert move.as_json() == {
        "row": "hybrid search all",
        "figure": "mrr",
        "before": 0.8,
        "now": 0.7,
    }
