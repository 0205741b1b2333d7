"""JSON bodies: one table of fields per route, read by one reader.

Owns what a field may hold, and the sentence that says so. The documentation is made from the
same tables.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import Request

from app.domain.notes import Snippet
from app.errors import CrystalError, InvalidBody, InvalidParameter, UnsupportedMediaType
from app.text import VISIBLE, clean, is_blank

_SNIPPET_FIELDS = ("language", "code", "description")


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a body; ``schema`` is its JSON schema in the documentation.

    ``missing`` is what is raised when a required field is absent, where that has words of its own.
    """

    name: str
    help: str
    read: Callable[[str, Any], Any]
    schema: Mapping[str, Any]
    is_required: bool = False
    missing: CrystalError | None = None


def read_json_object(request: Request) -> dict[str, Any]:
    """Return the body as a JSON object.

    Raises:
        UnsupportedMediaType: it is not declared as JSON.
        InvalidBody: it is no JSON object.
    """
    if request.mimetype != "application/json":
        raise UnsupportedMediaType('The body must be JSON: send "Content-Type: application/json"')
    body = parse_json(request.get_data(cache=False))
    if not isinstance(body, dict):
        raise InvalidBody("The body must be a JSON object")
    return body


def parse_json(raw: bytes) -> Any:
    """Parse JSON as the standard has it: without NaN, and without numbers beyond all bounds.

    Raises:
        InvalidBody: it is something else, or nested too deeply.
    """
    try:
        return json.loads(raw, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise InvalidBody("The body is not valid JSON") from error


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is beyond all bounds")
    return number


def read_fields(table: Sequence[Field], body: Mapping[str, Any]) -> dict[str, Any]:
    """Read the fields of a table that the body has; null counts as absent.

    Raises:
        InvalidParameter: a field is unknown, missing, or holds what it may not.
    """
    known = {field.name for field in table}
    for name in body:
        if name not in known:
            raise InvalidParameter(clean(name), f"is not known; use {', '.join(sorted(known))}")
    found = {}
    for field in table:
        if body.get(field.name) is not None:
            found[field.name] = field.read(field.name, body[field.name])
        elif field.is_required:
            raise field.missing or InvalidParameter(field.name, "is required")
    return found


def any_text(name: str, value: Any) -> str:
    """Read a text."""
    if not isinstance(value, str):
        raise InvalidParameter(name, "must be a text")
    return clean(value)


def visible_text(name: str, value: Any) -> str:
    """Read a text with something to see in it."""
    found = any_text(name, value)
    if is_blank(found):
        raise InvalidParameter(name, "must not be blank")
    return found


def any_texts(name: str, value: Any) -> tuple[str, ...]:
    """Read a list of texts."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidParameter(name, "must be a list of texts")
    return tuple(clean(item) for item in value)


def note_path(name: str, value: Any) -> str:
    """Read the place of a note among others, without dots or slashes that lead nowhere."""
    parts = [part.strip() for part in any_text(name, value).split("/")]
    kept = [part for part in parts if not is_blank(part.strip("."))]
    if not kept:
        raise InvalidParameter(name, "must be a path such as folder/note.md")
    return "/".join(kept)


def tag_names(name: str, value: Any) -> tuple[str, ...]:
    """Read a list of tag names, each once, none blank."""
    names = tuple(dict.fromkeys(item.strip() for item in any_texts(name, value)))
    if any(is_blank(item) for item in names):
        raise InvalidParameter(name, "must not hold a blank name")
    return names


def snippets(name: str, value: Any) -> tuple[Snippet, ...]:
    """Read a list of code snippets."""
    problem = "must be a list of objects with the texts language, code and description"
    if not isinstance(value, list):
        raise InvalidParameter(name, problem)
    found = []
    for item in value:
        if not isinstance(item, dict) or not set(item) <= set(_SNIPPET_FIELDS):
            raise InvalidParameter(name, problem)
        parts = [item.get(part, "") for part in _SNIPPET_FIELDS]
        if not all(isinstance(part, str) for part in parts):
            raise InvalidParameter(name, problem)
        found.append(Snippet(*(clean(part) for part in parts)))
    return tuple(found)


def note_id(name: str, value: Any) -> int:
    """Read the id of a note."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 2**63:
        raise InvalidParameter(name, "must be the id of a note")
    return value


def confidence(name: str, value: Any) -> float:
    """Read a confidence."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1:
        raise InvalidParameter(name, "must be a number from 0 to 1")
    return float(value)


TEXT = {"type": "string"}
VISIBLE_TEXT = {"type": "string", "pattern": VISIBLE}
TAG_NAMES = {"type": "array", "items": {"type": "string", "pattern": r"[^\x00\s\ufeff]"}}
NOTE_PATH = {"type": "string", "pattern": r"[^\x00\s\ufeff/.]"}
NOTE_ID = {"type": "integer", "minimum": 1, "maximum": 2**63 - 1}
TEXTS = {"type": "array", "items": TEXT}
SNIPPETS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": dict.fromkeys(_SNIPPET_FIELDS, TEXT),
        "additionalProperties": False,
    },
}
