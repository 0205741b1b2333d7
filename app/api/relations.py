"""Routes of typed relations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from app.api import answers, bodies, shapes
from app.api.bodies import NOTE_ID, TEXT, Field
from app.api.envelope import Reply
from app.api.parameters import boolean, choices, text
from app.api.routing import Route
from app.api.services import require_model, services
from app.db import relations
from app.domain.relations import RELATION_TYPES, RelationDraft
from app.errors import InvalidRelation
from app.search.picture import INCLUDABLE, picture, places_in

DISCOVERY = (boolean("model", "Ask the configured language model as well."),)
GRAPH = (
    text("project", "Only notes of this project."),
    choices("include", "Edges to add: links between notes, tags that notes share.", INCLUDABLE,
            ()),
    boolean("layout", "Add x and y of each note, from -1 to 1."),
)  # fmt: skip
_MISSING = InvalidRelation("Missing required fields: target_note_id, relation_type")
CREATABLE = (
    Field("target_note_id", "The other note.", bodies.note_id, NOTE_ID, is_required=True,
          missing=_MISSING),
    Field("relation_type", "Type.", bodies.any_text,
          {"type": "string", "enum": list(RELATION_TYPES)}, is_required=True,
          missing=_MISSING),
    Field("confidence", "How sure the relation is, 1 by default.", bodies.confidence,
          {"type": "number", "minimum": 0, "maximum": 1}),
    Field("description", "What joins the notes.", bodies.any_text, TEXT),
)  # fmt: skip


def list_relations(note_id: int) -> Any:
    """List a note's relations in both directions, surest first."""
    if note_id == 0:
        raise InvalidRelation("Invalid note ID")
    with services().database.read() as connection:
        return [shapes.relation(found) for found in relations.of_note(connection, note_id)]


def show_graph(given: Mapping[str, Any]) -> Any:
    """Show all notes and the relations among them.

    An edge that is a link has the type `LINK`, one of shared tags `TAG`, with the share of the
    tags of both that they have in common as its confidence; tags of more than 50 notes do not
    count. The same graph always has the same layout.
    """
    with services().database.read() as connection:
        found = picture(connection, given["project"], given["include"])
    shape = asdict(found)
    if given["layout"]:
        places = places_in(found)
        for node in shape["nodes"]:
            node["x"], node["y"] = places[node["id"]]
    return shape


def create_relation(note_id: int, body: Mapping[str, Any]) -> Any:
    """Join a note to another one."""
    draft = RelationDraft(source_note_id=note_id, **body)
    return Reply(shapes.relation(services().writer.create_relation(draft)), 201)


def discover_relations(note_id: int, given: Mapping[str, Any]) -> Any:
    """Find the relations of a note by rules; return all that it has, surest first."""
    parts = services()
    if given["model"]:
        require_model(parts)
    found = parts.knowledge.relater.relate_one(note_id)
    if given["model"]:
        parts.knowledge.judge.judge(note_id)
        with parts.database.read() as connection:
            found = relations.of_note(connection, note_id)
    return [shapes.relation(each) for each in found]


def discover_all() -> Any:
    """Queue every note to have its relations found."""
    parts = services()
    titles = parts.knowledge.relater.titles()
    if not titles:
        return {"queued": 0}
    queued = parts.knowledge.background.relate(titles)
    return {"queued": queued, "total": len(titles), "queue": shapes.queue(parts.queue.progress())}


def delete_relation(relation_id: int) -> Any:
    """Delete a relation."""
    services().writer.delete_relation(relation_id)
    return Reply()


ROUTES = (
    Route("GET", "/api/notes/<id:note_id>/relations", list_relations, answer=answers.RELATIONS),
    Route(
        "POST",
        "/api/notes/<id:note_id>/relations",
        create_relation,
        body=CREATABLE,
        answer=answers.RELATION,
        status=201,
    ),
    Route("GET", "/api/relations/graph", show_graph, GRAPH, answer=answers.GRAPH),
    Route(
        "POST",
        "/api/notes/<id:note_id>/discover-relations",
        discover_relations,
        DISCOVERY,
        answer=answers.RELATIONS,
    ),
    Route("POST", "/api/relations/batch-discover", discover_all, answer=answers.DISCOVERED),
    Route("DELETE", "/api/relations/<id:relation_id>", delete_relation),
)
