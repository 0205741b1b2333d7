"""Whether a value is what a JSON schema asks for.

Owns the part of JSON schema that we ask models with: type, properties, required, items, enum,
minimum, maximum, minLength, maxItems.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


def violation(value: Any, schema: Mapping[str, Any], place: str = "answer") -> str | None:
    """Say what of a value is not as the schema asks, None when all is."""
    expected = schema.get("type")
    is_bool = isinstance(value, bool) and expected != "boolean"
    if expected and (is_bool or not isinstance(value, _TYPES[expected])):
        return f"{place} must be of type {expected}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{place} must be one of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, str) and len(value.strip()) < schema.get("minLength", 0):
        return f"{place} must not be blank"
    if isinstance(value, int | float) and not _is_within(value, schema):
        return f"{place} is out of its range"
    if isinstance(value, list):
        return _of_list(value, schema, place)
    return _of_object(value, schema, place) if isinstance(value, dict) else None


def _is_within(value: float, schema: Mapping[str, Any]) -> bool:
    return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))


def _of_list(value: list[Any], schema: Mapping[str, Any], place: str) -> str | None:
    if len(value) > schema.get("maxItems", len(value)):
        return f"{place} must have at most {schema['maxItems']} items"
    items = schema.get("items", {})
    found = (violation(item, items, f"{place}[{number}]") for number, item in enumerate(value))
    return next((problem for problem in found if problem), None)


def _of_object(value: dict[str, Any], schema: Mapping[str, Any], place: str) -> str | None:
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        return f"{place} lacks {missing[0]}"
    found = (
        violation(value[name], inner, f"{place}.{name}")
        for name, inner in schema.get("properties", {}).items()
        if name in value
    )
    return next((problem for problem in found if problem), None)
