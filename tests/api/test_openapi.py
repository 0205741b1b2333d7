"""The OpenAPI document: whole, true of every answer, and held against thousands of requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, settings
from jsonschema import Draft202012Validator

from app.api.application import ROUTES
from app.api.openapi import document, operation_id
from app.api.routing import Route
from tests.api.library import EXAMPLES, STREAM, fill
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider

Case = schemathesis.Case[Any]

IDS = [f"{route.method} {route.rule}" for route in ROUTES]
ANSWERED = [route for route in ROUTES if (route.method, route.rule) != STREAM]

REFUSED_FOR_THE_DATA = {"invalid_relation", "provider_unreachable", "configuration_error"}
"""Codes of refusals that no schema can foresee: they depend on what is stored or reachable."""

EXAMPLES_EACH = 25


def operation(route: Route) -> dict[str, Any]:
    """What the document says of a route."""
    for methods in document(ROUTES)["paths"].values():
        for said in methods.values():
            if said["operationId"] == operation_id(route):
                return dict(said)
    raise AssertionError(f"{route.rule} is not in the document")


def test_the_document_is_served_as_it_is(reader: FlaskClient) -> None:
    served = reader.get("/api/openapi.json")
    assert served.content_type == "application/json"
    assert served.get_json() == json.loads(json.dumps(document(ROUTES)))
    assert served.get_json()["openapi"].startswith("3.1.")


def test_operations_have_names_of_their_own() -> None:
    names = [operation_id(route) for route in ROUTES]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("route", ROUTES, ids=IDS)
def test_every_route_is_documented_with_its_answer(route: Route) -> None:
    said = operation(route)
    assert said["summary"]
    assert all(parameter["schema"] for parameter in said["parameters"])
    assert route.answer is not None or not route.is_enveloped or is_dataless(route)
    success = said["responses"][str(route.status)]
    for content in success["content"].values():
        Draft202012Validator.check_schema(content["schema"])


def is_dataless(route: Route) -> bool:
    return route.method == "DELETE" or route.rule.endswith("/open")


@pytest.mark.parametrize("route", ANSWERED, ids=[f"{r.method} {r.rule}" for r in ANSWERED])
def test_every_answer_is_what_the_document_says(
    request: pytest.FixtureRequest, route: Route
) -> None:
    client = request.getfixturevalue("reader" if route.method == "GET" else "editor")
    example = EXAMPLES[route.method, route.rule]
    answer = client.open(example.path, method=route.method, **example.content)
    assert answer.status_code == route.status
    ((kind, content),) = operation(route)["responses"][str(route.status)]["content"].items()
    assert answer.mimetype == kind
    if kind == "application/json":
        Draft202012Validator(content["schema"]).validate(answer.get_json())


def test_the_page_names_every_route_and_loads_nothing_from_elsewhere(reader: FlaskClient) -> None:
    page = reader.get("/api/docs")
    text = page.get_data(as_text=True)
    assert all(f'id="{operation_id(route)}"' in text for route in ROUTES)
    assert "unsafe-inline" not in page.headers["Content-Security-Policy"]
    assert "<script" not in text
    assert "style=" not in text
    assert "//" not in text.replace("http://127", "").split("<body>")[0]
    assert reader.get("/api/docs/style.css").mimetype == "text/css"


@schemathesis.serializer("application/x-ndjson")
def lines(context: Any, value: Any) -> bytes:
    """Send what was made for a body of lines as one line."""
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


SCHEMA = schemathesis.openapi.from_dict(document(ROUTES))
# A NUL is dropped before a text is measured, which no schema can say.
SCHEMA.config.generation.allow_x00 = False
SCHEMA.config.update(base_url="http://localhost")

SOME = settings(
    max_examples=EXAMPLES_EACH, deadline=None, derandomize=True, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    """An application that takes whatever comes."""
    folder = tmp_path_factory.mktemp("fuzzed")
    with StubProvider() as stub, opened(folder, stub_values(stub)) as application:
        fill(application)
        yield application.flask()


@SCHEMA.exclude(path="/api/queue/stream").exclude(path_regex="^/api/config").parametrize()
@SOME
def test_requests_are_answered_as_documented(case: Case, fuzzed: Flask) -> None:
    hold(case, fuzzed)


@pytest.fixture
def reconfigured(tmp_path: Path) -> Iterator[Flask]:
    """An application whose configuration is played with."""
    with StubProvider() as stub, opened(tmp_path, stub_values(stub)) as application:
        yield application.flask()


@SCHEMA.include(path_regex="^/api/config").parametrize()
@SOME
def test_configurations_are_answered_as_documented(case: Case, reconfigured: Flask) -> None:
    hold(case, reconfigured)


def asks_several(case: Case) -> bool:
    """Tell whether there are several queries for a ranker that may not take them."""
    asked = (case.query or {}).get("q")
    return isinstance(asked, list) and len(asked) > 1


def has_whole_floats(body: Any) -> bool:
    """Tell whether there is a number such as 7.0, which is an integer to a schema and not to us."""
    values = body.values() if isinstance(body, dict) else ()
    return any(isinstance(value, float) and value.is_integer() for value in values)


def hold(case: Case, application: Flask) -> None:
    """Send a request and hold the answer against every check that can say something of it."""
    case.operation.schema.app = application
    response = case.call(app=application)
    left_out = []
    refusal = response.json() if response.status_code >= 400 else {}
    code = refusal.get("code")
    lacks_model = "needs a language model" in refusal.get("error", "")
    if (
        lacks_model
        or code in REFUSED_FOR_THE_DATA
        or asks_several(case)
        or has_whole_floats(case.body)
    ):
        left_out.append(schemathesis.checks.positive_data_acceptance)
    if code == "provider_unreachable":
        left_out.append(schemathesis.checks.not_a_server_error)
    if "{conversation_id}" in case.path:
        # An id may have slashes, so that other addresses are below the one of a conversation too.
        left_out.append(schemathesis.checks.allow_header_conformance)
        left_out.append(schemathesis.checks.unsupported_method)
    if case.path.startswith("/api/memory/"):
        # What one field needs depends on another, and null counts as absent inside objects too.
        left_out.append(schemathesis.checks.positive_data_acceptance)
        left_out.append(schemathesis.checks.negative_data_rejection)
    if case.path == "/api/config":
        # The address of a language model that is not used is not looked at.
        left_out.append(schemathesis.checks.negative_data_rejection)
    if case.path == "/api/import":
        # Any text is a batch of lines; those that hold no record are reported, not refused.
        left_out.append(schemathesis.checks.negative_data_rejection)
    case.validate_response(response, excluded_checks=left_out)
