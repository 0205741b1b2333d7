"""Route of imports in the JSON Lines form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from flask import request

from app.api.routing import Route
from app.api.services import services
from app.errors import UnsupportedMediaType

MEDIA_TYPES = ("application/x-ndjson", "application/jsonl", "application/json")
NOT_AN_OBJECT: Mapping[str, Any] = {"type": None}


def import_lines() -> Any:
    """Take in a batch of records, one JSON object a line."""
    if request.mimetype not in MEDIA_TYPES:
        raise UnsupportedMediaType(
            'The body must be JSON Lines: send "Content-Type: application/x-ndjson"'
        )
    report = services().importer.import_records(_records(request.get_data(cache=False)))
    return {
        "added": report.added,
        "unchanged": report.unchanged,
        "refused": [{"line": line, "error": reason} for line, reason in report.refused],
    }


def _records(body: bytes) -> Iterator[Mapping[str, Any]]:
    for line in body.splitlines():
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        yield record if isinstance(record, dict) else NOT_AN_OBJECT


ROUTES = (Route("POST", "/api/import", import_lines),)
