"""JSON columns and clock texts: how they are written and read.

Owns the two encodings. Must not know which table a text came from.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from app.text import clean


def read_json(text: str | None) -> Any:
    """Parse a JSON column; nothing, or what is no JSON, is an empty list."""
    if not text:
        return []
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return []


def read_texts(text: str | None) -> tuple[str, ...]:
    """Parse a JSON column that holds a list of texts; anything else in it is left out."""
    value = read_json(text)
    if not isinstance(value, list):
        return ()
    return tuple(item for item in value if isinstance(item, str))


def write_json(value: Any) -> str:
    """Write a JSON column, without escapes so that LIKE finds what a person wrote."""
    return clean(json.dumps(value, ensure_ascii=False))


def now() -> str:
    """The time in UTC as the original stores it, ``YYYY-MM-DD HH:MM:SS``."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
