"""Read requests over the imported directory are answered as recorded."""

from typing import Any

import pytest
from flask import Flask

from tests.support.golden import case_id, differences, get, read_cases

pytestmark = pytest.mark.golden

CASES: list[dict[str, Any]] = read_cases("chatcrystal/http.json")


def test_there_are_cases() -> None:
    assert CASES


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_answer_is_as_recorded(case: dict[str, Any], golden_server: Flask) -> None:
    status, body = get(golden_server, case["path"])
    assert status == case["status"]
    if "data" in case:
        assert body["success"] is True
        assert differences(case["data"], body["data"]) == []
    if "error" in case:
        assert body["success"] is False
        assert body["error"] == case["error"]
