"""Queries on where conversations stand on their way to notes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, case, func, null, select, update

from app.db import conversations as conversation_queries
from app.db.columns import now
from app.db.models import conversations, messages
from app.domain.conversations import HIDDEN_SOURCES, Conversation, Message
from app.domain.distilling import AWAITING, ERROR, FILTERED, IMPORTED, Standing
from app.domain.page import Page
from app.errors import ConversationNotFound

_COLUMNS = conversations.c
_STANDING = select(
    _COLUMNS.id,
    _COLUMNS.slug,
    _COLUMNS.source,
    _COLUMNS.project_dir,
    _COLUMNS.project_name,
    _COLUMNS.cwd,
    _COLUMNS.status,
    _COLUMNS.message_count,
    _COLUMNS.last_message_at,
    _COLUMNS.gate_override,
    _COLUMNS.distilled_digest,
)
LONGEST_TEXT = 40_000
"""Characters of a message that distilling reads; pastes may be hundreds of megabytes."""

LONGEST_TOOLS = 1_000_000
"""Characters of what a message's tools were given and answered; with more they are left out."""

_BOUNDED = {
    "content": func.substr(messages.c.content, 1, LONGEST_TEXT),
    "thinking": null(),
    "tools": case((func.length(messages.c.tools) <= LONGEST_TOOLS, messages.c.tools)),
}
_MESSAGES = select(
    *(_BOUNDED.get(column.name, column).label(column.name) for column in messages.c)
).order_by(messages.c.conversation_id, messages.c.sort_order, messages.c.id)
_UNREVIEWED = (
    _COLUMNS.status == FILTERED,
    _COLUMNS.gate_override.is_(None),
    _COLUMNS.source.not_in(HIDDEN_SOURCES),
)


def standings(connection: Connection, ids: Iterable[str]) -> dict[str, Standing]:
    """Return where conversations stand, by id; unknown ones and those of notes are absent."""
    rows = connection.execute(
        _STANDING.where(_COLUMNS.id.in_(list(ids)), _COLUMNS.source.not_in(HIDDEN_SOURCES))
    )
    return {row[0]: Standing(*row) for row in rows}


def existing(connection: Connection, conversation_id: str) -> Standing:
    """Return where a conversation stands.

    Raises:
        ConversationNotFound: there is none, or it only stands for a note.
    """
    standing = standings(connection, [conversation_id]).get(conversation_id)
    if standing is None:
        raise ConversationNotFound
    return standing


def awaiting(connection: Connection) -> dict[str, str]:
    """Return id and title of the conversations that a batch takes, oldest first."""
    rows = connection.execute(
        select(_COLUMNS.id, _COLUMNS.slug, _COLUMNS.project_name)
        .where(_COLUMNS.status.in_(AWAITING), _COLUMNS.source.not_in(HIDDEN_SOURCES))
        .order_by(_COLUMNS.last_message_at, _COLUMNS.id)
    )
    return {row[0]: title_of(*row) for row in rows}


def title_of(conversation_id: str, slug: str | None, project_name: str) -> str:
    """Return what a list of work calls a conversation, as the original does."""
    return f"{project_name} / {slug or conversation_id[:8]}"


def messages_of(connection: Connection, ids: Iterable[str]) -> dict[str, list[Message]]:
    """Return the messages of conversations, in their order, as far as distilling reads them."""
    found: defaultdict[str, list[Message]] = defaultdict(list)
    for row in connection.execute(_MESSAGES.where(messages.c.conversation_id.in_(list(ids)))):
        found[row.conversation_id].append(conversation_queries.message_of(row))
    return found


def change(connection: Connection, conversation_id: str, values: Mapping[str, Any]) -> None:
    """Replace columns of a conversation."""
    conversation_queries.change(connection, conversation_id, {**values, "updated_at": now()})


def reset_errors(connection: Connection) -> int:
    """Let conversations whose distilling failed wait for it again; return how many."""
    result = connection.execute(
        update(conversations).where(_COLUMNS.status == ERROR).values(status=IMPORTED)
    )
    return result.rowcount


def unreviewed(connection: Connection, offset: int, limit: int) -> Page[Conversation]:
    """Return one page of what the gate left out and nobody looked at, nearest to passing first."""
    total = connection.execute(
        select(func.count()).select_from(conversations).where(*_UNREVIEWED)
    ).scalar_one()
    rows = connection.execute(
        conversation_queries.statement()
        .where(*_UNREVIEWED)
        .order_by(func.coalesce(_COLUMNS.experience_score, 0.0).desc(), _COLUMNS.id)
        .offset(offset)
        .limit(limit)
    )
    return Page(tuple(Conversation(*row) for row in rows), total, offset, limit)
