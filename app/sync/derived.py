"""Notes that are made of something else: of a conversation, of an agent's memory.

Owns how such a note is written, embedded, with what is derived from it. The caller opens the
transaction, and writes in it what else belongs to the note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.db import chunks, notes, spaces, tags
from app.db.columns import now
from app.domain.notes import STATUS_PENDING, Note
from app.embedding.active import Active
from app.errors import NoteNotFound
from app.sync import texts
from app.sync.companions import drop_outdated
from app.sync.transaction import Transaction
from app.sync.vectors import Outcome, embed, store


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A note to be written: its columns, its tags in the order of their ids, its vectors."""

    columns: Mapping[str, Any]
    tags: tuple[str, ...]
    outcome: Outcome


def embedded(active: Active, prepared: Sequence[texts.Prepared]) -> list[Outcome]:
    """Embed the chunks of notes in one call."""
    return embed(active.embedder, prepared)


def write(unit: Transaction, active: Active, before: Note | None, draft: Draft) -> int:
    """Store a note, or write one anew; return its id."""
    connection = unit.connection
    if before is None:
        columns = {"embedding_status": STATUS_PENDING, "updated_at": now(), **draft.columns}
        note_id = notes.add(connection, columns)
        tags.give(connection, {note_id: draft.tags})
    else:
        note_id = before.id
        notes.change(connection, note_id, {**draft.columns, "updated_at": now()})
        tags.set_of_note(connection, note_id, draft.tags)
        unit.reworded([note_id])
    after = notes.get(connection, note_id)
    if after is None:
        raise NoteNotFound
    if before is None:
        unit.created([after])
    else:
        drop_outdated(unit, before, after)
    actual = texts.of_note(after, active.embedder.max_chars)
    if actual.text_hash == draft.outcome.prepared.text_hash:
        store(unit, active.space_id, note_id, draft.outcome)
    else:
        # Another process gave the tags other ids meanwhile; the queue embeds it as it is now.
        spaces.set_status(connection, active.space_id, [note_id], STATUS_PENDING)
    spaces.outdate(connection, note_id, actual.text_hash)
    return note_id


def remove(unit: Transaction, note_id: int) -> None:
    """Delete a note with its vectors and words."""
    unit.removed_vectors(chunks.remove_of_notes(unit.connection, [note_id]))
    unit.removed_documents([note_id])
    notes.remove(unit.connection, note_id)
