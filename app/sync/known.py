"""What the names in a batch of records stand for: conversations, notes and tags that are stored.

Owns the look-ups of an import. They are read once a batch and kept in step with what it adds, so
that a record costs no query of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from sqlalchemy import Connection

from app.db import conversations, notes, tags
from app.sync.records import CONVERSATION_PREFIX
from app.text import clean

_REFERENCES = ("external_id", "conversation", "source", "target", "target_note", "name")


@dataclass(frozen=True, slots=True)
class Known:
    """Ids by name: of conversations and notes by external id, notes by conversation, and tags."""

    conversations: dict[str, str]
    conversation_ids: set[str]
    notes_of_conversations: dict[str, int]
    messages: set[str]
    notes: dict[str, int]
    tags: dict[str, int]

    @classmethod
    def of(cls, connection: Connection, batch: Iterable[Any]) -> Self:
        """Read what the names in some records stand for; names that stand for nothing are left."""
        names = sorted({name for record in batch for name in _names(record)})
        by_external = conversations.ids_of_external(connection, names)
        ids = conversations.known_ids(connection, {*names, *by_external.values()})
        return cls(
            by_external,
            ids,
            notes.ids_of_conversations(connection, ids),
            conversations.known_message_ids(connection, names),
            notes.ids_of_external(connection, names),
            tags.ids_by_name(connection, names),
        )

    def conversation(self, name: str) -> str | None:
        """Return the id of the conversation of this external id, or of this id."""
        return self.conversations.get(name) or (name if name in self.conversation_ids else None)

    def note(self, name: str) -> int | None:
        """Return the id of the note of this external id, or of ``note:`` and a conversation."""
        found = self.notes.get(name)
        if found is None and name.startswith(CONVERSATION_PREFIX):
            return self.notes_of_conversations.get(name.removeprefix(CONVERSATION_PREFIX))
        return found

    def added_conversation(self, conversation_id: str) -> None:
        """Note a conversation that is stored now, whose external id is its id."""
        self.conversations[conversation_id] = conversation_id
        self.conversation_ids.add(conversation_id)

    def added_note(self, external_id: str, conversation_id: str, note_id: int) -> None:
        """Note a note that is stored now."""
        self.notes[external_id] = note_id
        self.notes_of_conversations[conversation_id] = note_id


def _names(record: Any) -> Iterable[str]:
    if not isinstance(record, Mapping):
        return
    listed = record.get("tags")
    values = [record.get(reference) for reference in _REFERENCES]
    values += listed if isinstance(listed, list) else []
    for value in values:
        if isinstance(value, str):
            name = clean(value)
            yield name
            yield name.removeprefix(CONVERSATION_PREFIX)
