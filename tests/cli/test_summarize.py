"""``crystal summarize``, ``conversations filtered|keep|drop`` and ``relations discover``."""

from __future__ import annotations

import httpx
import pytest

from app.factory import Application
from tests.cli.conftest import Runner, run_on_terminal, runner_over
from tests.distill.talks import NOT_WORTH, POOL
from tests.support.talks import put, standing


@pytest.fixture
def transport(application: Application) -> httpx.WSGITransport:
    """The way to a server with two like conversations and one that is worth no note."""
    put(application, "pool", POOL)
    put(application, "twin", POOL, at="2026-03-01T00:00:00Z")
    put(application, "hi", NOT_WORTH["greeting"][0])
    return httpx.WSGITransport(app=application.flask())


@pytest.fixture
def run(transport: httpx.WSGITransport) -> Runner:
    return runner_over(transport)


def test_all_that_waits_becomes_notes(run: Runner, application: Application) -> None:
    ran = run("summarize", "--all")
    assert ran.code == 0, ran.err
    assert (ran.data["queued"], ran.data["failed"]) == (3, 0)
    assert standing(application, "pool").status == "summarized"
    assert standing(application, "hi").status == "filtered"
    assert run("summarize", "--all").data["queued"] == 0


def test_one_conversation(run: Runner, application: Application) -> None:
    assert run("summarize", "pool").data["queued"] == 1
    assert standing(application, "twin").status == "imported"


@pytest.mark.parametrize("arguments", [(), ("pool", "--all"), ("--all", "--reset-errors")])
def test_what_to_do_must_be_clear(run: Runner, arguments: tuple[str, ...]) -> None:
    ran = run("summarize", *arguments)
    assert ran.code == 2
    assert "--all" in ran.error


def test_a_dry_run_tells_what_it_would_take(
    run: Runner, transport: httpx.WSGITransport, application: Application
) -> None:
    assert run("summarize", "--all", "--dry-run").data["conversations"] == 3
    shown = run_on_terminal(transport, "summarize", "--all", "--dry-run").out
    assert "nothing is sent" in shown
    assert standing(application, "pool").status == "imported"


def test_a_model_that_is_not_set_is_said(run: Runner) -> None:
    ran = run("summarize", "--all", "--with-model", "--dry-run")
    assert ran.code == 1
    assert "llm.provider" in ran.error


def test_an_unknown_conversation(run: Runner) -> None:
    for command in (("summarize",), ("conversations", "keep"), ("conversations", "drop")):
        ran = run(*command, "nobody")
        assert (ran.code, ran.error) == (1, "Error: Conversation not found")


def test_failures_are_told_and_can_be_reset(run: Runner, application: Application) -> None:
    with application.database.write() as connection:
        connection.exec_driver_sql("UPDATE conversations SET status = 'error'")
    assert run("summarize", "--reset-errors").data == {"reset": 3}


def test_review(run: Runner, transport: httpx.WSGITransport, application: Application) -> None:
    run("summarize", "--all")
    assert [each["id"] for each in run("conversations", "filtered").data["items"]] == ["hi"]
    assert "small-talk" in run_on_terminal(transport, "conversations", "filtered").out
    note_id = run("conversations", "keep", "hi").data["note_id"]
    assert run("notes", "get", str(note_id)).data["conversation_id"] == "hi"
    assert run("conversations", "drop", "hi").data["status"] == "filtered"
    assert run("notes", "get", str(note_id)).code == 1
    shown = run_on_terminal(transport, "conversations", "filtered").out
    assert "Nothing is left to review." in shown


def test_relations_are_discovered(run: Runner, application: Application) -> None:
    application.knowledge.distiller.distil(["pool", "twin"])
    found = run("relations", "discover", "2").data
    assert {each["relation_type"] for each in found} >= {"SIMILAR_TO", "REFERENCES"}
    assert run("relations", "discover", "--all").data == {"total": 2, "completed": 2, "failed": 0}
    assert run("notes", "relations", "2").data == found
    assert run("relations", "discover").code == 2
