"""Conversations with AI coding tools and their messages, as stored."""

from __future__ import annotations

from dataclasses import dataclass

MEMORY_SOURCE = "chatcrystal-memory"
"""Source of conversations that stand for notes which agents wrote back."""

OWN_CONVERSATION_SOURCES = ("manual", "markdown")
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
class Message:
    """One message of a conversation; the two flags are 0 or 1, as the original answers them."""

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


@dataclass(frozen=True, slots=True)
class ConversationQuery:
    """What a list of conversations is asked for."""

    source: str | None = None
    project: str | None = None
    status: str | None = None
    search: str | None = None
    offset: int = 0
    limit: int = 50
