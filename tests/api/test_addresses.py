"""Methods that every address has, and spellings that are no address."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from app.api.application import ROUTES
from tests.api.answers import error_of, ids_of, json_lines
from tests.api.library import EXAMPLES, READS, SCAN_STREAM, STREAM, route_id

Key = tuple[str, str]

PATHS = sorted({example.path.split("?")[0] for example in EXAMPLES.values()})

# What differs between two answers to one request.
OF_ONE_REQUEST = {"X-Request-Id", "Content-Length"}


@pytest.mark.parametrize("key", READS, ids=route_id)
def test_head_is_get_without_the_body(reader: FlaskClient, key: Key) -> None:
    path = EXAMPLES[key].path.replace("&explain=true", "")
    with reader.get(path, buffered=False) as got, reader.head(path) as asked:
        assert asked.status_code == got.status_code == 200
        assert asked.get_data() == b""
        names = [name for name, _ in got.headers]
        assert [name for name, _ in asked.headers] == names
        for name in set(names) - OF_ONE_REQUEST:
            assert asked.headers[name] == got.headers[name]
        if key not in (STREAM, SCAN_STREAM, ("GET", "/api/search/why"), ("GET", "/api/metrics")):
            assert asked.headers["Content-Length"] == got.headers["Content-Length"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/search?q=", 400),
        ("/api/notes?limit=x", 400),
        ("/api/notes/999", 404),
        ("/api/nope", 404),
        ("/api/queue/cancel", 405),
    ],
)
def test_head_of_an_error(reader: FlaskClient, path: str, status: int) -> None:
    asked, got = reader.head(path), reader.open(path, method="GET")
    assert asked.status_code == got.status_code == status
    assert asked.get_data() == b""
    assert asked.headers["Content-Type"] == got.headers["Content-Type"]


@pytest.mark.parametrize("path", PATHS)
def test_options(reader: FlaskClient, path: str) -> None:
    response = reader.options(path)
    assert response.status_code == 204
    assert response.get_data() == b""
    assert "Content-Type" not in response.headers
    methods = {key[0] for key, example in EXAMPLES.items() if example.path.split("?")[0] == path}
    assert methods <= set(response.headers["Allow"].split(", "))


def test_options_of_no_address(reader: FlaskClient) -> None:
    response = reader.options("/api/nope")
    assert response.status_code == 204
    assert "Allow" not in response.headers


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("spelt", ["slash", "doubled", "upper", "upper-api"])
def test_other_spellings_are_not_found(reader: FlaskClient, path: str, spelt: str) -> None:
    other = {
        "slash": f"{path}/",
        "doubled": path.replace("/api/", "/api//"),
        "upper": path[:5] + path[5:].upper(),
        "upper-api": path.replace("/api/", "/API/"),
    }[spelt]
    error_of(reader.get(other), 404)


def test_doubled_slash_at_the_start(reader: FlaskClient) -> None:
    """Servers fold it into one, and tell the original address beside."""
    folded = {"PATH_INFO": "/api/notes", "REQUEST_URI": "//api/notes"}
    error_of(reader.get("/", environ_overrides=folded), 404, "not_found")
    kept = {"PATH_INFO": "//api/notes", "REQUEST_URI": "//api/notes"}
    error_of(reader.get("/", environ_overrides=kept), 404, "not_found")


NO_IDS = {
    "letters": "abc",
    "fraction": "1.0",
    "exponent": "1e0",
    "hexadecimal": "0x1",
    "plus": "+1",
    "minus": "-1",
    "blank": "%201",
    "line end": "1%0A",
    "nul": "1%00",
    "separator": "1_0",
    "full-width": "%EF%BC%91",
    "arabic": "%D9%A1",
    "superscript": "%C2%B9",
    "19 digits": "1" + "0" * 18,
    "beyond 64 bits": str(2**63),
    "30 digits": "9" * 30,
    "5,000 digits": "9" * 5_000,
    "nothing": "",
}


@pytest.mark.parametrize("written", NO_IDS.values(), ids=NO_IDS)
@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_note_ids_are_digits(reader: FlaskClient, method: str, written: str) -> None:
    error_of(reader.open(f"/api/notes/{written}", method=method), 404, "not_found")


@pytest.mark.parametrize("written", NO_IDS.values(), ids=NO_IDS)
@pytest.mark.parametrize("rule", ["notes/{}/relations", "notes/{}/embed", "relations/{}"])
def test_ids_elsewhere_are_digits(reader: FlaskClient, rule: str, written: str) -> None:
    method = "POST" if rule.startswith("notes") else "DELETE"
    error_of(reader.open(f"/api/{rule.format(written)}", method=method), 404, "not_found")


@pytest.mark.parametrize("written", ["0", "13", str(2**53 + 1), "9" * 18])
def test_ids_of_no_note(reader: FlaskClient, written: str) -> None:
    sentence = error_of(reader.get(f"/api/notes/{written}"), 404, "note_not_found")
    assert sentence == "Note not found"


@pytest.mark.parametrize(
    "conversation_id",
    ["plain", "with blank", "a/b", "/home/dev/log.jsonl", "é?x&y=1", "100%", "笔记", "a//b/"],
)
def test_any_text_is_an_id_of_a_conversation(client: FlaskClient, conversation_id: str) -> None:
    lines = [
        {"type": "conversation", "external_id": conversation_id},
        {"type": "note", "external_id": "n", "conversation": conversation_id, "title": "t"},
    ]
    client.post("/api/import", data=json_lines(lines), content_type="application/x-ndjson")
    written = quote(conversation_id, safe="")
    found = client.get(f"/api/conversations/{written}")
    assert found.get_json()["data"]["id"] == conversation_id
    assert client.get(f"/api/notes/by-conversation/{written}").get_json()["data"] == {"id": 1}
    assert client.delete(f"/api/conversations/{written}").status_code == 200
    assert ids_of(client.get("/api/notes")) == []


@pytest.mark.parametrize(
    "written", ["CONV-1", "conv-1%00", "conv-1/", "conv-99", "%FF", "conv%201"]
)
def test_ids_of_no_conversation(reader: FlaskClient, written: str) -> None:
    for rule in ("conversations", "notes/by-conversation"):
        response = reader.get(f"/api/{rule}/{written}")
        assert response.status_code == 404
        error_of(response, 404)


def test_rules_are_spelt_alike() -> None:
    rules = [route.rule for route in ROUTES]
    assert all(rule.startswith("/api/") and not rule.endswith("/") for rule in rules)
    assert all(rule == rule.lower() for rule in rules)
