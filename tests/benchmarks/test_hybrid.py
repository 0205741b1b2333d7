"""The weighing of `hybrid` anew: at the weights in use it is what the ranker does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.domain.search import SearchRequest
from app.embedding import quality
from app.factory import Application
from app.ranking.hybrid import cut
from benchmarks.collection import (
    WITH_SECOND,
    GradedQuery,
    embedded_application,
    our_queries,
    our_records,
)
from benchmarks.cutting import CHOSEN, MARGINS, RULES, Rule, precision_at, sweep_margins
from benchmarks.hybrid import PARTS, PLAIN
from benchmarks.weighing import Weighed, order_by_class, weigh
from cli.evaluation import metrics

DOCUMENT = Path(__file__).parents[2] / "docs" / "evaluation.md"
A_FEW = 2
"""Notes of each language: the second model takes a second for each."""


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Application, list[GradedQuery]]]:
    """Some of our notes by both models, and queries that they answer or nothing does."""
    records = [
        record
        for record in our_records()
        if record["type"] != "relation" and int(record["external_id"][-3:]) <= A_FEW
    ]
    known = {record["external_id"] for record in records}
    answered = [query for query in our_queries() if query.grades and known >= set(query.grades)]
    unanswered = [query for query in our_queries() if not query.grades][::6]
    with embedded_application(records, WITH_SECOND) as application:
        assert application.second_companions is not None
        application.second_companions.fill()
        yield application, [*answered, *unanswered]


@pytest.fixture(scope="module")
def found(both: tuple[Application, list[GradedQuery]]) -> list[Weighed]:
    return weigh(*both)


@pytest.mark.parametrize("is_cut", [False, True], ids=["order", "cut"])
def test_at_the_weights_in_use_it_is_what_the_ranker_does(
    both: tuple[Application, list[GradedQuery]], found: list[Weighed], is_cut: bool
) -> None:
    application, queries = both
    assert application.second is not None
    spaces = (application.embedder.spec, application.second.embedder.spec)
    border, weights = sum(spec.border for spec in spaces) / 2, PLAIN.with_second()
    answers = set()
    for query, each in zip(queries, found, strict=True):
        request = SearchRequest(query.text, "hybrid", cut=is_cut, fields=("external_id",))
        answer = [one.extra["external_id"] for one in application.searcher.search(request).found]
        if is_cut:
            swept = sweep_margins([each], weights, border, CHOSEN)
            recall = metrics.relevant_recall(answer, query.grades)
            expected = float(not answer) if recall is None else recall
            assert swept.at(cut.MARGIN).tolist() == [expected]
        else:
            assert each.answer(each.scores(weights)) == answer
        answers.add(tuple(answer))
    assert len(answers) > 5
    assert (() in answers) is is_cut


def test_without_the_second_model_its_numbers_play_no_part(found: list[Weighed]) -> None:
    changed = [replace(each, cosines=each.cosines * np.array([1.0, -1.0])[:, None, None])
               for each in found]  # fmt: skip
    for weights in PARTS.values():
        assert order_by_class(changed, weights) == order_by_class(found, weights)
    with_second = PLAIN.with_second()
    assert order_by_class(changed, with_second) != order_by_class(found, with_second)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.name))
def test_a_greater_margin_never_returns_more(found: list[Weighed], rule: Rule) -> None:
    swept = sweep_margins(found, PLAIN, 0.3, rule)
    assert swept.figures.shape == (len(found), len(MARGINS))
    recall, rejection = swept.figures[swept.has_answer], swept.figures[~swept.has_answer]
    assert (np.diff(recall, axis=1) <= 0).all()
    assert (np.diff(rejection, axis=1) >= 0).all()


def test_precision_is_that_of_what_is_returned(found: list[Weighed]) -> None:
    assert 0 < precision_at(cut.MARGIN, found, PLAIN, 0.3) <= 1
    assert precision_at(10.0, found, PLAIN, 0.3) == 0


def test_the_document_names_the_border_of_the_second_space() -> None:
    border, _ = quality.packaged_scale()
    assert f"**{border}**" in DOCUMENT.read_text(encoding="utf-8")
