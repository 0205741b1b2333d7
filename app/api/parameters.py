"""Query parameters: one table per route, read by one reader.

Owns what a value may look like, and the sentence that says so. The documentation is made from
the same tables.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from app.errors import InvalidParameter
from app.text import VISIBLE, js_trim

LONGEST_TEXT = 4_000
COUNTS_AS_AT_MOST = "x-counts-as-at-most"
"""Key of a schema: more than this counts as this, where a ``maximum`` would refuse it."""

LARGEST_WHOLE = 2**53 - 1
"""The largest whole number that JSON clients keep exactly."""

MOST_REPEATS = 100
"""Values of one parameter; SQLite takes no condition of a thousand parts."""

_WHOLE = re.compile(r"\+?([0-9]+)")
_SIGNED = re.compile(r"[+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,3})?")
_NUMBER = re.compile(r"\+?([0-9]+(?:\.[0-9]+)?)")
_AGO = re.compile(r"(?P<days>[0-9]{1,5})d|(?P<hours>[0-9]{1,6})h")
_MOMENT_SCHEMAS = (
    {"format": "date"},
    {"format": "date-time"},
    {"pattern": f"^({_AGO.pattern.replace('?P<days>', '').replace('?P<hours>', '')})$"},
)
_MOMENT_HELP = "an ISO 8601 date or time, or how long ago, such as 30d or 12h"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One query parameter; ``schema`` is its JSON schema in the documentation.

    A repeatable one that keeps empty values tells its handler how often it was given.
    """

    name: str
    help: str
    read: Callable[[str], Any]
    schema: Mapping[str, Any]
    default: Any = None
    is_repeatable: bool = False
    is_required: bool = False
    keeps_empty: bool = False


def read_all(table: Sequence[Parameter], values: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Read the parameters of a table; unknown ones are left alone, empty ones count as absent.

    Of a family, parameters with one beginning up to a dot, no unknown ones are let pass: they are
    misspelt options.

    Raises:
        InvalidParameter: a value cannot be read, a parameter came twice, or its family lacks it.
    """
    names = {parameter.name for parameter in table}
    families = {name.partition(".")[0] for name in names if "." in name}
    for name in values:
        family, dot, _ = name.partition(".")
        if dot and family in families and name not in names:
            raise InvalidParameter(name, f"is no option of {family}")
    return {parameter.name: _read(parameter, values) for parameter in table}


def _read(parameter: Parameter, values: Mapping[str, Sequence[str]]) -> Any:
    given = [value for value in values.get(parameter.name, ()) if value]
    if parameter.is_repeatable:
        if len(given) > MOST_REPEATS:
            raise InvalidParameter(
                parameter.name, f"must be given at most {MOST_REPEATS} times, not {len(given)}"
            )
        kept = values.get(parameter.name, ()) if parameter.keeps_empty else given
        return tuple(parameter.read(value) for value in kept)
    if len(values.get(parameter.name, ())) > 1:
        raise InvalidParameter(parameter.name, "must be given once")
    return parameter.read(given[0]) if given else parameter.default


def required(parameter: Parameter, **schema: Any) -> Parameter:
    """Return a parameter that the documentation calls required; its handler says so if it lacks.

    ``schema`` is added to that of the parameter.
    """
    return replace(parameter, is_required=True, schema={**parameter.schema, **schema})


def whole(name: str, help: str, default: int, maximum: int) -> Parameter:
    """A whole number from 0; above the maximum counts as the maximum."""

    def read(value: str) -> int:
        match = _WHOLE.fullmatch(js_trim(value))
        if match is None:
            raise InvalidParameter(name, f"must be a whole number from 0 to {maximum}")
        digits = match[1].lstrip("0") or "0"
        return maximum if len(digits) > len(str(maximum)) else min(int(digits), maximum)

    schema = {"type": "integer", "minimum": 0, COUNTS_AS_AT_MOST: maximum, "default": default}
    return Parameter(name, help, read, schema, default)


def number(name: str, help: str, default: float, maximum: int) -> Parameter:
    """A decimal number from 0; above the maximum counts as the maximum."""

    def read(value: str) -> float:
        match = _NUMBER.fullmatch(js_trim(value))
        if match is None:
            raise InvalidParameter(name, f"must be a number from 0 to {maximum}")
        return min(float(match[1]), float(maximum))

    schema = {"type": "number", "minimum": 0, COUNTS_AS_AT_MOST: maximum, "default": default}
    return Parameter(name, help, read, schema, default)


def within(
    name: str, help: str, minimum: float, maximum: float, *, is_whole: bool = False
) -> Parameter:
    """A number within bounds, refused outside of them; None when it is not given."""
    kind = "whole number" if is_whole else "number"

    def read(value: str) -> float:
        match = _SIGNED.fullmatch(js_trim(value))
        found = float(match[0]) if match else math.nan
        if not minimum <= found <= maximum or (is_whole and not found.is_integer()):
            raise InvalidParameter(name, f"must be a {kind} from {minimum:g} to {maximum:g}")
        return int(found) if is_whole else found

    schema = {
        "type": "integer" if is_whole else "number", "minimum": minimum, "maximum": maximum,
    }  # fmt: skip
    return Parameter(name, help, read, schema)


def text(name: str, help: str, *, is_repeatable: bool = False) -> Parameter:
    """A text of at most 4,000 characters."""

    def read(value: str) -> str:
        return within_length(name, value)

    schema: dict[str, Any] = {"type": "string", "maxLength": LONGEST_TEXT}
    if is_repeatable:
        schema = {"type": "array", "items": schema}
    return Parameter(name, help, read, schema, () if is_repeatable else None, is_repeatable)


def queries(name: str, help: str) -> Parameter:
    """A text that may be repeated, empty values kept: whoever takes one alone must see them."""
    found = text(name, help, is_repeatable=True)
    item = {"type": "string", "maxLength": LONGEST_TEXT, "pattern": VISIBLE}
    schema = {"type": "array", "items": item, "minItems": 1}
    return replace(found, schema=schema, keeps_empty=True, is_required=True)


def query(name: str, help: str) -> Parameter:
    """A text that must be there; that it shows something, its handler checks."""
    schema = {"type": "string", "maxLength": LONGEST_TEXT, "pattern": VISIBLE}
    return replace(text(name, help), schema=schema, is_required=True)


def within_length(name: str, value: str) -> str:
    """Return a text that is short enough.

    Raises:
        InvalidParameter: it is longer than 4,000 characters.
    """
    if len(value) > LONGEST_TEXT:
        raise InvalidParameter(
            name, f"has {len(value)} characters; at most {LONGEST_TEXT} are allowed"
        )
    return value


def choice(name: str, help: str, choices: Sequence[str], default: str | None) -> Parameter:
    """One of some words."""

    def read(value: str) -> str:
        if value not in choices:
            raise InvalidParameter(name, f"must be one of {', '.join(choices)}")
        return value

    schema: dict[str, Any] = {"type": "string", "enum": list(choices)}
    if default is not None:
        schema["default"] = default
    return Parameter(name, help, read, schema, default)


def choices(name: str, help: str, allowed: Sequence[str], default: tuple[str, ...]) -> Parameter:
    """Some of some words, separated by commas."""

    def read(value: str) -> tuple[str, ...]:
        words = tuple(dict.fromkeys(word.strip() for word in value.split(",") if word.strip()))
        if not words or not set(words) <= set(allowed):
            raise InvalidParameter(
                name, f"must list some of {', '.join(allowed)}, separated by commas"
            )
        return words

    word = f"({'|'.join(allowed)})"
    schema = {"type": "string", "pattern": f"^{word}(,{word})*$"}
    return Parameter(name, help, read, schema, default)


def boolean(name: str, help: str, default: bool = False) -> Parameter:
    """Exactly ``true`` or ``false``."""

    def read(value: str) -> bool:
        if value not in ("true", "false"):
            raise InvalidParameter(name, "must be true or false")
        return value == "true"

    return Parameter(name, help, read, {"type": "boolean", "default": default}, default)


def lenient_boolean(name: str, help: str) -> Parameter:
    """On for exactly ``true``, off for anything else, as the original reads it."""
    schema = {"type": "string", "examples": ["true", "false"]}
    return Parameter(name, help, lambda value: value == "true", schema, False)


def moment(name: str, help: str, *, is_end: bool = False) -> Parameter:
    """A time in UTC as ``YYYY-MM-DD HH:MM:SS``; a date alone is its first or last second."""

    def read(value: str) -> str:
        found = _moment(value.strip(), is_end=is_end)
        if found is None:
            raise InvalidParameter(name, f"must be {_MOMENT_HELP}")
        return found.replace(tzinfo=None).isoformat(" ", "seconds")

    schema = {"type": "string", "anyOf": list(_MOMENT_SCHEMAS)}
    return Parameter(name, f"{help} ({_MOMENT_HELP}).", read, schema)


def _moment(value: str, *, is_end: bool) -> datetime | None:
    ago = _AGO.fullmatch(value)
    try:
        if ago is not None:
            days, hours = int(ago["days"] or 0), int(ago["hours"] or 0)
            return datetime.now(UTC) - timedelta(days=days, hours=hours)
        found = datetime.fromisoformat(value)
        if len(value) <= len("YYYY-MM-DD") and is_end:
            found += timedelta(days=1, seconds=-1)
        if found.tzinfo is not None:
            found = found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return found
