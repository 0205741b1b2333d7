"""Routes of notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.api import answers, bodies, rendering, shapes
from app.api.bodies import NOTE_PATH, SNIPPETS, TAG_NAMES, TEXT, TEXTS, VISIBLE_TEXT, Field
from app.api.common import FILTERS, OFFSET, filters
from app.api.envelope import Reply
from app.api.parameters import boolean, choice, choices, text, whole
from app.api.routing import Route
from app.api.services import services
from app.db import notes
from app.domain.notes import (
    DEFAULT_LIKE_COLUMNS,
    LIKE_COLUMNS,
    NoteDraft,
    NotePatch,
    NoteQuery,
)
from app.errors import ConversationNotFound, InvalidBody, NoteNotFound

LIST = (
    text("search", "Text to look for, by SQL LIKE, in the columns of `in`."),
    choice("match", "Whether % and _ in `search` are wildcards (like) or themselves (literal).",
           ("like", "literal"), "like"),
    choices("in", "Where to look for `search`.", LIKE_COLUMNS, DEFAULT_LIKE_COLUMNS),
    *FILTERS,
    OFFSET,
    whole("limit", "How many notes to return.", 50, 100),
)  # fmt: skip

GET = (boolean("render", "Add `html`: summary, body, conclusions and code, safe to show."),)

PATCHABLE = (
    Field("title", "Title.", bodies.visible_text, VISIBLE_TEXT),
    Field("summary", "Summary.", bodies.any_text, TEXT),
    Field("body", "Markdown text.", bodies.any_text, TEXT),
    Field("key_conclusions", "What was learned.", bodies.any_texts, TEXTS),
    Field("code_snippets", "Pieces of code.", bodies.snippets, SNIPPETS),
    Field("tags", "Tag names.", bodies.tag_names, TAG_NAMES),
    Field("aliases", "Other titles.", bodies.any_texts, TEXTS),
    Field("project", "Project name.", bodies.any_text, TEXT),
    Field("path", "Place among other notes, which links may name.", bodies.note_path, NOTE_PATH),
    Field("task_kind", "Kind of task.", bodies.any_text, TEXT),
    Field("outcome_type", "Kind of outcome.", bodies.any_text, TEXT),
    Field("error_signatures", "Errors that the note is about.", bodies.any_texts, TEXTS),
    Field("files_touched", "Files that the note is about.", bodies.any_texts, TEXTS),
)
IF_UPDATED_AT = "if_updated_at"
EDITABLE = (
    *PATCHABLE,
    Field(IF_UPDATED_AT, "Change the note only if its updated_at is still this.",
          bodies.any_text, TEXT),
)  # fmt: skip
CREATABLE = (
    Field("title", "Title.", bodies.visible_text, VISIBLE_TEXT, is_required=True),
    *PATCHABLE[1:],
    Field("conversation_id", "Conversation; without one the note gets its own.",
          bodies.visible_text, VISIBLE_TEXT),
    Field("source_agent", "Agent that wrote the note.", bodies.visible_text, VISIBLE_TEXT),
    Field("source_type", "How the note came to be.", bodies.visible_text, VISIBLE_TEXT),
    Field("raw_llm_response", "What a model answered, as JSON text.", bodies.any_text, TEXT),
)  # fmt: skip


def list_notes(given: Mapping[str, Any]) -> Any:
    """List notes, newest first."""
    query = NoteQuery(
        filters=filters(given),
        pattern=given["search"],
        literal=given["match"] == "literal",
        columns=given["in"],
        offset=given["offset"],
        limit=given["limit"],
    )
    with services().database.read() as connection:
        return shapes.page(notes.page(connection, query), shapes.listed_note)


def get_note(note_id: int, given: Mapping[str, Any]) -> Any:
    """Show one note."""
    with services().database.read() as connection:
        found = notes.get(connection, note_id)
    if found is None:
        raise NoteNotFound
    shape = shapes.note(found, whole=True)
    return shape | {"html": rendering.note_html(shape)} if given["render"] else shape


def note_of_conversation(conversation_id: str) -> Any:
    """Tell the id of a conversation's note."""
    with services().database.read() as connection:
        found = notes.id_of_conversation(connection, conversation_id)
    if found is None:
        raise NoteNotFound("Note not found for this conversation")
    return {"id": found}


def create_note(body: Mapping[str, Any]) -> Any:
    """Create a note and embed it."""
    note_id = services().writer.create_note(NoteDraft(**{"summary": "", **body}))
    return _written(note_id, 201)


def edit_note(note_id: int, body: Mapping[str, Any]) -> Any:
    """Replace fields of a note; it is embedded again when its text changes."""
    changes = {name: value for name, value in body.items() if name != IF_UPDATED_AT}
    if not changes:
        raise InvalidBody("The body names no field to change")
    services().writer.edit_note(note_id, NotePatch(changes), body.get(IF_UPDATED_AT))
    return _written(note_id, 200)


def _written(note_id: int, status: int) -> Reply:
    with services().database.read() as connection:
        found = notes.get(connection, note_id)
    if found is None:
        raise NoteNotFound
    warnings = [f"Not embedded: {found.embedding_error}"] if found.embedding_error else []
    beside = {"warnings": warnings} if warnings else {}
    return Reply(shapes.note(found, whole=True), status, beside)


def open_note(note_id: int) -> Any:
    """Record that a note was opened; again within a minute counts once."""
    services().writer.open_note(note_id)
    return Reply()


def delete_note(note_id: int) -> Any:
    """Delete a note."""
    services().writer.delete_note(note_id)
    return Reply()


ROUTES = (
    Route("GET", "/api/notes", list_notes, LIST, answer=answers.NOTES),
    Route(
        "POST",
        "/api/notes",
        create_note,
        body=CREATABLE,
        answer=answers.NOTE,
        status=201,
        errors=(ConversationNotFound,),
    ),
    Route("GET", "/api/notes/<id:note_id>", get_note, GET, answer=answers.NOTE),
    Route(
        "PATCH",
        "/api/notes/<id:note_id>",
        edit_note,
        body=EDITABLE,
        answer=answers.NOTE,
        needs_one_of=tuple(field.name for field in PATCHABLE),
    ),
    Route("DELETE", "/api/notes/<id:note_id>", delete_note),
    Route("POST", "/api/notes/<id:note_id>/open", open_note),
    Route(
        "GET",
        "/api/notes/by-conversation/<text:conversation_id>",
        note_of_conversation,
        answer=answers.ID,
    ),
)
