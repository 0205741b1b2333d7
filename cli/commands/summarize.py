"""``crystal summarize``."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import click
from rich.console import Console

from cli.failures import Failure
from cli.options import query_of, with_session
from cli.session import Session
from cli.tables import show_facts, show_heading, show_line

POLL_SECONDS = 0.2


@click.command()
@click.argument("conversation", metavar="[ID]", required=False)
@click.option("--all", "is_all", is_flag=True, help="All conversations that wait for it.")
@click.option(
    "--with-model",
    is_flag=True,
    help="Ask the language model of llm.provider instead of the offline rules.",
)
@click.option("--dry-run", is_flag=True, help="Only tell what a language model would be sent.")
@click.option("--reset-errors", is_flag=True, help="Let failed conversations wait for it again.")
@with_session
def summarize(
    session: Session,
    *,
    conversation: str | None,
    is_all: bool,
    with_model: bool,
    dry_run: bool,
    reset_errors: bool,
) -> None:
    """Have the server make notes of conversations.

    One by its ID, or all that wait for it. What nobody could use again gets no note; see it with
    crystal conversations filtered.
    """  # fmt: skip
    if (conversation is not None) + is_all + reset_errors != 1:
        raise click.UsageError("Name one ID, or give --all, or --reset-errors.")
    if reset_errors:
        data = session.call("POST", "/api/summarize/reset-errors").data
        text = f"{data['reset']} conversations wait for it again."
        session.output.show(data, lambda console: show_line(console, text))
        return
    path = "/api/summarize/batch"
    if conversation is not None:
        path = f"/api/conversations/{quote(conversation, safe='', errors='replace')}/summarize"
    query = query_of({"model": with_model, "dryRun": dry_run}.items())
    answer: Mapping[str, Any] = session.call("POST", path, query=query).data
    if dry_run:
        estimate = answer["estimate"]
        session.output.show(estimate, lambda console: _show_estimate(console, estimate))
    else:
        _finish(session, answer)


def _show_estimate(console: Console, estimate: Mapping[str, Any]) -> None:
    show_heading(console, "What it would take")
    model = estimate["model"] or "none: the offline rules, nothing is sent"
    facts = [("Conversations", str(estimate["conversations"])), ("Language model", model)]
    if estimate["model"]:
        facts.append(("Characters", f"{estimate['characters']:,}"))
        facts.append(("Tokens, about", f"{estimate['tokens']:,}"))
    show_facts(console, facts)


def _finish(session: Session, answer: Mapping[str, Any]) -> None:
    """Wait until the queue is done, and tell what came of it."""
    state = wait_for_queue(session, "Making notes", answer["queue"] if answer["queued"] else None)
    data = {
        "queued": answer["queued"],
        "completed": state["completed"] if state else 0,
        "failed": state["failed"] if state else 0,
    }
    text = f"{data['queued']} conversations read, {data['failed']} failed."
    session.output.show(data, lambda console: show_line(console, text))
    errors = [task["error"] for task in state["tasks"] if task["error"]] if state else []
    if errors:
        raise Failure(f"{len(errors)} tasks failed: {errors[0]}", "summarizing_failed")


def wait_for_queue(
    session: Session, label: str, state: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Follow the work queue until nothing is open; return its last state."""
    if state is None:
        return None
    with session.output.progress(label, state["total"]) as advance:
        while state["active"]:
            time.sleep(POLL_SECONDS)
            state = session.get("/api/queue/status")
            assert state is not None
            advance(state["completed"] + state["failed"])
    return state
