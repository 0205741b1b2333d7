"""Route of imports in the JSON Lines form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from flask import request

from app.api import answers
from app.api.bodies import parse_json
from app.api.routing import Route
from app.api.services import services
from app.errors import InvalidBody, UnsupportedMediaType

MEDIA_TYPES = ("application/x-ndjson", "application/jsonl", "application/json")


def import_lines() -> Any:
    """Take in a batch of records, one JSON object a line; blank lines count but hold nothing."""
    if request.mimetype not in MEDIA_TYPES:
        raise UnsupportedMediaType(
            'The body must be JSON Lines: send "Content-Type: application/x-ndjson"'
        )
    lines = request.get_data(cache=False).splitlines()
    numbers = [number for number, line in enumerate(lines, start=1) if line.strip()]
    records = _records(lines[number - 1] for number in numbers)
    report = services().importer.import_records(records)
    return {
        "added": report.added,
        "unchanged": report.unchanged,
        "refused": [
            {"line": numbers[record - 1], "error": reason} for record, reason in report.refused
        ],
    }


def _records(lines: Iterable[bytes]) -> Iterator[Any]:
    """Parse the lines; the importer refuses whatever is no object, by its number."""
    for line in lines:
        try:
            yield parse_json(line)
        except InvalidBody:
            yield None


ROUTES = (Route("POST", "/api/import", import_lines, takes_lines=True, answer=answers.IMPORTED),)
