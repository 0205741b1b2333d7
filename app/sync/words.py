"""The lexical documents of notes: written in the transaction that writes the notes.

Owns which text of a note goes to which field.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


def rewrite(
    connection: Connection, found: Sequence[Note], note_ids: Iterable[int]
) -> tuple[list[int], list[int]]:
    """Write the documents of notes anew; return the ids of the removed and of the added ones.

    Args:
        found: Those of the notes that exist, as they are stored now.
        note_ids: The notes that may have documents.
    """
    removed = lexical.remove_of_notes(connection, sorted(set(note_ids)), [KIND_ROOT])
    documents = [
        DocumentDraft(KIND_ROOT, postings_of(texts_of(note)), note_id=note.id) for note in found
    ]
    return [id_ for id_, _ in removed], list(lexical.add(connection, documents))


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
