"""Queries on conversations and their messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, delete, func, insert, or_, select, update

from app.db.columns import read_json
from app.db.models import conversations, messages
from app.db.patterns import contains, starts_with
from app.domain.conversations import (
    HIDDEN_SOURCES,
    Conversation,
    ConversationQuery,
    Message,
    ToolUse,
)
from app.domain.page import Page

_ADD = insert(conversations)
_CONVERSATION = select(*(conversations.c[field.name] for field in fields(Conversation)))


def page(connection: Connection, query: ConversationQuery) -> Page[Conversation]:
    """Return one page of the listed conversations, last active first."""
    conditions = _conditions(query)
    total = connection.execute(
        select(func.count()).select_from(conversations).where(*conditions)
    ).scalar_one()
    rows = connection.execute(
        _CONVERSATION.where(*conditions)
        .order_by(conversations.c.last_message_at.desc(), conversations.c.id)
        .offset(query.offset)
        .limit(query.limit)
    )
    items = tuple(Conversation(*row) for row in rows)
    return Page(items, total, query.offset, query.limit)


def _conditions(query: ConversationQuery) -> list[ColumnElement[bool]]:
    columns = conversations.c
    conditions: list[ColumnElement[bool]] = [columns.source.not_in(HIDDEN_SOURCES)]
    if query.source:
        conditions.append(columns.source == query.source)
    if query.status:
        conditions.append(columns.status == query.status)
    if query.project:
        conditions.append(contains(columns.project_name, query.project, literal=False))
    if query.search:
        conditions.append(
            or_(
                contains(columns.slug, query.search, literal=False),
                contains(columns.project_name, query.search, literal=False),
            )
        )
    return conditions


def get(connection: Connection, conversation_id: str) -> Conversation | None:
    """Return one conversation, whatever its source."""
    row = connection.execute(
        _CONVERSATION.where(conversations.c.id == conversation_id)
    ).one_or_none()
    return Conversation(*row) if row else None


def all_begin_with(connection: Connection, prefix: str) -> bool:
    """Tell whether there are conversations and every id begins with exactly this text."""
    begins = starts_with(conversations.c.id, prefix)
    row = connection.execute(
        select(func.count(), func.count().filter(begins)).select_from(conversations)
    ).one()
    return 0 < row[0] == row[1]


def messages_of(connection: Connection, conversation_id: str) -> tuple[Message, ...]:
    """Return the messages of a conversation in their order."""
    rows = connection.execute(
        select(messages)
        .where(messages.c.conversation_id == conversation_id)
        .order_by(messages.c.sort_order, messages.c.id)
    )
    return tuple(message_of(row) for row in rows)


def message_of(row: Any) -> Message:
    """Return a row of the table of messages as a value."""
    return Message(**{**row._mapping, "tools": _tools(row.tools)})


def statement() -> Select[Any]:
    """Return the statement whose rows are conversations, to be narrowed."""
    return _CONVERSATION


def _tools(text: str | None) -> tuple[ToolUse, ...]:
    return tuple(ToolUse(**each) for each in read_json(text)) if text else ()


def ids_of_external(connection: Connection, external_ids: Iterable[str]) -> dict[str, str]:
    """Return the conversation ids of external ids; unknown ones are absent."""
    columns = conversations.c
    rows = connection.execute(
        select(columns.external_id, columns.id).where(columns.external_id.in_(list(external_ids)))
    )
    return {row[0]: row[1] for row in rows}


def add(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store conversations; every row names the same columns."""
    if rows:
        connection.execute(_ADD, list(rows))


def change(connection: Connection, conversation_id: str, values: Mapping[str, Any]) -> None:
    """Replace columns of a conversation."""
    connection.execute(
        update(conversations).where(conversations.c.id == conversation_id).values(**values)
    )


def add_messages(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store messages; every row names the same columns."""
    if rows:
        connection.execute(insert(messages), list(rows))


def remove(connection: Connection, conversation_id: str) -> bool:
    """Delete a conversation with its messages and note; tell whether it was there."""
    result = connection.execute(delete(conversations).where(conversations.c.id == conversation_id))
    return result.rowcount > 0


def known_ids(connection: Connection, conversation_ids: Iterable[str]) -> set[str]:
    """Return which of these are ids of conversations."""
    column = conversations.c.id
    return set(
        connection.execute(select(column).where(column.in_(list(conversation_ids)))).scalars()
    )


def known_message_ids(connection: Connection, message_ids: Iterable[str]) -> set[str]:
    """Return which of these are ids of messages."""
    column = messages.c.id
    return set(connection.execute(select(column).where(column.in_(list(message_ids)))).scalars())


def sources(connection: Connection) -> tuple[tuple[str, int], ...]:
    """Return the listed sources with the number of their conversations, by name."""
    rows = connection.execute(
        select(conversations.c.source, func.count())
        .where(conversations.c.source.not_in(HIDDEN_SOURCES))
        .group_by(conversations.c.source)
        .order_by(conversations.c.source)
    )
    return tuple((row[0], row[1]) for row in rows)


def remove_messages(connection: Connection, conversation_id: str) -> None:
    """Delete the messages of a conversation."""
    connection.execute(delete(messages).where(messages.c.conversation_id == conversation_id))


def digest(connection: Connection, conversation_id: str) -> tuple[str, str | None] | None:
    """Return the source of a conversation and the digest of what was read, None if unknown."""
    columns = conversations.c
    row = connection.execute(
        select(columns.source, columns.content_digest).where(columns.id == conversation_id)
    ).one_or_none()
    return (row[0], row[1]) if row else None


def some_messages(
    connection: Connection, conversation_id: str, first: int, last: int
) -> tuple[Message, ...]:
    """Return the messages of a conversation from one place in their order to another."""
    rows = connection.execute(
        select(messages)
        .where(messages.c.conversation_id == conversation_id)
        .order_by(messages.c.sort_order, messages.c.id)
        .offset(first)
        .limit(last - first + 1)
    )
    return tuple(message_of(row) for row in rows)
