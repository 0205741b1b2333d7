"""SQL conditions of the filters that lists and searches share.

Owns the meaning of a filter. Must not run statements.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, exists

from app.db.columns import write_json
from app.db.models import conversations, note_tags, notes, tags
from app.db.patterns import contains, starts_with, stored_time
from app.domain.notes import AGENT_WRITEBACK, NoteFilters


def note_conditions(filters: NoteFilters) -> list[ColumnElement[bool]]:
    """Return the conditions on ``notes`` joined to ``conversations``; all must hold."""
    conditions = [_has_tag(name) for name in filters.tags]
    conditions += [conversations.c.project_name == name for name in filters.projects]
    if filters.source is not None:
        conditions.append(conversations.c.source == filters.source)
    if filters.source_kind == "memory":
        conditions.append(notes.c.source_type == AGENT_WRITEBACK)
    if filters.source_kind == "conversation":
        conditions.append(notes.c.source_type != AGENT_WRITEBACK)
    if filters.path_prefix is not None:
        conditions.append(starts_with(notes.c.path, filters.path_prefix))
    if filters.project_key is not None:
        conditions.append(notes.c.project_key == filters.project_key)
    if filters.scope is not None:
        conditions.append(notes.c.scope == filters.scope)
    if filters.since is not None:
        conditions.append(stored_time(notes.c.created_at) >= filters.since)
    if filters.until is not None:
        conditions.append(stored_time(notes.c.created_at) <= filters.until)
    return conditions


def _has_tag(name: str) -> ColumnElement[bool]:
    return exists().where(
        note_tags.c.note_id == notes.c.id, note_tags.c.tag_id == tags.c.id, tags.c.name == name
    )


def text_conditions(
    columns: tuple[str, ...], text: str, *, literal: bool
) -> list[ColumnElement[bool]]:
    """Return the conditions of a LIKE search, one a named column; one of them must hold."""
    return [_column_contains(name, text, literal=literal) for name in columns]


def _column_contains(name: str, text: str, *, literal: bool) -> ColumnElement[bool]:
    if name == "tags":
        return exists().where(
            note_tags.c.note_id == notes.c.id,
            note_tags.c.tag_id == tags.c.id,
            contains(tags.c.name, text, literal=literal),
        )
    if name == "conclusions":
        # Stored as JSON, in which a quote, a backslash and a line break look otherwise.
        return contains(notes.c.key_conclusions, write_json(text)[1:-1], literal=literal)
    column = {"title": notes.c.title, "summary": notes.c.summary, "body": notes.c.body}[name]
    return contains(column, text, literal=literal)
