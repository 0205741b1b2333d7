"""Conversations with AI coding tools and their messages, as stored."""

from __future__ import annotations

from dataclasses import dataclass

MEMORY_SOURCE = "chatcrystal-memory"
"""Source of conversations that stand for notes which agents wrote back."""

MARKDOWN_SOURCE = "markdown"
"""Source of conversations that stand for notes which are files of a folder."""

OWN_CONVERSATION_SOURCES = ("manual", MARKDOWN_SOURCE)
"""Sources of conversations that exist only so that a note without one has one."""

HIDDEN_SOURCES = (MEMORY_SOURCE, *OWN_CONVERSATION_SOURCES)
"""Sources that the list of conversations leaves out."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation; times are ISO 8601 text as the tool wrote them."""

    id: str
    slug: str | None
    source: str
    project_dir: str
    project_name: str
    cwd: str | None
    git_branch: str | None
    message_count: int
    first_message_at: str
    last_message_at: str
    file_path: str
    file_size: int | None
    file_mtime: str | None
    status: str
    experience_score: float | None
    experience_gate_reason: str | None
    experience_gate_details: str | None
    created_at: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that an assistant used: its name, what it was given, and what came of it."""

    name: str
    input: str
    output: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation; the two flags are 0 or 1, as the original answers them.

    ``type`` is ``user``, ``assistant``, or ``sidechain`` for what agents said among themselves.
    """

    id: str
    conversation_id: str
    parent_uuid: str | None
    type: str
    role: str | None
    content: str
    has_tool_use: int
    has_code: int
    thinking: str | None
    timestamp: str
    sort_order: int
    tools: tuple[ToolUse, ...] = ()


def begins_turn(type: str, content: str) -> bool:
    """Tell whether a message is a request of a person, with which a turn begins."""
    return type == "user" and bool(content)


@dataclass(frozen=True, slots=True)
class MessageQuery:
    """What a search in messages is asked for; ``since`` is the last activity of a conversation."""

    query: str
    limit: int = 10
    project: str | None = None
    source: str | None = None
    since: str | None = None


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """A turn of a conversation in which words were found.

    ``turn`` counts from 1. ``extents`` are the words of the query in ``text``, start and end
    (exclusive) in code points; the text is of the message ``message_id``.
    """

    conversation_id: str
    turn: int
    message_id: str
    role: str | None
    timestamp: str
    score: float
    text: str
    extents: tuple[tuple[int, int], ...]
    source: str
    project_name: str
    slug: str | None
    note_id: int | None


@dataclass(frozen=True, slots=True)
class ConversationQuery:
    """What a list of conversations is asked for."""

    source: str | None = None
    project: str | None = None
    status: str | None = None
    search: str | None = None
    offset: int = 0
    limit: int = 50
