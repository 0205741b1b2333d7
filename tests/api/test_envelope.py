"""One envelope for success and one for errors, over every route and every status."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from flask.testing import FlaskClient
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import event

from app.api.application import LARGEST_BODY, ROUTES
from app.api.envelope import encode
from app.db.models import metadata
from tests.api.answers import JSON, data_of, envelope_of, error_of
from tests.api.library import DATALESS, ENVELOPED, EXAMPLES, STREAM, WRITES, fill, route_id
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider

Key = tuple[str, str]

WITHOUT_DATABASE = {
    ("GET", "/api/health"),
    ("GET", "/api/queue/status"),
    ("POST", "/api/queue/cancel"),
    ("POST", "/api/config/test"),
}
OVER_DATABASE = [key for key in ENVELOPED if key not in WITHOUT_DATABASE]
BY_ID = [key for key in EXAMPLES if "<id:" in key[1]]
WITH_PARAMETERS = [(route.method, route.rule) for route in ROUTES if route.parameters]
WITH_FIELDS = [(route.method, route.rule) for route in ROUTES if route.body is not None]
WITH_BODY = [key for key in WRITES if EXAMPLES[key].body is not None]

SECRET = "SELECT secret FROM notes"


def send(client: FlaskClient, key: Key, **changed: Any) -> Any:
    """Send the example of a route, with some arguments changed."""
    example = EXAMPLES[key]
    arguments = {"path": example.path, "method": key[0], **example.content, **changed}
    return client.open(**arguments)


def test_every_route_has_an_example() -> None:
    """A new route needs a line in EXAMPLES, and so gets all of these tests."""
    assert sorted((route.method, route.rule) for route in ROUTES) == sorted(EXAMPLES)


@pytest.mark.parametrize("key", ENVELOPED, ids=route_id)
def test_success(request: pytest.FixtureRequest, key: Key) -> None:
    client: FlaskClient = request.getfixturevalue("reader" if key[0] == "GET" else "editor")
    response = send(client, key)
    envelope = envelope_of(response)
    assert response.status_code == EXAMPLES[key].status
    assert ("data" in envelope) is (key not in DATALESS)


def test_texts_are_not_escaped(reader: FlaskClient) -> None:
    assert "数据库连接池耗尽".encode() in reader.get("/api/notes/5").get_data()
    assert "🎉".encode() in reader.get("/api/notes/7").get_data()


@pytest.mark.parametrize("key", BY_ID, ids=route_id)
@pytest.mark.parametrize("written", ["999", "9" * 18])
def test_unknown_id(reader: FlaskClient, key: Key, written: str) -> None:
    path = "/".join(written if part.isdigit() else part for part in EXAMPLES[key].path.split("/"))
    response = send(reader, key, path=path)
    if key[1].endswith("/relations"):
        # As the original has it: no relations of no note, and a bad request to make one.
        assert envelope_of(response).get("data", []) == []
        return
    assert error_of(response, 404) in ("Note not found", "Relation not found")


@pytest.mark.parametrize("key", WITH_PARAMETERS, ids=route_id)
def test_bad_parameter(reader: FlaskClient, key: Key) -> None:
    table = next(route.parameters for route in ROUTES if (route.method, route.rule) == key)
    name = next(parameter.name for parameter in table if not parameter.is_repeatable)
    response = send(reader, key, path=f"{EXAMPLES[key].path.split('?')[0]}?{name}=1&{name}=2")
    assert f'"{name}"' in error_of(response, 400, "invalid_parameter")


@pytest.mark.parametrize("key", WITH_FIELDS, ids=route_id)
def test_unknown_field(reader: FlaskClient, key: Key) -> None:
    response = send(reader, key, data=b'{"nonsense":1}', content_type="application/json")
    assert '"nonsense"' in error_of(response, 400, "invalid_parameter")


@pytest.mark.parametrize("key", WITH_BODY, ids=route_id)
@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", None])
def test_unsupported_media_type(reader: FlaskClient, key: Key, media_type: str | None) -> None:
    response = send(reader, key, content_type=media_type)
    assert "Content-Type" in error_of(response, 415, "unsupported_media_type")


@pytest.mark.parametrize("key", WITH_BODY, ids=route_id)
def test_body_too_large(reader: FlaskClient, key: Key) -> None:
    response = send(reader, key, data=b" " * (LARGEST_BODY + 1))
    assert "16 MB" in error_of(response, 413, "body_too_large")


@pytest.mark.parametrize("key", EXAMPLES, ids=route_id)
def test_foreign_host(reader: FlaskClient, key: Key) -> None:
    error_of(send(reader, key, headers={"Host": "evil.example"}), 403, "foreign_host")


@pytest.mark.parametrize("key", EXAMPLES, ids=route_id)
def test_foreign_origin(reader: FlaskClient, key: Key) -> None:
    error_of(send(reader, key, headers={"Origin": "http://evil.example"}), 403, "foreign_origin")


@pytest.mark.parametrize("key", EXAMPLES, ids=route_id)
@pytest.mark.parametrize("method", ["PUT", "TRACE", "LÄRM"])
def test_other_methods(reader: FlaskClient, key: Key, method: str) -> None:
    response = send(reader, key, method=method)
    assert method in error_of(response, 405, "method_not_allowed")
    assert key[0] in response.headers["Allow"].split(", ")
    assert "OPTIONS" in response.headers["Allow"].split(", ")


@pytest.mark.parametrize(
    "path", ["/web/", "/api", "/api/", "/api/nope", "/api/笔记", "/index.html", "/" + "x" * 9_000]
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_nothing_there(reader: FlaskClient, method: str, path: str) -> None:
    assert error_of(reader.open(path, method=method), 404, "not_found") == "Not Found"


@pytest.mark.parametrize(
    "raw", [b"/api/\xe4\xbd", b"/api/notes/\xff", b"/api/conversations/\xed\xa0\x80"]
)
def test_path_that_is_no_utf8(reader: FlaskClient, raw: bytes) -> None:
    response = reader.get("/", environ_overrides={"PATH_INFO": raw.decode("latin-1")})
    assert "UTF-8" in error_of(response, 400, "bad_request")


@pytest.fixture(scope="module")
def without_tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """A client of an application whose tables were dropped while it ran."""
    with StubProvider() as stub, opened(tmp_path_factory.mktemp("x"), stub_values(stub)) as built:
        fill(built)
        client = built.flask().test_client()
        data_of(client.get("/api/search?q=redis"))
        with built.database.write_schema() as connection:
            metadata.drop_all(connection)
        yield client


@pytest.mark.parametrize("key", OVER_DATABASE, ids=route_id)
def test_dropped_tables(without_tables: FlaskClient, key: Key) -> None:
    sentence = error_of(send(without_tables, key), 503, "database_unavailable")
    assert "restart the server" in sentence


@pytest.mark.parametrize("key", sorted(WITHOUT_DATABASE), ids=route_id)
def test_dropped_tables_elsewhere(without_tables: FlaskClient, key: Key) -> None:
    data_of(send(without_tables, key))


def overwrite(path: Path) -> None:
    path.write_bytes(b"This is no database. " * 4_000)


def take_away(path: Path) -> None:
    for name in path.parent.iterdir():
        name.unlink()
    path.parent.rmdir()


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("harm", "advice"),
    [(overwrite, "restore a backup"), (take_away, "check that its folder exists")],
    ids=["damaged", "folder gone"],
)
@pytest.mark.parametrize("key", [("GET", "/api/notes"), ("POST", "/api/notes")], ids=route_id)
def test_broken_file(stub: StubProvider, tmp_path: Path, harm: Any, advice: str, key: Key) -> None:
    with opened(tmp_path / "data", stub_values(stub)) as built:
        client = built.flask().test_client()
        data_of(send(client, key), EXAMPLES[key].status)
        built.database.close()
        harm(tmp_path / "data" / "crystal.db")
        assert advice in error_of(send(client, key), 503, "database_unavailable")


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """A client of an application whose database driver fails in a way that nobody foresaw."""

    def fail(*_: object) -> None:
        raise RuntimeError(SECRET)

    with StubProvider() as stub, opened(tmp_path_factory.mktemp("x"), stub_values(stub)) as built:
        fill(built)
        event.listen(built.database.engine, "before_cursor_execute", fail)
        yield built.flask().test_client()
        event.remove(built.database.engine, "before_cursor_execute", fail)


@pytest.mark.parametrize("key", OVER_DATABASE, ids=route_id)
def test_unexpected_fault(faulty: FlaskClient, key: Key, caplog: pytest.LogCaptureFixture) -> None:
    response = send(faulty, key)
    assert error_of(response, 500, "internal_error") == "Something went wrong on our side"
    assert "unexpected fault" in caplog.messages


def test_the_stream_is_no_envelope(reader: FlaskClient) -> None:
    with send(reader, STREAM, buffered=False) as response:
        assert response.status_code == 200
        assert response.headers["Content-Type"] != JSON


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


@given(JSON_VALUES)
@example(10**30)
@example({"rows": [2**63, 2**64, -(2**63) - 1]})
def test_every_json_value_is_written_on_one_line_and_read_back(value: Any) -> None:
    written = encode(value)
    assert json.loads(written) == value
    assert b"\n" not in written


def test_keys_keep_their_order_and_nothing_is_escaped() -> None:
    class Pair(NamedTuple):
        left: int
        right: str

    assert encode({"b": "连接池 é", "a": (1, 2)}) == '{"b":"连接池 é","a":[1,2]}'.encode()
    assert encode([Pair(1, "x")]) == b'[[1,"x"]]'
    assert encode([math.nan, -math.inf]) == b"[null,null]"
