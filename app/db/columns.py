"""JSON columns and clock texts: how they are written and read.

Owns the two encodings. Must not know which table a text came from.
"""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any

from app.text import clean

DEEPEST_JSON = 100
"""Levels of lists and objects in a column; an answer could not be written with many more."""


def read_json(text: str | None) -> Any:
    """Parse a JSON column; nothing, or what is no JSON, is an empty list.

    What comes back can be written as JSON in UTF-8: numbers beyond all bounds are None, as in
    the original's answers, and texts are clean.
    """
    if not text or text == "[]":
        return []
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
        return _writable(value, DEEPEST_JSON)
    except (ValueError, RecursionError):
        return []


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def _writable(value: Any, levels: int) -> Any:
    if isinstance(value, str):
        return clean(value)
    if not isinstance(value, list | dict):
        return value
    if not levels:
        raise ValueError("nested too deeply")
    if isinstance(value, list):
        return [_writable(item, levels - 1) for item in value]
    return {clean(key): _writable(item, levels - 1) for key, item in value.items()}


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
