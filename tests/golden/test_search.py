"""Searches by the default ranker over the imported directory, and what they say of themselves."""

from typing import Any
from urllib.parse import urlencode

import pytest
from flask import Flask

from tests.support.golden import case_id, differences, get, in_free_order, read_cases

pytestmark = pytest.mark.golden

CASES: list[dict[str, Any]] = read_cases("chatcrystal/search.json")


def test_there_are_cases() -> None:
    assert CASES


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_search_answers_as_it_should(case: dict[str, Any], golden_server: Flask) -> None:
    query = {
        "q": case["q"],
        "limit": case["limit"],
        "expand": str(case["expand"]).lower(),
        "ranker": "chatcrystal",
        "explain": "true",
    }
    status, body = get(golden_server, f"/api/search?{urlencode(query)}")
    assert status == 200
    assert body["explain"]["terms"] == case["terms"]
    assert [each["k"] for each in body["explain"]["rounds"]] == case["rounds"]
    assert differences(in_free_order(case["data"]), in_free_order(body["data"])) == []
