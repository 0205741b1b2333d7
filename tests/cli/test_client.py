"""The client: envelopes of both servers, errors of the network, the token."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from cli.client import Client
from cli.failures import Failure
from cli.session import Wiring
from tests.cli.conftest import run_with
from tests.support.provider import refused_address

URL = "http://server.test"
TOKEN = "hush-hush"


def client_of(answer: Callable[[httpx.Request], httpx.Response], token: str = "") -> Client:
    return Client(URL, token, httpx.MockTransport(answer))


def answered(status: int, body: Any) -> Callable[[httpx.Request], httpx.Response]:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda _: httpx.Response(status, content=content)


def failure_of(answer: Callable[[httpx.Request], httpx.Response]) -> Failure:
    with client_of(answer) as client, pytest.raises(Failure) as caught:
        client.call("GET", "/api/notes")
    return caught.value


def test_a_success_is_unwrapped() -> None:
    body = {"success": True, "data": [1], "explain": {"a": 1}, "warnings": ["mind"]}
    with client_of(answered(200, body)) as client:
        answer = client.call("GET", "/api/search")
    assert (answer.data, answer.explanation, answer.warnings) == ([1], {"a": 1}, ("mind",))


def test_a_success_may_come_without_data() -> None:
    with client_of(answered(200, {"success": True})) as client:
        assert client.call("DELETE", "/api/notes/1").data is None


FAILURES = {
    "ours": (
        404,
        {"success": False, "error": "Note not found", "code": "note_not_found"},
        ("Note not found", "note_not_found"),
    ),
    "original-handled": (
        404,
        {"success": False, "error": "Note not found"},
        ("Note not found", "http_404"),
    ),
    "original-route": (
        404,
        {"message": "Route GET:/api/nope not found", "error": "Not Found", "statusCode": 404},
        ("Not Found: Route GET:/api/nope not found", "http_404"),
    ),
    "original-unhandled": (
        500,
        {"statusCode": 500, "error": "Internal Server Error", "message": "datatype mismatch"},
        ("Internal Server Error: datatype mismatch", "http_500"),
    ),
    "original-code": (
        400,
        {
            "error": "Bad Request",
            "code": "FST_ERR_BAD_URL",
            "message": "'/api/%E4%BD' is not a valid url component",
            "statusCode": 400,
        },
        ("Bad Request: '/api/%E4%BD' is not a valid url component", "FST_ERR_BAD_URL"),
    ),
    "no-words": (
        503,
        {"success": False},
        (f"{URL} answered 503 without saying why", "http_503"),
    ),
    "success-is-no-yes": (
        200,
        {"success": "true"},
        (f"{URL} answered 200 without saying why", "http_200"),
    ),
    "page": (
        502,
        b"<html>Bad Gateway</html>",
        (f"{URL} answered 502 without the JSON of this API", "invalid_answer"),
    ),
    "other-json": (
        200,
        [1, 2],
        (f"{URL} answered 200 without the JSON of this API", "invalid_answer"),
    ),
    "empty": (
        204,
        b"",
        (f"{URL} answered 204 without the JSON of this API", "invalid_answer"),
    ),
    "deep": (
        200,
        b"[" * 100_000,
        (f"{URL} answered 200 without the JSON of this API", "invalid_answer"),
    ),
}


@pytest.mark.parametrize(("status", "body", "shown"), FAILURES.values(), ids=FAILURES)
def test_an_error_is_told_with_code_and_status(
    status: int, body: Any, shown: tuple[str, str]
) -> None:
    failure = failure_of(answered(status, body))
    assert (failure.text, failure.code, failure.status) == (*shown, status)


def raising(error: type[httpx.TransportError]) -> Callable[[httpx.Request], httpx.Response]:
    def answer(request: httpx.Request) -> httpx.Response:
        raise error(f"with {request.headers.get('Authorization')}", request=request)

    return answer


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (httpx.ConnectTimeout, "timeout"),
        (httpx.ReadTimeout, "timeout"),
        (httpx.ReadError, "connection_failed"),
        (httpx.RemoteProtocolError, "connection_failed"),
        (httpx.LocalProtocolError, "connection_failed"),
        (httpx.ProxyError, "connection_failed"),
    ],
)
def test_a_broken_connection_is_one_sentence_without_the_token(
    error: type[httpx.TransportError], code: str
) -> None:
    with client_of(raising(error), TOKEN) as client, pytest.raises(Failure) as caught:
        client.call("GET", "/api/tags", seconds=3)
    assert caught.value.code == code
    assert caught.value.status is None
    assert URL in caught.value.text
    assert TOKEN not in caught.value.text


def test_nobody_listens() -> None:
    with refused_address() as url, Client(url) as client, pytest.raises(Failure) as caught:
        client.call("GET", "/api/tags")
    assert caught.value.code == "unreachable"
    assert caught.value.text == f"Cannot reach {url}: Connection refused"


def test_the_token_is_sent_as_bearer() -> None:
    seen: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("Authorization"))
        return httpx.Response(200, json={"success": True, "data": []})

    wiring = Wiring(transport=httpx.MockTransport(answer))
    run_with(wiring, ("tags",), env={"CRYSTAL_API_TOKEN": f" {TOKEN}\n"})
    run_with(wiring, ("tags",))
    assert seen == [f"Bearer {TOKEN}", None]


@pytest.mark.parametrize("token", ["hush\nhush", "hush\u00e9", "hush\x00"], ids=repr)
def test_a_token_that_no_header_takes_is_refused_unseen(token: str) -> None:
    transport = httpx.MockTransport(answered(200, {"success": True, "data": []}))
    with pytest.raises(Failure) as caught:
        Client(URL, token, transport)
    assert caught.value.code == "invalid_token"
    assert "hush" not in caught.value.text


def test_a_token_is_not_taken_as_an_argument() -> None:
    ran = run_with(Wiring(), ("--api-token", TOKEN, "tags"))
    assert ran.code == 2
    assert "CRYSTAL_API_TOKEN" in ran.error
    assert TOKEN not in ran.err


def test_a_wrong_token_is_one_line() -> None:
    body = {"success": False, "error": "An API token is required", "code": "missing_token"}
    transport = httpx.MockTransport(answered(401, body))
    ran = run_with(Wiring(transport=transport), ("tags",), env={"CRYSTAL_API_TOKEN": TOKEN})
    assert ran.code == 1
    assert ran.error == "Error: An API token is required"


def test_query_and_body_are_sent_as_utf8() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"success": True})

    query = [("q", "锁 & 100%"), ("q", "lone \udcff surrogate")]
    with client_of(answer) as client:
        client.call("POST", "/api/x", query=query, body={"title": "锁 \udcff"})
        client.call("POST", "/api/x", lines=b'{"type":"note"}\n')
    assert seen[0].url.params.get_list("q") == ["锁 & 100%", "lone ? surrogate"]
    assert seen[0].headers["Content-Type"] == "application/json"
    assert json.loads(seen[0].content) == {"title": "锁 \udcff"}
    assert seen[1].headers["Content-Type"] == "application/x-ndjson"
    assert seen[1].content == b'{"type":"note"}\n'
