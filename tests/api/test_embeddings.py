"""Embedding work over HTTP: one note, all that are left, the queue."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text

from app.factory import Application
from app.sync.batches import GROUP
from app.sync.queue import Progress
from tests.api.answers import data_of, error_of, json_lines
from tests.api.library import import_library
from tests.support import provider as behaviours
from tests.support.provider import StubProvider

TASK_KEYS = ["id", "title", "status", "addedAt", "startedAt", "finishedAt", "error"]


def wait_until(application: Application, holds: Callable[[Progress], bool]) -> Progress:
    """Follow the queue until something holds of it."""
    progress = application.queue.progress()
    while not holds(progress):
        later = application.queue.wait(progress.version, 30)
        assert later.version > progress.version, "the queue stands still"
        progress = later
    return progress


def is_idle(progress: Progress) -> bool:
    return progress.count("queued", "running") == 0


def test_embed_one(editor: FlaskClient) -> None:
    assert data_of(editor.post("/api/notes/5/embed")) == {"noteId": 5, "chunks": 1}
    assert data_of(editor.get("/api/notes/5"))["embedding_status"] == "done"


def test_embed_one_that_was_never_embedded(client: FlaskClient) -> None:
    import_library(client)
    assert data_of(client.get("/api/search?q=redis+pool")) == []
    assert data_of(client.post("/api/notes/1/embed")) == {"noteId": 1, "chunks": 1}
    assert [note["note_id"] for note in data_of(client.get("/api/search?q=redis+pool"))] == [1]


def test_embed_a_long_one(editor: FlaskClient) -> None:
    paragraphs = "\n\n".join(f"Paragraph {number}. " + "word " * 60 for number in range(5))
    data_of(editor.patch("/api/notes/5", json={"summary": paragraphs}))
    chunks = data_of(editor.post("/api/notes/5/embed"))["chunks"]
    assert chunks > 3


@pytest.mark.parametrize("note_id", [0, 13, 10**17])
def test_embed_no_note(reader: FlaskClient, note_id: int) -> None:
    response = reader.post(f"/api/notes/{note_id}/embed")
    assert error_of(response, 404, "note_not_found") == "Note not found"


def test_batch(client: FlaskClient, application: Application) -> None:
    import_library(client)
    answer = data_of(client.post("/api/embeddings/batch"))
    assert answer["queued"] == 12
    assert list(answer["queue"]) == ["total", "completed", "failed", "active", "tasks"]
    assert [list(task) for task in answer["queue"]["tasks"]] == [TASK_KEYS] * 12
    assert [task["id"] for task in answer["queue"]["tasks"]] == [str(n) for n in range(1, 13)]
    wait_until(application, is_idle)
    status = data_of(client.get("/api/queue/status"))
    assert {name: status[name] for name in ("total", "completed", "failed", "active")} == {
        "total": 12,
        "completed": 12,
        "failed": 0,
        "active": 0,
    }
    assert {task["status"] for task in status["tasks"]} == {"completed"}
    assert status["tasks"][0]["title"] == "Redis pool exhausted"
    assert all(
        task["addedAt"] <= task["startedAt"] <= task["finishedAt"] for task in status["tasks"]
    )
    assert data_of(client.get("/api/status"))["embedding"]["notes"] == {"done": 12}
    assert data_of(client.post("/api/embeddings/batch")) == {"queued": 0}


def test_batch_of_an_empty_library(client: FlaskClient) -> None:
    assert data_of(client.post("/api/embeddings/batch")) == {"queued": 0}
    empty = {"total": 0, "completed": 0, "failed": 0, "active": 0, "tasks": []}
    assert data_of(client.get("/api/queue/status")) == empty


def test_batch_takes_every_note_that_is_left(editor: FlaskClient, filled: Application) -> None:
    with filled.database.write() as connection:
        for note_id, status in enumerate(("pending", "failed", "syncing"), start=3):
            statement = text("UPDATE notes SET embedding_status = :status WHERE id = :id")
            connection.execute(statement, {"status": status, "id": note_id})
    assert data_of(editor.post("/api/embeddings/batch"))["queued"] == 3
    wait_until(filled, is_idle)
    assert data_of(editor.get("/api/status"))["embedding"]["notes"] == {"done": 12}


def held(release: Event) -> behaviours.Behaviour:
    """A provider's right answer, once it is released."""

    def answer(asked: behaviours.Asked, vector: behaviours.VectorFunction) -> behaviours.Reply:
        assert release.wait(30)
        return behaviours.fine(asked, vector)

    return answer


def test_cancel_drops_what_waits(
    client: FlaskClient, application: Application, provider: StubProvider
) -> None:
    lines = [
        line
        for number in range(GROUP + 8)
        for line in (
            {"type": "conversation", "external_id": f"c{number}"},
            {
                "type": "note",
                "external_id": f"n{number}",
                "conversation": f"c{number}",
                "title": "t",
            },
        )
    ]
    client.post("/api/import", data=json_lines(lines), content_type="application/x-ndjson")
    release = Event()
    provider.behave(held(release))
    assert data_of(client.post("/api/embeddings/batch"))["queued"] == GROUP + 8
    wait_until(application, lambda progress: progress.count("running") == GROUP)
    assert data_of(client.post("/api/embeddings/batch"))["queued"] == 0
    assert data_of(client.post("/api/queue/cancel")) == {"cancelled": 8}
    assert data_of(client.post("/api/queue/cancel")) == {"cancelled": 0}
    assert data_of(client.get("/api/queue/status"))["active"] == GROUP
    release.set()
    wait_until(application, is_idle)
    status = data_of(client.get("/api/queue/status"))
    assert (status["total"], status["completed"], status["failed"]) == (GROUP + 8, GROUP, 0)
    assert [task["status"] for task in status["tasks"][GROUP:]] == ["cancelled"] * 8
    assert data_of(client.get("/api/status"))["embedding"]["notes"] == {"done": GROUP, "pending": 8}
    assert data_of(client.post("/api/embeddings/batch"))["queued"] == 8


def test_batch_that_fails(
    client: FlaskClient, application: Application, provider: StubProvider
) -> None:
    import_library(client)
    provider.behave(behaviours.status(401))
    data_of(client.post("/api/embeddings/batch"))
    wait_until(application, is_idle)
    status = data_of(client.get("/api/queue/status"))
    assert (status["failed"], status["completed"]) == (12, 0)
    assert all("embedding.api_key" in task["error"] for task in status["tasks"])
    note = data_of(client.get("/api/notes/1"))
    assert note["embedding_status"] == "failed"
    assert "embedding.api_key" in note["embedding_error"]
    provider.behave(behaviours.fine)
    assert data_of(client.post("/api/embeddings/batch"))["queued"] == 12
    wait_until(application, is_idle)
    assert data_of(client.get("/api/notes/1"))["embedding_error"] is None
    assert data_of(client.get("/api/queue/status"))["completed"] == 12


def test_cancel_of_nothing(reader: FlaskClient) -> None:
    assert data_of(reader.post("/api/queue/cancel")) == {"cancelled": 0}
