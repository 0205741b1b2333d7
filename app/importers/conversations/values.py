"""What readers give: files that were found, and conversations with their messages.

Owns plain values only, so that they can cross layers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from app.domain.conversations import ToolUse

TYPE_USER = "user"
TYPE_ASSISTANT = "assistant"
TYPE_SIDECHAIN = "sidechain"
"""What agents said among themselves, and what a tool wrote in the name of the user."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of a tool; while ``state`` is the same, its content is taken to be the same.

    ``modified`` is when it last changed, in UTC as ISO 8601 text; ``size`` is in bytes.
    """

    path: Path
    state: str
    size: int
    modified: str


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """One message, with secrets masked; ``id`` is the tool's own within its conversation."""

    id: str
    parent_id: str | None
    type: str
    role: str
    content: str
    thinking: str | None
    tools: tuple[ToolUse, ...]
    has_code: bool
    timestamp: str


@dataclass(frozen=True, slots=True)
class Header:
    """What a conversation is, apart from what was said; ``folder`` may be unknown."""

    id: str
    name: str | None = None
    folder: str = ""
    branch: str | None = None
    project: str | None = None


@dataclass(frozen=True, slots=True)
class ReadConversation:
    """One conversation; its messages can be read while the reader stands at it.

    ``digest`` is of all that was read: equal ones have equal messages.
    """

    header: Header
    messages: Iterable[ReadMessage]
    count: int
    first_at: str
    last_at: str
    digest: str


@dataclass(slots=True)
class Losses:
    """What a reader had to leave out or make unreadable, in numbers."""

    broken_lines: int = 0
    masked_secrets: int = 0
