"""Nothing reaches a client without a help text: no route, no parameter, no field of a body."""

from __future__ import annotations

import re

import pytest

from app.api.application import ROUTES
from app.api.bodies import Field
from app.api.parameters import Parameter
from app.api.routing import Route

IDS = [f"{route.method} {route.rule}" for route in ROUTES]
PARAMETERS = [(route, parameter) for route in ROUTES for parameter in route.parameters]
FIELDS = [(route, field) for route in ROUTES for field in route.body or ()]

SENTENCE = re.compile(r"[A-Z`%].*[^.\s]\.", re.DOTALL)
TYPES = {"string", "integer", "number", "boolean", "array", "object"}


def test_routes_are_told_apart() -> None:
    assert len(set(IDS)) == len(IDS)


@pytest.mark.parametrize("route", ROUTES, ids=IDS)
def test_route_has_help(route: Route) -> None:
    assert SENTENCE.fullmatch(route.help), route.help
    assert route.method in {"GET", "POST", "PATCH", "PUT", "DELETE"}


@pytest.mark.parametrize("route", ROUTES, ids=IDS)
def test_only_writes_have_bodies(route: Route) -> None:
    assert route.body is None or route.method != "GET"


@pytest.mark.parametrize("route", ROUTES, ids=IDS)
def test_names_are_given_once(route: Route) -> None:
    for names in (
        [parameter.name for parameter in route.parameters],
        [field.name for field in route.body or ()],
    ):
        assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("route", "parameter"),
    PARAMETERS,
    ids=[f"{route.method} {route.rule} {parameter.name}" for route, parameter in PARAMETERS],
)
def test_parameter_has_help(route: Route, parameter: Parameter) -> None:
    assert SENTENCE.fullmatch(parameter.help), parameter.help
    assert parameter.schema["type"] in TYPES
    if parameter.default not in (None, (), "") and "default" in parameter.schema:
        assert parameter.schema["default"] == parameter.default
    assert parameter.is_repeatable == (parameter.schema["type"] == "array")


@pytest.mark.parametrize(
    ("route", "field"),
    FIELDS,
    ids=[f"{route.method} {route.rule} {field.name}" for route, field in FIELDS],
)
def test_field_has_help(route: Route, field: Field) -> None:
    assert SENTENCE.fullmatch(field.help), field.help
    assert field.schema["type"] in TYPES
