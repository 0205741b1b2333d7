"""The list of notes: filters, columns, pages, order; and the shape of a note."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from app.factory import Application
from tests.api.answers import data_of, error_of, ids_of, keys_in
from tests.api.library import COMMA_TAG, MEMORY_NOTE, NOTES

ORIGINAL_KEYS = keys_in(
    "id conversation_id title summary key_conclusions code_snippets raw_llm_response is_edited "
    "embedding_status project_key scope source_type source_agent task_kind error_signatures "
    "files_touched outcome_type created_at updated_at project_name project_dir tags"
)

NEWEST_FIRST = [12, 11, 10, 9, 8, 7, 5, 6, 2, 3, 4, 1]


def listed(client: FlaskClient, **query: Any) -> list[int]:
    return ids_of(client.get("/api/notes", query_string=query))


def test_order(reader: FlaskClient) -> None:
    """Newest first, times compared as the texts that they are, equal ones by id."""
    assert listed(reader) == NEWEST_FIRST


FILTERS: dict[str, tuple[dict[str, Any], list[int]]] = {
    "search": ({"search": "postgres"}, [2, 3]),
    "search in summaries": ({"search": "hot"}, [4]),
    "search upper case": ({"search": "POSTGRES"}, [2, 3]),
    "search han": ({"search": "池"}, [5]),
    "search emoji": ({"search": "🎉"}, [7]),
    "search without case of its own": ({"search": "über"}, []),
    "search blank": ({"search": " "}, [12, 11, 10, 9, 8, 7, 2, 3, 4, 1]),
    "search percent": ({"search": "100%"}, [11, 10]),
    "search percent literally": ({"search": "100%", "match": "literal"}, [10]),
    "search underscore": ({"search": "snake_case"}, [11, 10]),
    "search underscore literally": ({"search": "snake_case", "match": "literal"}, [10]),
    "search backslash": ({"search": "\\"}, [11]),
    "search backslash literally": ({"search": "\\ goes", "match": "literal"}, []),
    "search quote": ({"search": "'"}, []),
    "search wildcards": ({"search": "p%g"}, [2, 3]),
    "not in conclusions": ({"search": "cursors"}, []),
    "in conclusions": ({"search": "CURSORS", "in": "conclusions"}, [1]),
    "in tags": ({"search": "retry", "in": "tags"}, [4]),
    "in body": ({"search": "javascript", "in": "body"}, [7]),
    "in title": ({"search": "hot", "in": "title"}, []),
    "in several": ({"search": "pool", "in": "title,tags"}, [5, 1]),
    "in all": (
        {"search": "units", "in": "title,summary,conclusions,tags,body", "match": "literal"},
        [7],
    ),
    "tag": ({"tag": "postgres"}, [2, 3]),
    "tag by case": ({"tag": "Postgres"}, [12]),
    "tag part": ({"tag": "postgre"}, []),
    "tag with a comma": ({"tag": COMMA_TAG}, [4]),
    "tag is no pattern": ({"tag": "%"}, []),
    "tags all hold": ({"tag": ["postgres", "index"]}, [3]),
    "tags never together": ({"tag": ["postgres", "redis"]}, []),
    "tag twice": ({"tag": ["redis", "redis"]}, [1]),
    "tag and empty": ({"tag": ["", "redis"]}, [1]),
    "project": ({"project": "知识库"}, [7, 5, 6]),
    "project is exact": ({"project": "infra_ops"}, [11, 10, 9, 8]),
    "project by case": ({"project": "Atlas"}, []),
    "source": ({"source": "chatcrystal-memory"}, [MEMORY_NOTE]),
    "memory": ({"sourceKind": "memory"}, [MEMORY_NOTE]),
    "conversation": ({"sourceKind": "conversation"}, [n for n in NEWEST_FIRST if n != 8]),
    "path": ({"path": "ops/"}, [10, 9]),
    "path is no pattern": ({"path": "%ops"}, []),
    "all at once": (
        {"tag": "postgres", "project": "atlas", "search": "index", "since": "2026-03-02"},
        [3],
    ),
    "empty ones are absent": (
        {"tag": "", "project": "", "search": "", "source": "", "since": "", "path": ""},
        NEWEST_FIRST,
    ),
}


@pytest.mark.parametrize(("query", "ids"), FILTERS.values(), ids=FILTERS)
def test_filters(reader: FlaskClient, query: dict[str, Any], ids: list[int]) -> None:
    page = data_of(reader.get("/api/notes", query_string=query))
    assert [item["id"] for item in page["items"]] == ids
    assert page["total"] == len(ids)
    one_by_one = [
        listed(reader, **query, limit=1, offset=offset) for offset in range(page["total"] + 1)
    ]
    assert one_by_one == [*([note_id] for note_id in ids), []]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        case
        for name, case in FILTERS.items()
        if not name.startswith(("search", "in ", "not", "all"))
    ],
    ids=[name for name in FILTERS if not name.startswith(("search", "in ", "not", "all"))],
)
def test_searches_take_the_same_filters(
    reader: FlaskClient, query: dict[str, Any], ids: list[int]
) -> None:
    """They choose among the candidates, and so never eat the limit."""
    asked = {"q": "note", "ranker": "vector", **query}
    assert sorted(ids_of(reader.get("/api/search", query_string=asked | {"limit": 50}))) == sorted(
        ids
    )
    for limit in (1, 2):
        found = ids_of(reader.get("/api/search", query_string=asked | {"limit": limit}))
        assert len(found) == min(limit, len(ids))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 12, 100])
def test_pages_hold_every_note_once(reader: FlaskClient, size: int) -> None:
    seen: list[int] = []
    for offset in range(0, 12, size):
        page = data_of(reader.get(f"/api/notes?limit={size}&offset={offset}"))
        assert (page["total"], page["offset"], page["limit"]) == (12, offset, size)
        seen += [item["id"] for item in page["items"]]
    assert seen == NEWEST_FIRST


def test_page_keys(reader: FlaskClient) -> None:
    page = data_of(reader.get("/api/notes?limit=0"))
    assert list(page) == ["items", "total", "offset", "limit"]
    assert page == {"items": [], "total": 12, "offset": 0, "limit": 0}
    assert data_of(reader.get("/api/notes"))["limit"] == 50


def test_note_keys(reader: FlaskClient) -> None:
    one = data_of(reader.get("/api/notes/1"))
    assert [key for key in one if key in ORIGINAL_KEYS] == ORIGINAL_KEYS
    assert list(one)[: len(ORIGINAL_KEYS)] == ORIGINAL_KEYS
    assert "tags_csv" not in one
    of_list = data_of(reader.get("/api/notes?search=redis"))["items"][0]
    assert of_list == {key: value for key, value in one.items() if key != "project_dir"}
    assert list(of_list) == [key for key in one if key != "project_dir"]


@pytest.mark.parametrize("number", range(1, len(NOTES) + 1))
def test_a_note(reader: FlaskClient, number: int) -> None:
    project, moment, title, summary, tags, more = NOTES[number - 1]
    note = data_of(reader.get(f"/api/notes/{number}"))
    assert (note["title"], note["summary"], note["created_at"]) == (title, summary, moment)
    assert note["project"] == note["project_name"] == project
    assert note["project_dir"] == f"/home/dev/{project}"
    assert sorted(note["tags"]) == sorted(tags)
    assert note["is_edited"] is False
    assert note["embedding_status"] == "done"
    assert note["embedding_error"] is None
    assert {name: note[name] for name in more} == more
    assert note["key_conclusions"] == more.get("key_conclusions", [])


def test_tags_come_in_the_order_of_their_ids(client: FlaskClient) -> None:
    data_of(client.post("/api/notes", json={"title": "a", "tags": ["z", "y"]}), 201)
    created = data_of(client.post("/api/notes", json={"title": "b", "tags": ["x", "y", "z"]}), 201)
    assert created["tags"] == ["z", "y", "x"]


def test_list_of_tags(reader: FlaskClient) -> None:
    tags = data_of(reader.get("/api/tags"))
    assert all(list(tag) == ["id", "name", "count"] for tag in tags)
    assert [(tag["name"], tag["count"]) for tag in tags[:2]] == [("pool", 2), ("postgres", 2)]
    assert tags == sorted(tags, key=lambda tag: (-tag["count"], tag["id"]))
    assert COMMA_TAG in [tag["name"] for tag in tags]


def test_unused_tags_count_nothing(editor: FlaskClient) -> None:
    data_of(editor.patch("/api/notes/1", json={"tags": []}))
    counts = {tag["name"]: tag["count"] for tag in data_of(editor.get("/api/tags"))}
    assert (counts["redis"], counts["pool"]) == (0, 1)


@pytest.mark.parametrize("number", [1, 5, 12])
def test_note_of_a_conversation(reader: FlaskClient, number: int) -> None:
    response = reader.get(f"/api/notes/by-conversation/conv-{number}")
    assert data_of(response) == {"id": number}


@pytest.mark.parametrize("name", ["conv-0", "Conv-1", "conv-1 ", "%", "conv-1/x", quote("笔记")])
def test_no_note_of_a_conversation(reader: FlaskClient, name: str) -> None:
    response = reader.get(f"/api/notes/by-conversation/{quote(name)}")
    assert error_of(response, 404, "note_not_found") == "Note not found for this conversation"


def test_a_write_that_changes_nothing_else(editor: FlaskClient) -> None:
    before = data_of(editor.get("/api/notes?limit=100"))["items"]
    data_of(editor.patch("/api/notes/3", json={"title": "Renamed"}))
    after = data_of(editor.get("/api/notes?limit=100"))["items"]
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert [note["id"] for note in changed] == [3]
    assert changed[0]["title"] == "Renamed"
    assert changed[0]["is_edited"] is True
    assert changed[0]["updated_at"] > before[0]["updated_at"]


def test_an_edit_of_a_note_that_was_never_embedded(
    editor: FlaskClient, filled: Application
) -> None:
    with filled.database.write() as connection:
        connection.exec_driver_sql("UPDATE notes SET embedding_status = 'pending' WHERE id = 3")
    edited = data_of(editor.patch("/api/notes/3", json={"task_kind": "x"}))
    assert edited["embedding_status"] == "done"
