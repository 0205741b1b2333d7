"""Recorded cases and the rule by which an answer agrees with one.

Owns where they are: in the folder that GOLDEN_DIR names, or in the project's copy. Read when a
test module is loaded, since the fixtures of a test come too late to list the cases.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from flask import Flask

from app.domain.adoption import AdoptionRequest
from app.factory import Application
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider, golden_vector

COPY = Path(__file__).parents[2] / "fixtures" / "golden"
GOLDEN_DIR = Path(os.environ.get("GOLDEN_DIR") or COPY)
DATA_DIR = GOLDEN_DIR / "chatcrystal" / "datadir"

BASE_URL = "http://localhost:3721"


def read_cases(name: str) -> Any:
    """The content of a file of cases; an empty list when there is none."""
    path = GOLDEN_DIR / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def case_id(case: dict[str, Any]) -> str:
    """The name by which a case is reported."""
    return str(case["id"])


@contextmanager
def golden_application() -> Iterator[Application]:
    """An application over the imported data directory, with the provider that made its vectors."""
    with (
        TemporaryDirectory(prefix="crystal-golden-") as folder,
        StubProvider(vector=golden_vector) as provider,
        opened(Path(folder), stub_values(provider)) as application,
    ):
        application.adopter.adopt(AdoptionRequest(DATA_DIR))
        yield application


def get(flask: Flask, target: str) -> tuple[int, dict[str, Any]]:
    """Send a GET for a path as recorded, percent-encoding and all; return status and body."""
    path, _, query = target.partition("?")
    answer = flask.test_client().get(path, query_string=query, base_url=BASE_URL)
    body: dict[str, Any] = answer.get_json()
    return answer.status_code, body


def differences(wanted: Any, found: Any, place: str = "data") -> list[str]:
    """Where an answer disagrees: every key and value wanted must be there, more keys may be."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        missing = [f"{place}.{key} is missing" for key in wanted if key not in found]
        shared = [key for key in wanted if key in found]
        return missing + [
            difference
            for key in shared
            for difference in differences(wanted[key], found[key], f"{place}.{key}")
        ]
    if isinstance(wanted, list) and isinstance(found, list):
        if len(wanted) != len(found):
            return [f"{place} has {len(found)} elements, not {len(wanted)}"]
        return [
            difference
            for index, (one, other) in enumerate(zip(wanted, found, strict=True))
            for difference in differences(one, other, f"{place}[{index}]")
        ]
    # To Python, true is 1 and 1 is 1.0; to a client of ours the first two are not the same.
    if isinstance(wanted, bool) is isinstance(found, bool) and wanted == found:
        return []
    return [f"{place} is {found!r}, not {wanted!r}"]


def in_free_order(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of a search with those of equal score in a fixed order, which they may have in any."""
    ordered: list[dict[str, Any]] = []
    group: list[dict[str, Any]] = []
    for row in rows:
        if group and group[0]["score"] != row["score"]:
            ordered += sorted(group, key=lambda each: each["note_id"])
            group = []
        group.append(row)
    return ordered + sorted(group, key=lambda each: each["note_id"])
