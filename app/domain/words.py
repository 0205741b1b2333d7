"""Lexical documents as they are stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What words are found in; ``postings`` is the stored form that the lexical layer reads."""

    id: int
    kind: str
    note_id: int | None
    postings: str


class DocumentDraft(NamedTuple):
    """A document to be stored: of a note, of a chunk of a note, or of an entity."""

    kind: str
    postings: str
    note_id: int | None = None
    chunk_id: int | None = None
    entity_id: int | None = None


@dataclass(frozen=True, slots=True)
class MessageDocument:
    """What messages are found in: a stretch of one turn, by the places of its messages."""

    turn: int
    first_message: int
    last_message: int
    postings: str


@dataclass(frozen=True, slots=True)
class MessageStretch:
    """Where a document of messages is: its conversation, and what it covers there."""

    id: int
    conversation_id: str
    turn: int
    first_message: int
    last_message: int
