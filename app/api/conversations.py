"""Routes of conversations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import accumulate
from typing import Any

from app.api import answers, rendering, shapes
from app.api.common import OFFSET
from app.api.envelope import Reply
from app.api.parameters import boolean, moment, query, text, whole
from app.api.routing import Route
from app.api.services import services
from app.db import conversations
from app.domain.conversations import ConversationQuery, Message, MessageQuery, begins_turn
from app.errors import ConversationNotFound, MissingQuery
from app.text import is_blank

SEARCH = (
    query("q", "What to search for."),
    whole("limit", "How many turns to return.", 10, 50),
    text("project", "Only projects whose name holds this text."),
    text("source", "Only conversations with this tool."),
    moment("since", "Only conversations last active at or after"),
)
GET = (boolean("render", "Add `html` to each message: its text, safe to show."),)
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


def get_conversation(conversation_id: str, given: Mapping[str, Any]) -> Any:
    """Show a conversation with its messages."""
    with services().database.read() as connection:
        found = conversations.get(connection, conversation_id)
        messages = conversations.messages_of(connection, conversation_id)
    if found is None:
        raise ConversationNotFound
    begins = (int(begins_turn(message.type, message.content)) for message in messages)
    listed = [
        _message(message, max(turn, 1), render=given["render"])
        for message, turn in zip(messages, accumulate(begins), strict=True)
    ]
    return shapes.conversation(found) | {"messages": listed}


def _message(message: Message, turn: int, *, render: bool) -> dict[str, Any]:
    shape = asdict(message) | {"turn": turn}
    return shape | {"html": rendering.to_html(message.content)} if render else shape


def search_messages(given: Mapping[str, Any]) -> Any:
    """Search what was said in conversations by its words, turn by turn.

    What a model thought is not searched. An extent is the start and end (exclusive) of a word of
    the query in the passage, in code points.
    """
    sought = given["q"] or ""
    if is_blank(sought):
        raise MissingQuery
    since = given["since"]
    found = services().messages.search(
        MessageQuery(
            query=sought,
            limit=given["limit"],
            project=given["project"],
            source=given["source"],
            since=since.replace(" ", "T") if since else None,
        )
    )
    return [shapes.found_turn(turn) for turn in found]


def delete_conversation(conversation_id: str) -> Any:
    """Delete a conversation with its messages and its note."""
    services().writer.delete_conversation(conversation_id)
    return Reply()


ROUTES = (
    Route("GET", "/api/search/messages", search_messages, SEARCH, answer=answers.FOUND_TURNS),
    Route("GET", "/api/conversations", list_conversations, LIST, answer=answers.CONVERSATIONS),
    Route(
        "GET",
        "/api/conversations/<text:conversation_id>",
        get_conversation,
        GET,
        answer=answers.CONVERSATION,
    ),
    Route("DELETE", "/api/conversations/<text:conversation_id>", delete_conversation),
)
