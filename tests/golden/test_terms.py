"""The terms of queries, and which texts contain them."""

from typing import Any

import pytest

from app.ranking.chatcrystal.terms import missing_in, query_terms
from app.text import fold
from tests.support.golden import case_id, read_cases

pytestmark = pytest.mark.golden

CASES: dict[str, list[dict[str, Any]]] = read_cases("terms.json") or {"terms": [], "contains": []}


def test_there_are_cases() -> None:
    assert CASES["terms"]
    assert CASES["contains"]


@pytest.mark.parametrize("case", CASES["terms"], ids=case_id)
def test_terms_of_a_query(case: dict[str, Any]) -> None:
    assert list(query_terms(case["query"])) == case["terms"]


@pytest.mark.parametrize("case", CASES["contains"], ids=case_id)
def test_containment_in_a_text(case: dict[str, Any]) -> None:
    term = fold(case["term"])
    assert missing_in(fold(case["text"]), (term,)) == (() if case["contains"] else (term,))
