"""Routes that make notes of conversations, and those that review what the gate left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from app.api import answers, shapes
from app.api.common import OFFSET
from app.api.parameters import boolean, whole
from app.api.routing import Route
from app.api.services import Services, require_model, services
from app.db import distilling

OPTIONS = (
    boolean("model", "Ask the configured language model instead of the offline rules."),
    boolean("dryRun", "Only tell what a language model would be sent."),
)
PAGE = (OFFSET, whole("limit", "How many conversations to return.", 50, 100))


def summarize_one(conversation_id: str, given: Mapping[str, Any]) -> Any:
    """Queue one conversation to be made a note of.

    What is as it was when its note was made, and a note that somebody edited, stay as they are.
    """
    parts = services()
    titles = {conversation_id: parts.knowledge.distiller.title(conversation_id)}
    return _queued(parts, titles, given)


def summarize_batch(given: Mapping[str, Any]) -> Any:
    """Queue every conversation that waits to be made a note of, oldest first."""
    parts = services()
    titles = parts.knowledge.distiller.awaiting()
    return {**_queued(parts, titles, given), "total": len(titles)}


def _queued(parts: Services, titles: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
    with_model = given["model"]
    if with_model:
        require_model(parts)
    if given["dryRun"]:
        estimate = parts.knowledge.distiller.estimate(titles, with_model=with_model)
        return {"queued": 0, "estimate": asdict(estimate)}
    queued = parts.knowledge.background.distil(titles, with_model=with_model)
    return {"queued": queued, "queue": shapes.queue(parts.queue.progress())}


def reset_errors() -> Any:
    """Let the conversations that could not be made a note of wait for it again."""
    return {"reset": services().knowledge.reviewer.reset_errors()}


def list_filtered(given: Mapping[str, Any]) -> Any:
    """List what the gate left out and nobody reviewed, nearest to passing first."""
    with services().database.read() as connection:
        found = distilling.unreviewed(connection, given["offset"], given["limit"])
    return shapes.page(found, shapes.conversation)


def keep(conversation_id: str) -> Any:
    """Make a note of a conversation whatever the gate says, now and whenever it grows."""
    parts = services()
    note_id = parts.knowledge.reviewer.keep(conversation_id)
    parts.knowledge.background.relate({note_id: f"Relations of note {note_id}"})
    return {"id": conversation_id, "status": "summarized", "note_id": note_id}


def drop(conversation_id: str) -> Any:
    """Leave a conversation without a note for good; one that was made of it is deleted."""
    services().knowledge.reviewer.drop(conversation_id)
    return {"id": conversation_id, "status": "filtered", "note_id": None}


_CONVERSATION = "/api/conversations/<text:conversation_id>"

ROUTES = (
    Route("POST", f"{_CONVERSATION}/summarize", summarize_one, OPTIONS, answer=answers.SUMMARIZED),
    Route("POST", f"{_CONVERSATION}/keep", keep, answer=answers.REVIEWED),
    Route("POST", f"{_CONVERSATION}/drop", drop, answer=answers.REVIEWED),
    Route("POST", "/api/summarize/batch", summarize_batch, OPTIONS, answer=answers.SUMMARIZED),
    Route("POST", "/api/summarize/reset-errors", reset_errors, answer=answers.RESET),
    Route("GET", "/api/summarize/filtered", list_filtered, PAGE, answer=answers.CONVERSATIONS),
)
