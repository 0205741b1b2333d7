"""Search over HTTP: the shape of its rows, what it takes, and what stands beside the data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.factory import Application
from app.ranking.registry import BY_NAME
from tests.api.answers import data_of, envelope_of, error_of, ids_of, keys_in
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider

KEYS = keys_in("note_id conversation_id title project_name project score tags via_relation")


def test_rows(reader: FlaskClient) -> None:
    rows = data_of(reader.get("/api/search?q=redis+pool"))
    assert [list(row) for row in rows] == [KEYS] * len(rows)
    assert rows[0] == {
        "note_id": 1,
        "conversation_id": "conv-1",
        "title": "Redis pool exhausted",
        "project_name": "atlas",
        "project": "atlas",
        "score": rows[0]["score"],
        "tags": ["redis", "pool"],
        "via_relation": None,
    }
    assert rows[0]["score"] == round(rows[0]["score"], 3) >= 0.82


@pytest.mark.parametrize(
    ("query", "note_id"),
    [("数据库连接池", 5), ("flaky websocket", 8), ("Docker", 9), ("向量检索", 6), ("100%", None)],
)
def test_default_ranker(reader: FlaskClient, query: str, note_id: int | None) -> None:
    found = ids_of(reader.get("/api/search", query_string={"q": query}))
    assert found == ([note_id] if note_id else found)


@pytest.mark.parametrize("ranker", BY_NAME)
@pytest.mark.parametrize("limit", [1, 2, 5, 12])
def test_order_and_limit(reader: FlaskClient, ranker: str, limit: int) -> None:
    query = {"q": "postgres", "ranker": ranker, "limit": limit}
    rows = data_of(reader.get("/api/search", query_string=query))
    assert len(rows) <= limit
    scores = [row["score"] for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert len({row["note_id"] for row in rows}) == len(rows)


@pytest.mark.parametrize("ranker", BY_NAME)
def test_equal_requests_have_equal_answers(reader: FlaskClient, ranker: str) -> None:
    path = f"/api/search?q=postgres+%E6%B1%A0&ranker={ranker}&expand=true"
    assert len({reader.get(path).get_data() for _ in range(3)}) == 1


@pytest.mark.parametrize(
    ("written", "keys"),
    [
        ("summary", ["summary"]),
        ("path,external_id", ["path", "external_id"]),
        ("created_at,summary,created_at", ["created_at", "summary"]),
        ("", []),
    ],
)
def test_fields(reader: FlaskClient, written: str, keys: list[str]) -> None:
    rows = data_of(reader.get(f"/api/search?q=docker&fields={written}"))
    assert list(rows[0]) == KEYS + keys
    values: dict[str, Any] = {
        "summary": "Multi-stage builds.",
        "path": "ops/docker.md",
        "external_id": "note-9",
        "created_at": "2026-03-06 08:00:00",
    }
    assert {key: rows[0][key] for key in keys} == {key: values[key] for key in keys}


def test_expand(reader: FlaskClient) -> None:
    """Linked notes come on top of the limit; relations below 0.5 lead nowhere."""
    rows = data_of(reader.get("/api/search?q=vacuum+tuning&limit=1&expand=true"))
    assert [(row["note_id"], row["via_relation"]) for row in rows] == [
        (2, None),
        (5, "LEADS_TO"),
        (3, "EXTENDS"),
        (1, "SIMILAR_TO"),
    ]
    direct = rows[0]["score"]
    assert rows[1]["score"] == pytest.approx(direct * 0.7, abs=0.001)
    assert rows[3]["score"] == pytest.approx(direct * 0.7 * 0.8, abs=0.001)
    plain = data_of(reader.get("/api/search?q=vacuum+tuning&limit=1"))
    assert plain == rows[:1]


def test_cut(reader: FlaskClient) -> None:
    assert ids_of(reader.get("/api/search?q=docker")) == [9]
    without = ids_of(reader.get("/api/search?q=docker&cut=off"))
    assert without[0] == 9
    assert len(without) == 10
    assert (
        reader.get("/api/search?q=docker&cut=on").get_data()
        == reader.get("/api/search?q=docker").get_data()
    )


def test_explain(reader: FlaskClient) -> None:
    envelope = envelope_of(reader.get("/api/search?q=docker&explain=true"))
    assert envelope["data"] == data_of(reader.get("/api/search?q=docker"))
    explain = envelope["explain"]
    assert explain["ranker"] == "chatcrystal"
    assert explain["searched_chunks"] == 13, "one of the 12 notes has a body of one section"
    assert "docker" in explain["terms"]
    assert "explain" not in envelope_of(reader.get("/api/search?q=docker"))


def test_nothing_is_embedded_for_nothing(editor: FlaskClient, stub: StubProvider) -> None:
    before = len(stub.requests)
    assert data_of(editor.get("/api/search?q=something&limit=0")) == []
    assert len(stub.requests) == before


def test_the_query_is_embedded_as_it_came(editor: FlaskClient, stub: StubProvider) -> None:
    data_of(editor.get("/api/search?q=%20Redis%0A%20"))
    assert stub.requests[-1].texts == [" Redis\n "]


def test_a_query_is_embedded_once(editor: FlaskClient, stub: StubProvider) -> None:
    data_of(editor.get("/api/search?q=once"))
    before = len(stub.requests)
    data_of(editor.get("/api/search?q=once&ranker=vector"))
    data_of(editor.get("/api/search/why?q=once&note_id=1"))
    assert len(stub.requests) == before


@pytest.mark.parametrize("ranker", BY_NAME)
def test_search_of_an_empty_library(client: FlaskClient, ranker: str) -> None:
    assert data_of(client.get(f"/api/search?q=x&expand=true&ranker={ranker}")) == []
    error_of(client.get(f"/api/search/why?q=x&note_id=1&ranker={ranker}"), 404, "note_not_found")


def test_the_default_ranker_is_a_setting(stub: StubProvider, tmp_path: Path) -> None:
    with opened(tmp_path, stub_values(stub) | {"search.ranker": "vector"}) as built:
        client = built.flask().test_client()
        for title in ("docker", "redis"):
            data_of(client.post("/api/notes", json={"title": title}), 201)
        assert ids_of(client.get("/api/search?q=docker")) == [1, 2]
        assert ids_of(client.get("/api/search?q=docker&ranker=")) == [1, 2]
        assert ids_of(client.get("/api/search?q=docker&ranker=chatcrystal")) == [1]


def test_why_of_a_note_that_is_found(reader: FlaskClient) -> None:
    answer = data_of(reader.get("/api/search/why?q=docker&note_id=9"))
    assert (answer["note_id"], answer["returned"], answer["place"]) == (9, True, 1)
    assert answer["score"] == data_of(reader.get("/api/search?q=docker"))[0]["score"]
    assert answer["message"].strip()


WHY: dict[str, tuple[str, int, str]] = {
    "below the border": ("q=docker", 1, "docker"),
    "beyond the limit": ("q=postgres&limit=1&ranker=vector", 12, ""),
    "left out by a filter": ("q=docker&project=atlas", 9, "filter"),
}


@pytest.mark.parametrize(("query", "note_id", "word"), WHY.values(), ids=WHY)
def test_why_of_a_note_that_is_missing(
    reader: FlaskClient, query: str, note_id: int, word: str
) -> None:
    assert note_id not in ids_of(reader.get(f"/api/search?{query}"))
    answer = data_of(reader.get(f"/api/search/why?{query}&note_id={note_id}"))
    assert (answer["returned"], answer["place"], answer["score"]) == (False, None, None)
    assert word in answer["message"]
    assert answer["stage"] and answer["rule"]


def test_why_of_a_note_that_is_not_embedded(editor: FlaskClient, filled: Application) -> None:
    with filled.database.write() as connection:
        connection.exec_driver_sql("UPDATE notes SET embedding_status = 'pending' WHERE id = 9")
    assert ids_of(editor.get("/api/search?q=docker")) == []
    answer = data_of(editor.get("/api/search/why?q=docker&note_id=9"))
    assert answer["returned"] is False
    assert "status pending" in answer["message"]


def test_why_of_a_note_that_a_relation_brought(reader: FlaskClient) -> None:
    query = "q=vacuum+tuning&limit=1&expand=true"
    answer = data_of(reader.get(f"/api/search/why?{query}&note_id=5"))
    assert (answer["returned"], answer["place"], answer["via_relation"]) == (True, 2, "LEADS_TO")


def test_long_queries_say_that_they_were_split(stub: StubProvider, tmp_path: Path) -> None:
    with opened(tmp_path, stub_values(stub, max_chars="100")) as built:
        client = built.flask().test_client()
        data_of(client.post("/api/notes", json={"title": "redis"}), 201)
        envelope = envelope_of(client.get("/api/search?ranker=vector&q=" + "redis+" * 40))
    assert [row["note_id"] for row in envelope["data"]] == [1]
    assert "240 characters" in envelope["warnings"][0]
