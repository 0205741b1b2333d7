"""Imports over HTTP: counts, refusals by line, and running them again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.sync.importing import BATCH
from tests.api.answers import data_of, error_of, ids_of, json_lines
from tests.api.library import records
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider

TYPES = ("conversation", "message", "note", "relation")

CONVERSATION = {"type": "conversation", "external_id": "c"}
NOTE = {"type": "note", "external_id": "n", "conversation": "c", "title": "t"}


def send(client: FlaskClient, body: bytes, media_type: str = "application/x-ndjson") -> Any:
    return data_of(client.post("/api/import", data=body, content_type=media_type))


def counts_of(answer: Any, name: str) -> list[int]:
    return [answer[name][kind] for kind in TYPES]


def test_library(client: FlaskClient) -> None:
    body = json_lines(records())
    first = send(client, body)
    assert counts_of(first, "added") == [12, 3, 12, 5]
    assert counts_of(first, "unchanged") == [0, 0, 0, 0]
    assert first["refused"] == []
    before = client.get("/api/notes?limit=100").get_data()
    again = send(client, body)
    assert counts_of(again, "added") == [0, 0, 0, 0]
    assert counts_of(again, "unchanged") == [12, 3, 12, 5]
    assert again["refused"] == []
    assert client.get("/api/notes?limit=100").get_data() == before


@pytest.mark.parametrize(
    "media_type",
    ["application/x-ndjson", "application/jsonl", "application/json", "application/x-ndjson; x=y"],
)
def test_media_types(client: FlaskClient, media_type: str) -> None:
    assert counts_of(send(client, json_lines([CONVERSATION]), media_type), "added") == [1, 0, 0, 0]


def test_blank_lines_are_ignored_and_counted(client: FlaskClient) -> None:
    lines = [b"", b"  \t", json.dumps(CONVERSATION).encode(), b"", b"nonsense", b"\x0b", b"[]"]
    answer = send(client, b"\r\n".join(lines))
    assert counts_of(answer, "added") == [1, 0, 0, 0]
    assert [refused["line"] for refused in answer["refused"]] == [5, 7]


@pytest.mark.parametrize("body", [b"", b"\n", b" \r\n\n"], ids=["empty", "line end", "blanks"])
def test_nothing(client: FlaskClient, body: bytes) -> None:
    answer = send(client, body)
    assert counts_of(answer, "added") == [0, 0, 0, 0]
    assert answer["refused"] == []


@pytest.mark.parametrize(
    "end", [b"\n", b"\r\n", b""], ids=["line end", "carriage return", "no end"]
)
def test_line_ends(client: FlaskClient, end: bytes) -> None:
    body = json.dumps(CONVERSATION).encode() + (end or b"\n") + json.dumps(NOTE).encode() + end
    assert counts_of(send(client, body), "added") == [1, 0, 1, 0]


def test_a_byte_order_mark(client: FlaskClient) -> None:
    assert counts_of(send(client, b"\xef\xbb\xbf" + json_lines([CONVERSATION])), "added")[0] == 1


def test_line_separators_within_texts(client: FlaskClient) -> None:
    """They end lines for some readers, and are plain characters of JSON."""
    note = NOTE | {"title": "a\u2028b\u2029c\u0085d"}
    body = "\n".join(json.dumps(each, ensure_ascii=False) for each in (CONVERSATION, note))
    assert send(client, body.encode())["refused"] == []
    assert data_of(client.get("/api/notes/1"))["title"] == note["title"]


REFUSED: dict[str, tuple[Any, str]] = {
    "words": (b"nonsense", "must be a JSON object"),
    "half": (b'{"type":"note"', "must be a JSON object"),
    "list": (b"[]", "must be a JSON object"),
    "text": (b'"note"', "must be a JSON object"),
    "null": (b"null", "must be a JSON object"),
    "no utf-8": (b'{"type":"conversation","external_id":"\xff"}', "must be a JSON object"),
    "nan": (
        b'{"type":"conversation","external_id":"x","message_count":NaN}',
        "must be a JSON object",
    ),
    "infinite": (b'{"type":"conversation","external_id":"x","file_size":1e999}', "JSON object"),
    "deep": (b'{"type":' + b"[" * 100_000, "must be a JSON object"),
    "no type": ({"external_id": "x"}, '"type" must be one of'),
    "unknown type": ({"type": "vault"}, '"type" must be one of'),
    "type list": ({"type": ["note"]}, '"type" must be one of'),
    "type object": ({"type": {}}, '"type" must be one of'),
    "type by case": ({"type": "Note"}, '"type" must be one of'),
    "no external id": ({"type": "conversation"}, '"external_id" is missing'),
    "blank external id": (
        {"type": "conversation", "external_id": " "},
        '"external_id" must not be',
    ),
    "external id of nul": ({"type": "conversation", "external_id": "\0"}, '"external_id" must not'),
    "external id number": (
        {"type": "conversation", "external_id": 5},
        '"external_id" must be a text',
    ),
    "count text": (CONVERSATION | {"external_id": "x", "message_count": "5"}, '"message_count"'),
    "count fraction": (
        CONVERSATION | {"external_id": "x", "message_count": 1.5},
        '"message_count"',
    ),
    "count without end": (CONVERSATION | {"external_id": "x", "file_size": 2**64}, '"file_size"'),
    "note without title": (
        {**NOTE, "title": None, "external_id": "x", "conversation": "d"},
        '"title" is missing',
    ),
    "note of no conversation": (
        NOTE | {"external_id": "x", "conversation": "y"},
        "'y' is not known",
    ),
    "second note": (NOTE | {"external_id": "x"}, "has a note already"),
    "tags text": ({**NOTE, "external_id": "x", "conversation": "d", "tags": "a"}, '"tags" must be'),
    "message without content": (
        {"type": "message", "external_id": "m", "conversation": "c"},
        '"content" is missing',
    ),
    "relation to nothing": (
        {"type": "relation", "source": "n", "target": "y", "relation_type": "EXTENDS"},
        "'y' is no known note",
    ),
    "relation of no type": (
        {"type": "relation", "source": "n", "target": "o", "relation_type": "LIKES"},
        '"relation_type" must be one of',
    ),
    "relation too sure": (
        {
            "type": "relation",
            "source": "n",
            "target": "o",
            "relation_type": "EXTENDS",
            "confidence": 10**400,
        },
        '"confidence" must be a number from 0 to 1',
    ),
}


@pytest.fixture(scope="module")
def importing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """A client of an application with what the refused lines refer to."""
    known = [
        CONVERSATION,
        NOTE,
        {"type": "conversation", "external_id": "d"},
        {"type": "conversation", "external_id": "e"},
        NOTE | {"external_id": "o", "conversation": "e"},
    ]
    with StubProvider() as stub, opened(tmp_path_factory.mktemp("x"), stub_values(stub)) as built:
        client = built.flask().test_client()
        assert counts_of(send(client, json_lines(known)), "added") == [3, 0, 2, 0]
        yield client


@pytest.mark.parametrize(("record", "reason"), REFUSED.values(), ids=REFUSED)
def test_refused_lines(
    importing: FlaskClient, request: pytest.FixtureRequest, record: Any, reason: str
) -> None:
    """A bad line is told by its number, and all others are stored."""
    bad = record if isinstance(record, bytes) else json.dumps(record).encode()
    good = {"type": "message", "conversation": "c", "content": ""}
    before, after = (good | {"external_id": f"{request.node.name}{n}"} for n in range(2))
    answer = send(importing, json_lines([before]) + bad + b"\n" + json_lines([after]))
    assert [refused["line"] for refused in answer["refused"]] == [2]
    assert reason in answer["refused"][0]["error"]
    assert counts_of(answer, "added") == [0, 2, 0, 0]


def test_imported_notes_wait_to_be_embedded(client: FlaskClient) -> None:
    send(client, json_lines([CONVERSATION, NOTE]))
    assert data_of(client.get("/api/notes/1"))["embedding_status"] == "pending"
    assert data_of(client.get("/api/search?q=t")) == []
    data_of(client.post("/api/notes/1/embed"))
    assert ids_of(client.get("/api/search?q=t")) == [1]


def test_texts_are_cleaned(client: FlaskClient) -> None:
    note = '{"type":"note","external_id":"n","conversation":"c","title":"a\\u0000\\ud800",'
    note += '"key_conclusions":["\\ud800",{"x":["\\udfff"]},1.5,null]}'
    send(client, json_lines([CONVERSATION]) + note.encode())
    stored = data_of(client.get("/api/notes/1"))
    assert stored["title"] == "a\ufffd"
    assert stored["key_conclusions"] == ["\ufffd", {"x": ["\ufffd"]}, 1.5, None]
    assert data_of(client.post("/api/notes/1/embed"))["chunks"] == 1


def test_no_other_media_type(reader: FlaskClient) -> None:
    response = reader.post("/api/import", data=b"", content_type="text/csv")
    assert "application/x-ndjson" in error_of(response, 415, "unsupported_media_type")


def test_a_refused_note_leaves_nothing(client: FlaskClient) -> None:
    bad = json.dumps(NOTE | {"tags": ["a", 1]})
    answer = send(client, f"{json.dumps(CONVERSATION)}\n{bad}\n{json.dumps(NOTE)}".encode())
    assert counts_of(answer, "added") == [1, 0, 1, 0]
    assert [refused["line"] for refused in answer["refused"]] == [2]
    assert data_of(client.get("/api/notes/1"))["tags"] == []


def test_names_of_records_further_up_are_known(client: FlaskClient) -> None:
    """Also those of a batch before, and tags keep the order in which they came."""
    many = [{"type": "conversation", "external_id": f"c{number}"} for number in range(BATCH)]
    first = NOTE | {"external_id": "a", "conversation": "c0", "tags": ["z", "b"]}
    second = NOTE | {"external_id": "b", "conversation": "c1", "tags": ["b", "a", "z"]}
    link = {"type": "relation", "source": "a", "target": "note:c1", "relation_type": "EXTENDS"}
    lines = [*many, {"type": "tag", "name": "z"}, first, second, first, second, link, link]
    answer = send(client, json_lines(lines))
    assert counts_of(answer, "added") == [BATCH, 0, 2, 1]
    assert counts_of(answer, "unchanged") == [0, 0, 2, 1]
    assert data_of(client.get("/api/notes/2"))["tags"] == ["z", "b", "a"]
