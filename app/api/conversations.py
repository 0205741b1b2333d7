"""Routes of conversations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from app.api import shapes
from app.api.common import OFFSET
from app.api.envelope import Reply
from app.api.parameters import text, whole
from app.api.routing import Route
from app.api.services import services
from app.db import conversations
from app.domain.conversations import ConversationQuery
from app.errors import ConversationNotFound

LIST = (
    text("source", "Only conversations with this tool."),
    text("project", "Only projects whose name holds this text, by SQL LIKE."),
    text("status", "Only conversations with this status."),
    text("search", "Text in the slug or project name, by SQL LIKE."),
    OFFSET,
    whole("limit", "How many conversations to return.", 50, 100),
)


def list_conversations(given: Mapping[str, Any]) -> Any:
    """List conversations, last active first."""
    with services().database.read() as connection:
        found = conversations.page(connection, ConversationQuery(**given))
    return shapes.page(found, shapes.conversation)


def get_conversation(conversation_id: str) -> Any:
    """Show a conversation with its messages."""
    with services().database.read() as connection:
        found = conversations.get(connection, conversation_id)
        messages = conversations.messages_of(connection, conversation_id)
    if found is None:
        raise ConversationNotFound
    return shapes.conversation(found) | {"messages": [asdict(message) for message in messages]}


def delete_conversation(conversation_id: str) -> Any:
    """Delete a conversation with its messages and its note."""
    services().writer.delete_conversation(conversation_id)
    return Reply()


ROUTES = (
    Route("GET", "/api/conversations", list_conversations, LIST),
    Route("GET", "/api/conversations/<text:conversation_id>", get_conversation),
    Route("DELETE", "/api/conversations/<text:conversation_id>", delete_conversation),
)
