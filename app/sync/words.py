"""The lexical documents of notes: written in the transaction that writes the notes.

Owns which text of a note goes to which field.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection

from app.db import lexical
from app.domain.notes import Note
from app.domain.words import DocumentDraft
from app.lexical.documents import (
    ALIASES,
    CONTENT,
    KIND_ROOT,
    PATH,
    TAGS,
    TITLE,
    postings_of,
)

Texts = dict[str, str | list[str]]


def remove(connection: Connection, note_ids: Iterable[int]) -> tuple[tuple[int, str], ...]:
    """Delete the documents of notes, not those of their chunks; return id and kind, by id."""
    return lexical.remove_of_notes(connection, sorted(set(note_ids)), [KIND_ROOT])


def documents(notes: Iterable[Note]) -> list[DocumentDraft]:
    """Return the documents of notes, as these are stored now."""
    return [
        DocumentDraft(KIND_ROOT, postings_of(texts_of(note)), note_id=note.id) for note in notes
    ]


def texts_of(note: Note) -> Texts:
    """Return the texts of a note by field; a note without a path is placed by its project."""
    return {
        TITLE: note.title,
        ALIASES: list(note.aliases),
        TAGS: list(note.tags),
        PATH: note.path.split("/") if note.path else [note.project_name],
        CONTENT: [note.summary, *_texts(note.key_conclusions), *_snippets(note.code_snippets),
                  *_texts(note.error_signatures), *_texts(note.files_touched), note.body or ""],
    }  # fmt: skip


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _snippets(value: Any) -> list[str]:
    if not isinstance(value, list):
        return []
    parts = [
        snippet.get(name)
        for snippet in value
        if isinstance(snippet, dict)
        for name in ("description", "code")
    ]
    return _texts(parts)
