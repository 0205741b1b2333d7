"""JSON schemas of answers, read off the domain's values where an answer is one.

Owns how a type becomes a schema. The documentation is made from them, and tests hold every
answer against its schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

Schema = Mapping[str, Any]

ANYTHING: Schema = {}
TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
NOTHING: Schema = {"type": "null"}

_PLAIN: dict[Any, Schema] = {
    str: TEXT,
    int: WHOLE,
    float: NUMBER,
    bool: FLAG,
    NoneType: NOTHING,
    Any: ANYTHING,
}


def of(kind: Any) -> Schema:
    """Return the schema of a type: a dataclass, a tuple of one type, a union, or a plain one.

    Raises:
        TypeError: the type has no JSON form here.
    """
    if kind in _PLAIN:
        return _PLAIN[kind]
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return record({each.name: of(hints[each.name]) for each in fields(kind)})
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return {"anyOf": [of(each) for each in arguments]}
    if origin in (tuple, list):
        return many(of(arguments[0]))
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": of(arguments[1])}
    raise TypeError(f"{kind} has no JSON schema")


def some_of(kind: Any, names: tuple[str, ...]) -> dict[str, Schema]:
    """Return the schemas of some fields of a dataclass."""
    hints = get_type_hints(kind)
    return {name: of(hints[name]) for name in names}


def record(
    properties: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None
) -> Schema:
    """An object that has all of these properties, and may have some more."""
    return {
        "type": "object",
        "properties": {**properties, **(optional or {})},
        "required": list(properties),
    }


def many(item: Schema) -> Schema:
    """A list of items of one form."""
    return {"type": "array", "items": item}


def page_of(item: Schema) -> Schema:
    """A page of a list."""
    return record({"items": many(item), "total": WHOLE, "offset": WHOLE, "limit": WHOLE})


def maybe(schema: Schema) -> Schema:
    """What the schema says, or null."""
    return {"anyOf": [schema, NOTHING]}


def counts(of_what: Schema = WHOLE) -> Schema:
    """An object of numbers by name."""
    return {"type": "object", "additionalProperties": of_what}
