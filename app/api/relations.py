"""Routes of typed relations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from app.api import bodies, shapes
from app.api.bodies import TEXT, Field
from app.api.envelope import Reply
from app.api.parameters import text
from app.api.routing import Route
from app.api.services import services
from app.db import relations
from app.domain.relations import RELATION_TYPES, RelationDraft
from app.errors import InvalidRelation

GRAPH = (text("project", "Only notes of this project."),)
CREATABLE = (
    Field("target_note_id", "The other note.", bodies.note_id, {"type": "integer"}),
    Field("relation_type", "Type.", bodies.any_text,
          {"type": "string", "enum": list(RELATION_TYPES)}),
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
    """Show all notes and the relations among them."""
    with services().database.read() as connection:
        return asdict(relations.graph(connection, given["project"]))


def create_relation(note_id: int, body: Mapping[str, Any]) -> Any:
    """Join a note to another one."""
    if "target_note_id" not in body or "relation_type" not in body:
        raise InvalidRelation("Missing required fields: target_note_id, relation_type")
    draft = RelationDraft(source_note_id=note_id, **body)
    return Reply(shapes.relation(services().writer.create_relation(draft)), 201)


def delete_relation(relation_id: int) -> Any:
    """Delete a relation."""
    services().writer.delete_relation(relation_id)
    return Reply()


ROUTES = (
    Route("GET", "/api/notes/<id:note_id>/relations", list_relations),
    Route("POST", "/api/notes/<id:note_id>/relations", create_relation, body=CREATABLE),
    Route("GET", "/api/relations/graph", show_graph, GRAPH),
    Route("DELETE", "/api/relations/<id:relation_id>", delete_relation),
)
