"""Fragments in step with notes: documents of chunks, entities, and who mentions which of them.

Owns what a note mentions, and which of its chunks do. Runs at the end of every write transaction,
so that no writer needs to think of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection

from app.db import entities, lexical
from app.db.entities import ChunkText, Key
from app.domain.changes import (
    CHANGED_DOCUMENT,
    CHANGED_VECTOR,
    OPERATION_ADD,
    OPERATION_REMOVE,
    Change,
)
from app.domain.fragments import ERROR, FILE, TAG, Entity
from app.domain.notes import Note
from app.domain.words import DocumentDraft
from app.lexical.documents import CONTENT, KIND_CHUNK, KIND_ENTITY, TITLE, postings_of
from app.text import fold, is_blank

LONGEST_NAME = 500
"""Characters of a name; an error signature may be a whole stack trace."""


def settle(
    connection: Connection,
    notes: Sequence[Note],
    fresh: Sequence[ChunkText],
    left_entities: Iterable[int],
    new: Collection[int] = (),
) -> list[Change]:
    """Bring the entities of some notes in step, and drop those that no note has any more.

    Args:
        notes: Those that were written, as they are stored now.
        fresh: Chunk rows that are new, of any note.
        left_entities: Entities of notes that are deleted.
        new: Those of the notes that this transaction stored: they have no entities yet.
    """
    left, changed, changes = _settle_notes(connection, notes, new)
    # A new note that mentions nothing did not change either.
    bare = set(new).difference(changed)
    held = [each for each in fresh if each.note_id not in bare]
    _settle_chunks(connection, entities.chunks_of_notes(connection, changed), held)
    return changes + remove_forsaken(connection, {*left, *left_entities})


def write_documents(connection: Connection, chunk_ids: Iterable[int]) -> list[Change]:
    """Write the documents of chunks that have none, and let the chunks mention what they hold."""
    found = entities.chunks(connection, chunk_ids)
    _settle_chunks(connection, found, ())
    return documents_changed(OPERATION_ADD, lexical.add(connection, documents(found)))


def documents(chunks: Iterable[ChunkText]) -> list[DocumentDraft]:
    """Return the documents of chunks."""
    return [
        DocumentDraft(KIND_CHUNK, postings_of({CONTENT: each.text}), each.note_id, each.chunk_id)
        for each in chunks
    ]


def remove_forsaken(connection: Connection, entity_ids: Iterable[int]) -> list[Change]:
    """Delete those of some entities that no note has, with their documents and vectors."""
    gone = entities.forsaken(connection, entity_ids)
    if not gone:
        return []
    documents = lexical.remove_of_entities(connection, gone)
    vectors = entities.remove(connection, gone)
    return documents_changed(OPERATION_REMOVE, documents) + [
        Change(CHANGED_VECTOR, OPERATION_REMOVE, id_, space_id, kind)
        for id_, space_id, kind in vectors
    ]


def documents_changed(operation: str, documents: Iterable[tuple[int, str]]) -> list[Change]:
    """Return the entries of the feed about documents, given as id and kind."""
    return [Change(CHANGED_DOCUMENT, operation, id_, kind=kind) for id_, kind in documents]


def mentions_of(note: Note) -> tuple[Key, ...]:
    """Return what a note mentions, as kinds and names, each once."""
    listed = ((TAG, note.tags), (FILE, note.files_touched), (ERROR, note.error_signatures))
    keys = [
        (kind, name[:LONGEST_NAME].strip())
        for kind, names in listed
        for name in _texts(names)
        if not is_blank(name)
    ]
    return tuple(dict.fromkeys(keys))


def _texts(value: Any) -> list[str]:
    return (
        [each for each in value if isinstance(each, str)] if isinstance(value, list | tuple) else []
    )


def holds(folded: str, name: str) -> bool:
    """Tell whether a folded text has a folded name in it as a word, or as words, of its own."""
    start = folded.find(name)
    while start >= 0:
        end = start + len(name)
        if not (
            _joins(folded[start - 1 : start], name[0]) or _joins(name[-1], folded[end : end + 1])
        ):
            return True
        start = folded.find(name, start + 1)
    return False


def _joins(before: str, after: str) -> bool:
    """Tell whether two neighbouring characters belong to one ASCII word."""
    return all(each.isascii() and each.isalnum() for each in (before, after))


def _settle_notes(
    connection: Connection, notes: Sequence[Note], new: Collection[int]
) -> tuple[set[int], list[int], list[Change]]:
    """Give notes the entities that they mention.

    Returns:
        Entities that a note has no more, the notes that have others now, and what to announce.
    """
    if not notes:
        return set(), [], []
    keys = {note.id: mentions_of(note) for note in notes}
    ids, changes = _ensure(connection, {key for each in keys.values() for key in each})
    wanted = {note_id: {ids[key] for key in each} for note_id, each in keys.items()}
    had = entities.of_notes(connection, (each for each in wanted if each not in new))
    changed = {
        note_id: each for note_id, each in wanted.items() if each != set(had.get(note_id, ()))
    }
    entities.forget_of_notes(connection, had.keys() & changed.keys())
    entities.give_notes(connection, changed)
    left = {
        id_ for note_id, each in changed.items() for id_ in had.get(note_id, {}) if id_ not in each
    }
    return left, list(changed), changes


def _ensure(connection: Connection, keys: Collection[Key]) -> tuple[dict[Key, int], list[Change]]:
    known = entities.ids(connection, keys)
    added = entities.add(connection, sorted(set(keys) - known.keys()))
    drafts = [
        DocumentDraft(KIND_ENTITY, postings_of({TITLE: name}), entity_id=id_)
        for (_, name), id_ in added.items()
    ]
    return known | added, documents_changed(OPERATION_ADD, lexical.add(connection, drafts))


def _settle_chunks(
    connection: Connection, known: Iterable[ChunkText], fresh: Iterable[ChunkText]
) -> None:
    """Let chunks mention what they hold; the fresh ones mention nothing yet."""
    found = {*known, *fresh}
    entities.forget_of_chunks(
        connection, [each.chunk_id for each in sorted(found.difference(fresh))]
    )
    of_notes = entities.of_notes(connection, sorted({each.note_id for each in found}))
    wanted = {
        each: _held(each.text, of_notes.get(each.note_id, {}).values()) for each in sorted(found)
    }
    entities.give_chunks(connection, wanted)


def _held(text: str, candidates: Iterable[Entity]) -> set[int]:
    folded = fold(text)
    return {each.id for each in candidates if holds(folded, fold(each.name))}
