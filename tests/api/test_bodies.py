"""What bodies may look like, and what becomes of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.api.application import LARGEST_BODY
from app.factory import Application
from tests.api.answers import data_of, error_of
from tests.support.databases import DATABASES

JSON = "application/json"

NOT_JSON: dict[str, bytes] = {
    "empty": b"",
    "words": b"hello",
    "half": b'{"title":',
    "two": b'{"title":"a"}{"title":"b"}',
    "single quotes": b"{'title':'a'}",
    "trailing comma": b'{"title":"a",}',
    "no utf-8": b'{"title":"\xff"}',
    "nan": b'{"title":"a","x":NaN}',
    "infinity": b'{"title":"a","x":[Infinity]}',
    "minus infinity": b'{"title":"a","x":-Infinity}',
    "beyond float": b'{"title":"a","x":1e999}',
    "digits without end": b'{"title":"a","x":' + b"9" * 5_000 + b"}",
    "deep list": b'{"title":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep object": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "control character": b'{"title":"a\x01"}',
    "form": b"title=a",
}
NO_OBJECTS: dict[str, bytes] = {
    "list": b'[{"title":"a"}]',
    "text": b'"title"',
    "number": b"1",
    "null": b"null",
    "true": b"true",
}


@pytest.mark.parametrize("body", NOT_JSON.values(), ids=NOT_JSON)
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_not_json(reader: FlaskClient, method: str, body: bytes) -> None:
    path = "/api/notes" if method == "POST" else "/api/notes/1"
    response = reader.open(path, method=method, data=body, content_type=JSON)
    assert error_of(response, 400, "invalid_body") == "The body is not valid JSON"


@pytest.mark.parametrize("body", NO_OBJECTS.values(), ids=NO_OBJECTS)
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_no_object(reader: FlaskClient, method: str, body: bytes) -> None:
    path = "/api/notes" if method == "POST" else "/api/notes/1"
    response = reader.open(path, method=method, data=body, content_type=JSON)
    assert error_of(response, 400, "invalid_body") == "The body must be a JSON object"


@pytest.mark.parametrize("media_type", ["application/json;charset=utf-8", "APPLICATION/JSON"])
def test_media_type_with_more(client: FlaskClient, media_type: str) -> None:
    body = '{"title":"笔记"}'.encode()
    created = data_of(client.post("/api/notes", data=body, content_type=media_type), 201)
    assert created["title"] == "笔记"


def test_a_body_that_breaks_off(reader: FlaskClient) -> None:
    announced = {"CONTENT_LENGTH": "1000"}
    response = reader.post(
        "/api/notes", data=b'{"title":', content_type=JSON, environ_overrides=announced
    )
    assert error_of(response, 400, "bad_request") == "The request cannot be read"


WRONG: dict[str, tuple[Any, str]] = {
    "missing title": ({}, '"title" is required'),
    "null title": ({"title": None}, '"title" is required'),
    "empty title": ({"title": ""}, '"title" must not be blank'),
    "blank title": ({"title": " \t\u3000\ufeff"}, '"title" must not be blank'),
    "title of nul": ({"title": "\x00"}, '"title" must not be blank'),
    "title number": ({"title": 1}, '"title" must be a text'),
    "title list": ({"title": ["a"]}, '"title" must be a text'),
    "summary object": ({"title": "a", "summary": {}}, '"summary" must be a text'),
    "body true": ({"title": "a", "body": True}, '"body" must be a text'),
    "project number": ({"title": "a", "project": 0.5}, '"project" must be a text'),
    "conclusions text": (
        {"title": "a", "key_conclusions": "b"},
        '"key_conclusions" must be a list',
    ),
    "conclusions mixed": ({"title": "a", "key_conclusions": ["b", 1]}, '"key_conclusions" must be'),
    "conclusions nested": ({"title": "a", "key_conclusions": [["b"]]}, '"key_conclusions" must be'),
    "tags text": ({"title": "a", "tags": "b,c"}, '"tags" must be a list of texts'),
    "tags object": ({"title": "a", "tags": {"b": 1}}, '"tags" must be a list of texts'),
    "blank tag": ({"title": "a", "tags": ["b", " "]}, '"tags" must not hold a blank name'),
    "bom tag": ({"title": "a", "tags": ["\ufeff"]}, '"tags" must not hold a blank name'),
    "aliases null": ({"title": "a", "aliases": [None]}, '"aliases" must be a list of texts'),
    "snippets text": ({"title": "a", "code_snippets": "x"}, '"code_snippets" must be a list of'),
    "snippets texts": ({"title": "a", "code_snippets": ["x"]}, '"code_snippets" must be a list of'),
    "snippet number": ({"title": "a", "code_snippets": [{"code": 1}]}, '"code_snippets" must be'),
    "snippet more": ({"title": "a", "code_snippets": [{"lines": ""}]}, '"code_snippets" must be'),
    "unknown": ({"title": "a", "Title": "b"}, '"Title" is not known; use '),
    "id": ({"title": "a", "id": 5}, '"id" is not known; use '),
    "unknown null": ({"title": "a", "nonsense": None}, '"nonsense" is not known; use '),
    "unknown surrogate": ({"title": "a", "\ud800": 1}, '"\ufffd" is not known; use '),
    "blank conversation": ({"title": "a", "conversation_id": " "}, '"conversation_id" must not'),
}


@pytest.mark.parametrize(("body", "problem"), WRONG.values(), ids=WRONG)
def test_wrong_fields(reader: FlaskClient, body: Any, problem: str) -> None:
    response = reader.post("/api/notes", data=json.dumps(body), content_type=JSON)
    assert problem in error_of(response, 400, "invalid_parameter")
    assert data_of(reader.get("/api/notes?limit=0"))["total"] == 12


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({}, "names no field"),
        ({"summary": None}, "names no field"),
        ({"title": " "}, '"title" must not be blank'),
        ({"conversation_id": "conv-2"}, '"conversation_id" is not known'),
        ({"source_agent": "x"}, '"source_agent" is not known'),
    ],
    ids=["nothing", "null", "blank title", "conversation", "agent"],
)
def test_wrong_edits(reader: FlaskClient, body: Any, problem: str) -> None:
    before = reader.get("/api/notes/1").get_data()
    assert problem in error_of(reader.patch("/api/notes/1", json=body), 400)
    assert reader.get("/api/notes/1").get_data() == before


def test_edit_of_no_note(reader: FlaskClient) -> None:
    response = reader.patch("/api/notes/999", json={"title": "a"})
    assert error_of(response, 404, "note_not_found") == "Note not found"


def test_every_field_is_kept(client: FlaskClient) -> None:
    body = {
        "title": "标题 🎉",
        "summary": "first\r\nsecond",
        "body": "# Head\n\n- item",
        "key_conclusions": ["a", "a", ""],
        "code_snippets": [{"code": "x = 1", "language": "py"}, {"description": "说明"}],
        "tags": ["b", "a"],
        "aliases": ["other"],
        "project": "atlas",
        "task_kind": "debug",
        "outcome_type": "fixed",
        "error_signatures": ["E1"],
        "files_touched": ["a.py"],
        "source_agent": "someone",
        "source_type": "agent-writeback",
        "raw_llm_response": '{"root_cause":"x"}',
    }
    created = data_of(client.post("/api/notes", json=body), 201)
    snippets = [
        {"language": "py", "code": "x = 1", "description": ""},
        {"language": "", "code": "", "description": "说明"},
    ]
    assert {name: created[name] for name in body} == {**body, "code_snippets": snippets}
    assert created["conversation_id"].startswith("note:")
    assert created["project_name"] == "atlas"
    assert created["embedding_status"] == "done"
    assert not created["is_edited"]
    assert data_of(client.get("/api/notes/1")) == created


def test_null_counts_as_absent(client: FlaskClient) -> None:
    body = {"title": "a", "summary": None, "tags": None, "project": None, "code_snippets": None}
    created = data_of(client.post("/api/notes", json=body), 201)
    assert (created["summary"], created["tags"], created["project"]) == ("", [], "")
    edited = data_of(client.patch("/api/notes/1", json={"title": "b", "summary": None}))
    assert (edited["title"], edited["summary"], edited["is_edited"]) == ("b", "", True)


def test_tags(client: FlaskClient) -> None:
    names = ["retry, backoff", "x", "x", " x ", "X", "数据库", "a/b"]
    created = data_of(client.post("/api/notes", json={"title": "a", "tags": names}), 201)
    assert created["tags"] == ["retry, backoff", "x", "X", "数据库", "a/b"]
    edited = data_of(client.patch("/api/notes/1", json={"tags": ["new", "x"]}))
    assert edited["tags"] == ["x", "new"]
    assert data_of(client.patch("/api/notes/1", json={"tags": []}))["tags"] == []


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("a\\u0000b", "ab"), ("a\\ud800b", "a\ufffdb"), ("\\udf89\\ud83c", "\ufffd\ufffd")],
    ids=["nul", "surrogate", "two surrogates"],
)
def test_texts_are_cleaned(client: FlaskClient, sent: str, kept: str) -> None:
    body = (
        f'{{"title":"{sent}!","summary":"{sent}","key_conclusions":["{sent}"],"tags":["{sent}"],'
        f'"code_snippets":[{{"code":"{sent}"}}],"aliases":["{sent}"],"body":"{sent}"}}'
    )
    created = data_of(client.post("/api/notes", data=body, content_type=JSON), 201)
    assert created["title"] == f"{kept}!"
    assert created["key_conclusions"] == created["tags"] == created["aliases"] == [kept]
    assert created["code_snippets"][0]["code"] == created["summary"] == created["body"] == kept
    edit = f'{{"summary":"{sent},{sent}"}}'
    edited = data_of(client.patch("/api/notes/1", data=edit, content_type=JSON))
    assert edited["summary"] == f"{kept},{kept}"
    assert edited["embedding_status"] == "done"


def test_surrogate_pairs_are_one_character(client: FlaskClient) -> None:
    response = client.post("/api/notes", data='{"title":"\\ud83c\\udf89"}', content_type=JSON)
    assert data_of(response, 201)["title"] == "🎉"


def test_the_last_of_equal_names_counts(client: FlaskClient) -> None:
    response = client.post("/api/notes", data='{"title":"a","title":"b"}', content_type=JSON)
    assert data_of(response, 201)["title"] == "b"


def test_largest_body(client: FlaskClient) -> None:
    head = b'{"title":"a","aliases":["'
    tail = b'"]}'
    body = head + b"x" * (LARGEST_BODY - len(head) - len(tail)) + tail
    assert len(body) == LARGEST_BODY
    created = data_of(client.post("/api/notes", data=body, content_type=JSON), 201)
    assert len(created["aliases"][0]) == LARGEST_BODY - len(head) - len(tail)
    response = client.post("/api/notes", data=body + b" ", content_type=JSON)
    error_of(response, 413, "body_too_large")


def test_a_conversation_has_one_note(editor: FlaskClient) -> None:
    body = {"title": "a", "conversation_id": "conv-1"}
    assert "has a note already" in error_of(editor.post("/api/notes", json=body), 409)
    body["conversation_id"] = "gone"
    response = editor.post("/api/notes", json=body)
    assert error_of(response, 404, "conversation_not_found") == "Conversation not found"
    data_of(editor.delete("/api/notes/1"))
    body["conversation_id"] = "conv-1"
    created = data_of(editor.post("/api/notes", json=body), 201)
    assert (created["conversation_id"], created["project"]) == ("conv-1", "atlas")


def test_a_note_of_its_own_takes_its_conversation_along(
    client: FlaskClient, application: Application
) -> None:
    data_of(client.post("/api/notes", json={"title": "a"}), 201)
    assert data_of(client.get("/api/status"))["stats"]["totalConversations"] == 1
    data_of(client.delete("/api/notes/1"))
    assert data_of(client.get("/api/status"))["stats"]["totalConversations"] == 0


def test_a_note_of_a_conversation_leaves_it(editor: FlaskClient) -> None:
    data_of(editor.delete("/api/notes/1"))
    error_of(editor.get("/api/notes/1"), 404)
    assert data_of(editor.get("/api/conversations/conv-1"))["message_count"] == 0
    error_of(editor.delete("/api/notes/1"), 404, "note_not_found")


def test_edits_embed_again_only_what_changed(editor: FlaskClient, stub: Any) -> None:
    before = len(stub.requests)
    data_of(editor.patch("/api/notes/1", json={"project": "other", "task_kind": "x"}))
    assert len(stub.requests) == before
    assert data_of(editor.get("/api/conversations/conv-1"))["project_name"] == "other"
    data_of(editor.patch("/api/notes/1", json={"summary": "Something else entirely."}))
    assert len(stub.requests) == before + 1


@pytest.mark.parametrize("field", ["tags", "project", "path"])
def test_a_name_beyond_what_the_database_looks_up(client: FlaskClient, field: str) -> None:
    """SQLite takes names of any length, PostgreSQL says that one is too long."""
    name = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(20_000))
    body = {"title": "t", field: [name] if field == "tags" else name}
    answer = client.post("/api/notes", json=body)
    if DATABASES.is_postgresql:
        assert "2,700 bytes" in error_of(answer, 400, "invalid_body")
        assert data_of(client.get("/api/status"))["stats"]["totalNotes"] == 0
    else:
        assert data_of(client.get("/api/notes/1"))["title"] == "t"


def test_a_long_title_is_found_by_links(client: FlaskClient) -> None:
    title = "长标题 " * 200
    data_of(client.post("/api/notes", json={"title": title}), 201)
    data_of(client.post("/api/notes", json={"title": "from", "body": f"[[{title}]]"}), 201)
    assert data_of(client.get("/api/notes/1/backlinks"))["total"] == 1
