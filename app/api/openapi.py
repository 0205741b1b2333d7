"""The OpenAPI document, made from the table of routes.

Owns the form of OpenAPI 3.1. Routes, parameters, bodies and answers are described where they are
read; nothing is said twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import app as package
from app import errors
from app.api.bodies import Field
from app.api.parameters import Parameter
from app.api.routing import JSON, LARGEST_ID, Route

VERSION = "3.1.0"
LINES = "application/x-ndjson"

_PART = re.compile(r"<(?P<converter>[a-z]+):(?P<name>[a-z_]+)>")
_PATH_SCHEMAS: dict[str, dict[str, Any]] = {
    "id": {"type": "integer", "minimum": 1, "maximum": LARGEST_ID},
    "text": {"type": "string", "minLength": 1},
}

ANY_REQUEST = (
    errors.RequestError,
    errors.MissingToken,
    errors.AccessError,
    errors.TooManyRequests,
    errors.CrystalError,
    errors.Unavailable,
)
OF_A_PATH = (errors.NotFound,)
OF_A_BODY = (errors.BodyTooLarge, errors.UnsupportedMediaType)
OF_A_WRITE = (errors.Conflict,)


def document(routes: Sequence[Route]) -> dict[str, Any]:
    """Return the document as JSON values; the same routes give the same document."""
    return {
        "openapi": VERSION,
        "info": {
            "title": "chatcrystal-search",
            "version": package.__version__,
            "description": (
                "Search over notes from conversations with AI coding tools. Every answer is an "
                "envelope: `success` with `data`, or `error` with `code`."
            ),
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": name} for name in sorted({_group(route) for route in routes})],
        "paths": _paths(routes),
        "components": {
            "schemas": {"Error": _error_schema()},
            "responses": dict(sorted(_shared_responses(routes))),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _paths(routes: Sequence[Route]) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for route in sorted(routes, key=lambda route: (route.rule, route.method)):
        path = _PART.sub(r"{\g<name>}", route.rule)
        paths.setdefault(path, {})[route.method.lower()] = _operation(route)
    return paths


def _operation(route: Route) -> dict[str, Any]:
    said: dict[str, Any] = {
        "operationId": operation_id(route),
        "tags": [_group(route)],
        "summary": route.help.rstrip("."),
        "description": route.description,
        "parameters": [*_path_parameters(route), *map(_query_parameter, route.parameters)],
        "responses": _responses(route),
    }
    body = _body(route)
    if body is not None:
        said["requestBody"] = body
    return said


def operation_id(route: Route) -> str:
    """Return the name of a route for generated clients: that of its handler."""
    handler: str = route.handler.__name__
    return handler


def _group(route: Route) -> str:
    """Return what a route is about: the part of its address behind /api."""
    return route.rule.removeprefix("/api/").partition("/")[0]


def _path_parameters(route: Route) -> Iterator[dict[str, Any]]:
    for part in _PART.finditer(route.rule):
        yield {
            "name": part["name"],
            "in": "path",
            "required": True,
            "schema": _PATH_SCHEMAS[part["converter"]],
        }


def _query_parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "required": parameter.is_required,
        "description": parameter.help,
        "schema": _or_empty(parameter),
    }


def _or_empty(parameter: Parameter) -> dict[str, Any]:
    """Return a parameter's schema; an empty value counts as an absent one."""
    schema = dict(parameter.schema)
    is_bound = bool({"enum", "pattern", "anyOf"} & set(schema)) or schema.get("type") != "string"
    if parameter.is_required or parameter.is_repeatable or not is_bound:
        return schema
    return {"anyOf": [schema, {"type": "string", "maxLength": 0}]}


def _body(route: Route) -> dict[str, Any] | None:
    if route.takes_lines:
        return {"required": True, "content": {LINES: {"schema": {"type": "string"}}}}
    if route.body is None:
        return None
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {field.name: _field_schema(field) for field in route.body},
        "additionalProperties": False,
    }
    required = [field.name for field in route.body if field.is_required]
    if required:
        schema["required"] = required
    if route.needs_one_of:
        schema["anyOf"] = [_with(field) for field in route.body if field.name in route.needs_one_of]
    return {"required": True, "content": {JSON: {"schema": schema}}}


def _with(field: Field) -> dict[str, Any]:
    """Return the schema of a body that has a field, with something in it."""
    said: dict[str, Any] = dict(field.schema)
    if said.get("type") == "object":
        said["minProperties"] = 1
    return {"required": [field.name], "properties": {field.name: said}}


def _field_schema(field: Field) -> dict[str, Any]:
    """Return a field's schema; null counts as absent where the field may be absent."""
    said: dict[str, Any] = dict(field.schema)
    if not field.is_required:
        said = {"anyOf": [said, {"type": "null"}]}
    return said | {"description": field.help}


def _responses(route: Route) -> dict[str, Any]:
    responses = {str(route.status): _success(route)}
    for error in _errors_of(route):
        responses[str(error.status)] = {"$ref": f"#/components/responses/{error.__name__}"}
    return dict(sorted(responses.items()))


def _shared_responses(routes: Sequence[Route]) -> Iterator[tuple[str, dict[str, Any]]]:
    for error in {error for route in routes for error in _errors_of(route)}:
        yield (
            error.__name__,
            {
                "description": (error.__doc__ or "").splitlines()[0],
                "content": {JSON: {"schema": {"$ref": "#/components/schemas/Error"}}},
            },
        )


def _errors_of(route: Route) -> Iterator[type[errors.CrystalError]]:
    yield from ANY_REQUEST
    if "<" in route.rule:
        yield from OF_A_PATH
    if route.body is not None or route.takes_lines:
        yield from OF_A_BODY
    if route.method != "GET":
        yield from OF_A_WRITE
    yield from route.errors


def _success(route: Route) -> dict[str, Any]:
    if not route.is_enveloped:
        schema: Mapping[str, Any] = {"type": "string"}
        if route.answer is not None:
            schema = route.answer
        return {
            "description": route.help,
            "content": {route.media_type: {"schema": dict(schema)}},
        }
    properties: dict[str, Any] = {
        "success": {"const": True},
        "warnings": {"type": "array", "items": {"type": "string"}},
        **{name: dict(schema) for name, schema in route.beside.items()},
    }
    required = ["success"]
    if route.answer is not None:
        properties["data"] = dict(route.answer)
        required.append("data")
    schema = {"type": "object", "properties": properties, "required": required}
    return {"description": route.help, "content": {JSON: {"schema": schema}}}


def _error_schema() -> dict[str, Any]:
    codes = sorted({kind.code for kind in every_kind()})
    return {
        "type": "object",
        "properties": {
            "success": {"const": False},
            "error": {"type": "string", "description": "What is wrong and how to mend it."},
            "code": {"type": "string", "enum": codes},
        },
        "required": ["success", "error", "code"],
    }


def every_kind(
    root: type[errors.CrystalError] = errors.CrystalError,
) -> Iterator[type[errors.CrystalError]]:
    """Yield a class of the tree of errors and all below it."""
    yield root
    for kind in root.__subclasses__():
        yield from every_kind(kind)
