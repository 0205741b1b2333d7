"""What the original itself answered, where none of its faults shows: ranker ``v049``."""

from typing import Any
from urllib.parse import urlencode

import pytest
from flask import Flask

from tests.support.golden import case_id, differences, get, in_free_order, read_cases

pytestmark = pytest.mark.golden

CASES: list[dict[str, Any]] = read_cases("chatcrystal/search-v049.json")


def test_there_are_cases() -> None:
    assert CASES


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_search_answers_as_the_original(case: dict[str, Any], golden_server: Flask) -> None:
    query = {
        "q": case["q"],
        "limit": case["limit"],
        "expand": str(case["expand"]).lower(),
        "ranker": "v049",
    }
    status, body = get(golden_server, f"/api/search?{urlencode(query)}")
    assert status == 200
    assert differences(in_free_order(case["data"]), in_free_order(body["data"])) == []
