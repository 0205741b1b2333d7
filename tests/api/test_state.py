"""Status, health and readiness."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

import app
from app.factory import Application
from tests.api.answers import data_of, envelope_of, error_of, json_lines
from tests.support import provider as behaviours
from tests.support.provider import StubProvider


def test_status(reader: FlaskClient) -> None:
    status = data_of(reader.get("/api/status"))
    assert list(status)[:5] == ["server", "database", "isSeeded", "stats", "recentNotes"]
    assert (status["server"], status["database"], status["isSeeded"]) == (True, True, False)
    assert list(status["stats"]) == ["totalConversations", "totalNotes", "totalTags"]
    assert status["stats"] == {"totalConversations": 12, "totalNotes": 12, "totalTags": 10}
    assert [note["id"] for note in status["recentNotes"]] == [12, 11, 10, 9, 8]
    keys = ["id", "title", "conversation_id", "project_name", "created_at"]
    assert [list(note) for note in status["recentNotes"]] == [keys] * 5
    assert status["implementation"] == "chatcrystal-search"
    assert status["version"] == app.__version__


def test_status_of_an_empty_library(client: FlaskClient) -> None:
    status = data_of(client.get("/api/status?x=1"))
    assert status["stats"] == {"totalConversations": 0, "totalNotes": 0, "totalTags": 0}
    assert status["recentNotes"] == []
    assert status["isSeeded"] is False


@pytest.mark.parametrize(
    ("ids", "is_seeded"),
    [
        (["demo-1", "demo-2"], True),
        (["demo-"], True),
        (["demo-1", "conv-1"], False),
        (["demo"], False),
        (["Demo-1"], False),
        (["demo_1"], False),
        (["x-demo-1"], False),
    ],
    ids=str,
)
def test_seeded(client: FlaskClient, ids: list[str], is_seeded: bool) -> None:
    lines = [{"type": "conversation", "external_id": each} for each in ids]
    client.post("/api/import", data=json_lines(lines), content_type="application/x-ndjson")
    assert data_of(client.get("/api/status"))["isSeeded"] is is_seeded


def test_seeded_no_longer(client: FlaskClient) -> None:
    lines = [{"type": "conversation", "external_id": "demo-1"}]
    client.post("/api/import", data=json_lines(lines), content_type="application/x-ndjson")
    data_of(client.post("/api/notes", json={"title": "mine"}), 201)
    assert data_of(client.get("/api/status"))["isSeeded"] is False


def test_health(reader: FlaskClient) -> None:
    assert data_of(reader.get("/api/health")) == {"status": "ok"}


def test_ready(reader: FlaskClient) -> None:
    ready = data_of(reader.get("/api/ready"))
    assert ready["ready"] is True
    assert (ready["database"], ready["embedder"], ready["notes_to_embed"]) == ("ok", "ok", 0)
    assert ready["index"]["vectors"] == 13, "one of the 12 notes has a body of one section"


def test_ready_with_work_to_do(editor: FlaskClient, filled: Application) -> None:
    with filled.database.write() as connection:
        connection.exec_driver_sql("UPDATE notes SET embedding_status = 'pending' WHERE id < 4")
    assert data_of(editor.get("/api/ready"))["notes_to_embed"] == 3


def test_ready_before_anything_was_embedded(client: FlaskClient) -> None:
    ready = data_of(client.get("/api/ready"))
    assert ready["index"]["vectors"] == 0


def test_not_ready_without_provider(client: FlaskClient, provider: StubProvider) -> None:
    """Asked anew each time: a vector that is remembered says nothing of the provider."""
    data_of(client.get("/api/ready"))
    provider.behave(behaviours.status(401))
    response = client.get("/api/ready")
    assert "embedding.api_key" in error_of(response, 503, "provider_rejected")
    state = envelope_of(response)["data"]
    assert (state["ready"], state["database"]) == (False, "ok")
    assert "embedding.api_key" in state["embedder"]
    data_of(client.get("/api/health"))
    provider.behave(behaviours.fine)
    data_of(client.get("/api/ready"))


def test_not_ready_without_database(client: FlaskClient, application: Application) -> None:
    with application.database.write_schema() as connection:
        connection.exec_driver_sql("DROP TABLE index_state")
    response = client.get("/api/ready")
    error_of(response, 503, "database_unavailable")
    assert set(envelope_of(response)["data"]) == {"ready", "database", "provider"}
    data_of(client.get("/api/health"))


def test_not_ready_with_another_space(editor: FlaskClient, stub: StubProvider) -> None:
    stub.behave(behaviours.of_dimension(8))
    response = editor.get("/api/ready")
    assert "8 dimensions" in error_of(response, 503, "space_mismatch")
