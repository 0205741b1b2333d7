"""``crystal embed``."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import click

from cli.failures import Failure
from cli.options import with_session
from cli.references import NOTE, note_id_of
from cli.session import Session
from cli.tables import show_line

EMBED_SECONDS = 600.0
POLL_SECONDS = 0.2


@click.command()
@click.argument("note", metavar="[NOTE]", type=NOTE, required=False)
@click.option("--all", "is_all", is_flag=True, help="Embed every note that is not embedded.")
@with_session
def embed(session: Session, note: str | None, is_all: bool) -> None:
    """Have the server embed notes.

    One NOTE anew, or all that are not embedded.
    """
    if (note is not None) == is_all:
        raise click.UsageError("Name one NOTE, or give --all.")
    if note is None:
        data = embed_all(session)
        text = f"{data['completed']} notes embedded, {data['failed']} failed."
    else:
        note_id = note_id_of(session, note)
        data = session.call("POST", f"/api/notes/{note_id}/embed", seconds=EMBED_SECONDS).data
        text = f"Note {note_id} is embedded in {data['chunks']} chunks."
    session.output.show(data, lambda console: show_line(console, text))
    if data.get("failed"):
        raise Failure(_first_error(data), "embedding_failed")


def embed_all(session: Session) -> Mapping[str, Any]:
    """Queue every note that is not embedded and wait until the queue is done.

    Returns:
        The last state of the queue; all counts 0 when there was nothing to do.
    """
    answer: Mapping[str, Any] = session.call("POST", "/api/embeddings/batch").data
    state: Mapping[str, Any] = answer.get("queue") or dict.fromkeys(
        ("total", "completed", "failed", "active"), 0
    )
    with session.output.progress("Embedding", state["total"]) as advance:
        while state["active"]:
            time.sleep(POLL_SECONDS)
            state = session.get("/api/queue/status")
            advance(state["completed"] + state["failed"])
    return state


def _first_error(state: Mapping[str, Any]) -> str:
    failed = [task for task in state.get("tasks", ()) if task.get("error")]
    reason = f": {failed[0]['title']}: {failed[0]['error']}" if failed else ""
    return f"{state['failed']} notes could not be embedded{reason}"
