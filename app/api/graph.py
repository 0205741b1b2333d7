"""Routes of what lies around a note: edges, shared tags, nearness in meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from app.api import answers
from app.api.envelope import Reply
from app.api.parameters import boolean, choice, number, queries, whole
from app.api.routing import Route
from app.api.search import PER_NOTE, topics_of
from app.api.services import services
from app.domain.graph import BoostedNote, HiddenNote, NoteEdge, NoteStub
from app.graph.walk import DIRECTIONS, OUT
from app.ranking.notebrain.boosted import BOOST
from app.search import graph
from app.text import round_half_up

MOST_ROWS = 100
MOST_HOPS = 20
MOST_BOOST = 100

ROWS = whole("limit", "How many notes to return.", MOST_ROWS, MOST_ROWS)
NEAREST = whole("limit", "How many notes to return.", 10, MOST_ROWS)
CONNECTIONS = (
    whole("hops", "How many edges away a note may be.", 2, MOST_HOPS),
    choice("direction", "Which edges are followed: those that leave, those that reach, or both.",
           DIRECTIONS, OUT),
    ROWS,
)  # fmt: skip
BACKLINKS = (ROWS,)
SHARED_TAGS = (whole("min_shared", "How many tags must be shared; at least one.", 1, 1_000), ROWS)
HIDDEN = (
    boolean("deep", "Compare section by section instead of whole notes."),
    boolean("include_linked", "Keep notes that are linked already."),
    PER_NOTE,
    NEAREST,
)
BOOSTED = (
    queries("q", "What to search for; several times for several topics."),
    number("boost", "Factor for direct neighbours.", BOOST, MOST_BOOST),
    NEAREST,
)


def list_connections(note_id: int, given: Mapping[str, Any]) -> Any:
    """List the notes that are reached from a note, each once, the nearest first.

    Edges are typed relations and links; links that no note answers to are under `unresolved`.
    """
    with services().database.read() as connection:
        found = graph.connections(connection, note_id, **given)
    items = [
        {**_stub(each.note), "hops": each.hops, "edges": list(map(_edge, each.edges))}
        for each in found.found
    ]
    unresolved = [asdict(each) for each in found.unresolved]
    return {"items": items, "total": found.total, "unresolved": unresolved}


def list_backlinks(note_id: int, given: Mapping[str, Any]) -> Any:
    """List the notes with a relation or link to a note, by title."""
    with services().database.read() as connection:
        found = graph.backlinks(connection, note_id)
    return {
        "items": [
            {**_stub(each.note), "score": 1.0, "edges": list(map(_edge, each.edges))}
            for each in found[: given["limit"]]
        ],
        "total": len(found),
    }


def list_shared_tags(note_id: int, given: Mapping[str, Any]) -> Any:
    """List the notes that share tags with a note, those that share most first."""
    with services().database.read() as connection:
        found = graph.shared_tags(connection, note_id, given["min_shared"])
    return {
        "items": [
            {**_stub(each.note), "score": len(each.tags), "tags": list(each.tags)}
            for each in found[: given["limit"]]
        ],
        "total": len(found),
    }


def list_hidden(note_id: int, given: Mapping[str, Any]) -> Any:
    """List the notes that are close to a note in meaning and not linked to it."""
    neighbours, limit = services().neighbours, given["limit"]
    with_linked = given["include_linked"]
    if given["deep"]:
        per_note = given["per_note"]
        answer = neighbours.hidden_deep(note_id, limit, per_note, with_linked=with_linked)
    else:
        answer = neighbours.hidden(note_id, limit, with_linked=with_linked)
    data: dict[str, Any] = {"items": [_hidden(each) for each in answer.found]}
    if answer.sections is not None:
        data["sections"] = answer.sections
    return Reply(data, beside=_warnings(answer.warnings))


def list_boosted(note_id: int, given: Mapping[str, Any]) -> Any:
    """Search by meaning, the direct neighbours of a note lifted."""
    topics = topics_of(given["q"])
    answer = services().neighbours.boosted(note_id, topics, given["limit"], given["boost"])
    return Reply(
        {"items": [_boosted(each) for each in answer.found]}, beside=_warnings(answer.warnings)
    )


def _warnings(warnings: tuple[str, ...]) -> dict[str, Any]:
    return {"warnings": list(warnings)} if warnings else {}


def _stub(note: NoteStub) -> dict[str, Any]:
    return {
        "note_id": note.id,
        "title": note.title,
        "project_name": note.project_name,
        "path": note.path,
    }


def _edge(edge: NoteEdge) -> dict[str, Any]:
    return asdict(edge)


def _hidden(each: HiddenNote) -> dict[str, Any]:
    shape = {**_stub(each.note), "score": round_half_up(each.score)}
    if each.matched_sections is None:
        return shape
    return shape | {
        "matched_sections": each.matched_sections,
        "shown_sections": len(each.shown),
        "sections": [asdict(match) | {"score": round_half_up(match.score)} for match in each.shown],
    }


def _boosted(each: BoostedNote) -> dict[str, Any]:
    return {
        **_stub(each.note),
        "score": round_half_up(each.score),
        "cosine": round_half_up(each.cosine),
        "linked": each.is_linked,
        "matched_queries": each.matched_queries,
    }


ROUTES = (
    Route("GET", "/api/notes/<id:note_id>/connections", list_connections, CONNECTIONS,
          answer=answers.CONNECTIONS),
    Route("GET", "/api/notes/<id:note_id>/backlinks", list_backlinks, BACKLINKS,
          answer=answers.BACKLINKS),
    Route("GET", "/api/notes/<id:note_id>/shared-tags", list_shared_tags, SHARED_TAGS,
          answer=answers.SHARED_TAGS),
    Route("GET", "/api/notes/<id:note_id>/hidden", list_hidden, HIDDEN, answer=answers.HIDDEN),
    Route("GET", "/api/notes/<id:note_id>/boosted", list_boosted, BOOSTED,
          answer=answers.BOOSTED),
)  # fmt: skip
