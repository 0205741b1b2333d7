"""What a cell of a SQLite table may hold, whatever its column was declared as.

Owns the reading of loosely typed values. Pure.
"""

from __future__ import annotations

import json
import math
from typing import Any

from app.text import clean


def optional_text(value: object) -> str | None:
    """Return a text, cleaned; None for NULL."""
    if value is None:
        return None
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return clean(str(value))


def text(value: object, default: str = "") -> str:
    """Return a text, cleaned; the default for NULL."""
    found = optional_text(value)
    return default if found is None else found


def optional_number(value: object) -> float | None:
    """Return a finite number; None for anything else."""
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def optional_whole(value: object) -> int | None:
    """Return a whole number, cut off at its point; None for anything else."""
    if isinstance(value, int):
        return value
    number = optional_number(value)
    return None if number is None else int(number)


def whole(value: object, default: int = 0) -> int:
    """Return a whole number, cut off at its point; the default for anything else."""
    found = optional_whole(value)
    return default if found is None else found


def holds_json(column: str | None) -> bool:
    """Tell whether a column can be parsed as JSON; nothing at all counts as such."""
    if not column:
        return True
    try:
        json.loads(column, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
