"""Making notes of conversations over HTTP: the queue, the review, what a model would be sent."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from app.factory import Application
from app.sync.queue import QUEUED, RUNNING
from tests.api.answers import data_of, error_of
from tests.distill.talks import NOT_WORTH, POOL, ZH_CACHE
from tests.support.talks import put, standing

PATIENCE = 20.0


def finished(application: Application) -> Any:
    """Wait until the queue has nothing open."""
    progress = application.queue.progress()
    while progress.count(QUEUED, RUNNING):
        progress = application.queue.wait(progress.version, PATIENCE)
    return progress


@pytest.fixture
def talks(application: Application) -> Application:
    """An application with two conversations worth a note and one that is not."""
    put(application, "pool", POOL, name="Too many open files")
    put(application, "缓存/一", ZH_CACHE)
    put(application, "hi", NOT_WORTH["greeting"][0])
    return application


@pytest.fixture
def caller(talks: Application) -> FlaskClient:
    return talks.flask().test_client()


def test_a_batch_takes_what_waits_and_shows_its_progress(
    talks: Application, caller: FlaskClient
) -> None:
    data = data_of(caller.post("/api/summarize/batch"))
    assert (data["queued"], data["total"]) == (3, 3)
    assert {task["id"] for task in data["queue"]["tasks"]} == {"pool", "缓存/一", "hi"}
    finished(talks)
    data = data_of(caller.get("/api/queue/status"))
    assert data["failed"] == 0 and data["active"] == 0
    assert data_of(caller.get("/api/status"))["stats"]["totalNotes"] == 2
    assert data_of(caller.post("/api/summarize/batch"))["queued"] == 0


def test_relations_are_found_after_that(talks: Application, caller: FlaskClient) -> None:
    put(talks, "twin", POOL, at="2026-03-01T00:00:00Z")
    data_of(caller.post("/api/summarize/batch"))
    kinds = {task.kind for task in finished(talks).tasks}
    assert "relating" in kinds
    edges = data_of(caller.get("/api/relations/graph"))["edges"]
    assert {edge["type"] for edge in edges} >= {"SIMILAR_TO", "REFERENCES"}


@pytest.mark.parametrize("id_", ["pool", "缓存/一"])
def test_one_conversation(talks: Application, caller: FlaskClient, id_: str) -> None:
    data = data_of(caller.post(f"/api/conversations/{id_}/summarize"))
    assert data["queued"] == 1
    finished(talks)
    assert standing(talks, id_).status == "summarized"
    assert data_of(caller.get(f"/api/notes/by-conversation/{id_}"))["id"] == 1


@pytest.mark.parametrize("deed", ["summarize", "keep", "drop"])
def test_an_unknown_conversation(caller: FlaskClient, deed: str) -> None:
    error_of(caller.post(f"/api/conversations/none/{deed}"), 404, "conversation_not_found")


def test_a_dry_run_only_tells(talks: Application, caller: FlaskClient) -> None:
    data = data_of(caller.post("/api/summarize/batch?dryRun=true"))
    assert data["estimate"] == {"conversations": 3, "characters": 0, "tokens": 0, "model": None}
    assert talks.queue.progress().tasks == ()
    assert standing(talks, "pool").status == "imported"


@pytest.mark.parametrize("path", ["/api/summarize/batch", "/api/conversations/pool/summarize"])
@pytest.mark.parametrize("dry", ["", "&dryRun=true"])
def test_a_model_that_is_not_set_is_refused(caller: FlaskClient, path: str, dry: str) -> None:
    message = error_of(caller.post(f"{path}?model=true{dry}"), 400, "invalid_parameter")
    assert "llm.provider" in message


def test_what_was_left_out_is_reviewed(talks: Application, caller: FlaskClient) -> None:
    put(talks, "waves", NOT_WORTH["waves"][0])
    data_of(caller.post("/api/summarize/batch"))
    finished(talks)
    page = data_of(caller.get("/api/summarize/filtered"))
    assert {item["id"] for item in page["items"]} == {"hi", "waves"}
    assert all(item["experience_gate_reason"] for item in page["items"])
    kept = data_of(caller.post("/api/conversations/hi/keep"))
    assert kept["status"] == "summarized"
    assert data_of(caller.get(f"/api/notes/{kept['note_id']}"))["conversation_id"] == "hi"
    dropped = data_of(caller.post("/api/conversations/waves/drop"))
    assert dropped == {"id": "waves", "status": "filtered", "note_id": None}
    assert data_of(caller.get("/api/summarize/filtered"))["total"] == 0
    finished(talks)


def test_errors_can_be_tried_again(talks: Application, caller: FlaskClient) -> None:
    with talks.database.write() as connection:
        connection.exec_driver_sql("UPDATE conversations SET status = 'error' WHERE id = 'pool'")
    assert data_of(caller.post("/api/summarize/reset-errors")) == {"reset": 1}
    assert standing(talks, "pool").status == "imported"


def test_relations_of_a_note_and_of_all(talks: Application, caller: FlaskClient) -> None:
    put(talks, "twin", POOL, at="2026-03-01T00:00:00Z")
    talks.knowledge.distiller.distil(["pool", "twin"])
    found = data_of(caller.post("/api/notes/2/discover-relations"))
    assert {each["created_by"] for each in found} == {"auto"}
    assert all(each["description"] for each in found)
    assert data_of(caller.get("/api/notes/1/relations")) == found
    queued = data_of(caller.post("/api/relations/batch-discover"))
    assert (queued["queued"], queued["total"]) == (2, 2)
    finished(talks)
    assert data_of(caller.get("/api/notes/1/relations")) == found
    error_of(caller.post("/api/notes/99/discover-relations"), 404, "note_not_found")
