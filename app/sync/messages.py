"""The documents in which messages are found, written in the transaction that writes the messages.

Owns how a conversation is cut into documents, and which of its texts can be found: what was said,
and what tools were given and answered; not what a model thought.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from sqlalchemy import Connection

from app.db import conversations, message_documents
from app.domain.conversations import ToolUse, begins_turn
from app.domain.words import MessageDocument
from app.lexical.documents import CONTENT, postings_of

LONGEST_STRETCH = 8_000
"""Characters of a document, unless one message has more."""

SEARCHED_TOOL_TEXT = 2_000
"""Characters of what a tool was given, and answered, that can be found: half from each end."""


class Said(Protocol):
    """A message: what documents are made of."""

    @property
    def type(self) -> str:
        """``user``, ``assistant`` or ``sidechain``."""

    @property
    def content(self) -> str:
        """What was said."""

    @property
    def tools(self) -> tuple[ToolUse, ...]:
        """The tools that were used."""


def documents_of(messages: Iterable[Said]) -> Iterator[MessageDocument]:
    """Yield the documents of messages that come in their order, numbered from 0."""
    stretch = _Stretch(turn=1, first=0)
    turns = 0
    for number, message in enumerate(messages):
        begins = begins_turn(message.type, message.content)
        turns += begins
        parts = texts_of(message)
        size = sum(map(len, parts))
        is_full = stretch.size and stretch.size + size > LONGEST_STRETCH
        if number and ((begins and turns > 1) or is_full):
            yield stretch.document()
            stretch = _Stretch(turn=max(turns, 1), first=number)
        stretch.take(number, parts, size)
    if stretch.last >= 0:
        yield stretch.document()


def texts_of(message: Said) -> list[str]:
    """Return the texts of a message that can be found."""
    texts = [message.content]
    for use in message.tools:
        texts += [use.name, *_ends(use.input), *_ends(use.output)]
    return [text for text in texts if text]


def _ends(text: str) -> tuple[str, ...]:
    if len(text) <= SEARCHED_TOOL_TEXT:
        return (text,)
    half = SEARCHED_TOOL_TEXT // 2
    return text[:half], text[-half:]


class _Stretch:
    def __init__(self, turn: int, first: int) -> None:
        self.size = 0
        self.last = -1
        self._turn, self._first = turn, first
        self._texts: list[str] = []

    def take(self, number: int, texts: list[str], size: int) -> None:
        self.last = number
        self.size += size
        self._texts += texts

    def document(self) -> MessageDocument:
        postings = postings_of({CONTENT: self._texts})
        return MessageDocument(self._turn, self._first, self.last, postings)


def rewrite(connection: Connection, conversation_id: str) -> tuple[list[int], list[int]]:
    """Write the documents of a conversation anew; return the ids of the removed and the added."""
    removed = message_documents.remove(connection, conversation_id)
    documents = list(documents_of(conversations.messages_of(connection, conversation_id)))
    added = message_documents.add(connection, conversation_id, documents)
    return list(removed), list(added)
