"""Typed relations between notes: lists, the graph, making and deleting."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from app.domain.relations import RELATION_TYPES
from app.factory import Application
from tests.api.answers import data_of, error_of, keys_in

KEYS = keys_in(
    "id source_note_id target_note_id relation_type confidence description created_by created_at "
    "source_title target_title"
)


def relate(client: FlaskClient, source: int, target: Any, kind: Any, **more: Any) -> Any:
    body = {"target_note_id": target, "relation_type": kind, **more}
    return client.post(f"/api/notes/{source}/relations", json=body)


def test_list(reader: FlaskClient) -> None:
    """Surest first; among equals those that leave the note, then by id."""
    rows = data_of(reader.get("/api/notes/2/relations"))
    assert all(list(row) == KEYS for row in rows)
    assert [(row["id"], row["confidence"]) for row in rows] == [
        (4, 1.0),
        (2, 0.8),
        (1, 0.8),
        (3, 0.8),
    ]
    assert [row["source_note_id"] for row in rows] == [2, 2, 1, 3]
    assert (rows[0]["source_title"], rows[0]["target_title"]) == (
        "Postgres vacuum tuning",
        "数据库连接池耗尽",
    )


@pytest.mark.parametrize("note_id", [9, 13, 999, 10**17])
def test_list_of_no_relations(reader: FlaskClient, note_id: int) -> None:
    assert data_of(reader.get(f"/api/notes/{note_id}/relations")) == []


@pytest.mark.parametrize("written", ["0", "00"])
def test_list_of_note_zero(reader: FlaskClient, written: str) -> None:
    response = reader.get(f"/api/notes/{written}/relations")
    assert error_of(response, 400) == "Invalid note ID"


def test_relations_without_confidence_come_last(editor: FlaskClient, filled: Application) -> None:
    with filled.database.write() as connection:
        connection.exec_driver_sql("UPDATE note_relations SET confidence = NULL WHERE id = 2")
        connection.exec_driver_sql("UPDATE note_relations SET confidence = 0 WHERE id = 4")
    rows = data_of(editor.get("/api/notes/2/relations"))
    assert [(row["id"], row["confidence"]) for row in rows] == [
        (1, 0.8),
        (3, 0.8),
        (4, 0),
        (2, None),
    ]


def test_a_relation_to_itself_appears_once(editor: FlaskClient, filled: Application) -> None:
    with filled.database.write() as connection:
        connection.exec_driver_sql("UPDATE note_relations SET target_note_id = 2 WHERE id = 4")
    rows = data_of(editor.get("/api/notes/2/relations"))
    assert sorted(row["id"] for row in rows) == [1, 2, 3, 4]


def test_create(editor: FlaskClient) -> None:
    for kind in RELATION_TYPES:
        created = data_of(relate(editor, 9, 10, kind, description="因为"), 201)
        assert list(created) == KEYS
        assert (created["source_note_id"], created["target_note_id"]) == (9, 10)
        assert (created["relation_type"], created["confidence"]) == (kind, 1)
        assert (created["description"], created["created_by"]) == ("因为", "manual")
        assert (created["source_title"], created["target_title"]) == (
            "Docker image slimming",
            "Coverage of 100% is no goal",
        )
        assert data_of(editor.get("/api/notes/10/relations"))[-1] == created
    assert len(data_of(editor.get("/api/notes/9/relations"))) == len(RELATION_TYPES)


def test_create_with_a_confidence(editor: FlaskClient) -> None:
    for confidence in (0, 0.25, 1):
        created = data_of(relate(editor, 9, 10, "EXTENDS", confidence=confidence), 201)
        assert created["confidence"] == confidence
        data_of(editor.delete(f"/api/relations/{created['id']}"))


MISSING = "Missing required fields: target_note_id, relation_type"

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, MISSING),
    "no target": ({"relation_type": "EXTENDS"}, MISSING),
    "no type": ({"target_note_id": 2}, MISSING),
    "nulls": ({"target_note_id": None, "relation_type": None}, MISSING),
    "itself": ({"target_note_id": 1, "relation_type": "EXTENDS"}, "Cannot create relation to self"),
    "unknown type": (
        {"target_note_id": 2, "relation_type": "LIKES"},
        "Invalid relation type: LIKES",
    ),
    "type by case": (
        {"target_note_id": 2, "relation_type": "extends"},
        "Invalid relation type: extends",
    ),
    "empty type": ({"target_note_id": 2, "relation_type": ""}, "Invalid relation type: "),
    "no such note": (
        {"target_note_id": 999, "relation_type": "EXTENDS"},
        "One or both notes not found",
    ),
}


@pytest.mark.parametrize(("body", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refused(reader: FlaskClient, body: dict[str, Any], sentence: str) -> None:
    response = reader.post("/api/notes/1/relations", json=body)
    assert error_of(response, 400, "invalid_relation") == sentence


def test_refused_from_no_note(reader: FlaskClient) -> None:
    response = relate(reader, 999, 1, "EXTENDS")
    assert error_of(response, 400, "invalid_relation") == "One or both notes not found"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("target_note_id", value) for value in ("2", 2.0, 0, -1, True, [2], 2**63)),
        *(("relation_type", value) for value in (1, ["EXTENDS"], True)),
        *(("confidence", value) for value in ("1", -0.1, 1.01, True, [1], 10**400)),
        *(("description", value) for value in (1, ["x"])),
        ("created_by", "llm"),
        ("source_note_id", 1),
    ],
)
def test_wrong_fields(reader: FlaskClient, field: str, value: Any) -> None:
    body = {"target_note_id": 2, "relation_type": "EXTENDS", field: value}
    response = reader.post("/api/notes/1/relations", json=body)
    assert f'"{field}"' in error_of(response, 400, "invalid_parameter")


def test_duplicates(editor: FlaskClient) -> None:
    first = data_of(relate(editor, 9, 10, "EXTENDS"), 201)
    again = relate(editor, 9, 10, "EXTENDS", confidence=0.5)
    assert "already joined" in error_of(again, 409, "duplicate_relation")
    data_of(relate(editor, 10, 9, "EXTENDS"), 201)
    data_of(relate(editor, 9, 10, "CAUSED_BY"), 201)
    data_of(editor.delete(f"/api/relations/{first['id']}"))
    data_of(relate(editor, 9, 10, "EXTENDS"), 201)


def test_delete(editor: FlaskClient) -> None:
    response = editor.delete("/api/relations/1")
    assert response.get_json() == {"success": True}
    again = editor.delete("/api/relations/1")
    assert error_of(again, 404, "relation_not_found") == "Relation not found"
    assert data_of(editor.get("/api/notes/1/relations")) == []


def test_relations_go_with_their_notes(editor: FlaskClient) -> None:
    data_of(editor.delete("/api/notes/2"))
    assert data_of(editor.get("/api/notes/1/relations")) == []
    assert [edge["source"] for edge in data_of(editor.get("/api/relations/graph"))["edges"]] == [5]


def test_graph(reader: FlaskClient) -> None:
    graph = data_of(reader.get("/api/relations/graph"))
    assert list(graph) == ["nodes", "edges"]
    assert [node["id"] for node in graph["nodes"]] == list(range(1, 13))
    assert graph["nodes"][4] == {
        "id": 5,
        "title": "数据库连接池耗尽",
        "project_name": "知识库",
        "tags": ["pool", "数据库"],
    }
    assert graph["edges"] == [
        {"source": 1, "target": 2, "type": "SIMILAR_TO", "confidence": 0.8},
        {"source": 2, "target": 3, "type": "EXTENDS", "confidence": 0.8},
        {"source": 3, "target": 2, "type": "REFERENCES", "confidence": 0.8},
        {"source": 2, "target": 5, "type": "LEADS_TO", "confidence": 1.0},
        {"source": 5, "target": 6, "type": "SIMILAR_TO", "confidence": 0.4},
    ]
    assert [list(edge) for edge in graph["edges"]] == [
        ["source", "target", "type", "confidence"]
    ] * 5


@pytest.mark.parametrize(
    ("project", "nodes", "edges"),
    [
        ("atlas", [1, 2, 3, 4], [(1, 2), (2, 3), (3, 2)]),
        ("知识库", [5, 6, 7], [(5, 6)]),
        ("infra_ops", [8, 9, 10, 11], []),
        ("infraXops", [12], []),
        ("", list(range(1, 13)), [(1, 2), (2, 3), (3, 2), (2, 5), (5, 6)]),
        ("Atlas", [], []),
        ("atla%", [], []),
    ],
)
def test_graph_of_a_project(
    reader: FlaskClient, project: str, nodes: list[int], edges: list[tuple[int, int]]
) -> None:
    """The name is exact, and an edge needs both of its ends among the nodes."""
    graph = data_of(reader.get("/api/relations/graph", query_string={"project": project}))
    assert [node["id"] for node in graph["nodes"]] == nodes
    assert [(edge["source"], edge["target"]) for edge in graph["edges"]] == edges


def test_graph_with_an_unknown_confidence(editor: FlaskClient, filled: Application) -> None:
    with filled.database.write() as connection:
        connection.exec_driver_sql("UPDATE note_relations SET confidence = NULL WHERE id = 1")
    for query in ("", "?project=atlas"):
        edges = data_of(editor.get(f"/api/relations/graph{query}"))["edges"]
        assert edges[0]["confidence"] == 0


def test_graph_of_nothing(client: FlaskClient) -> None:
    assert data_of(client.get("/api/relations/graph")) == {"nodes": [], "edges": []}
