"""A conversation that was read, as rows of the database.

Owns the columns. Nothing depends on the clock: the same file gives the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.db.columns import write_json
from app.importers.conversations.base import last_part
from app.importers.conversations.values import FoundFile, ReadConversation, ReadMessage

STATUS_IMPORTED = "imported"
"""Waits to be distilled."""

UNKNOWN_PROJECT = ""
_LARGEST_SIZE = 2**31 - 1
_MINUTE = len("YYYY-MM-DDTHH:MM:SS")

Row = Mapping[str, Any]


def conversation_row(
    read: ReadConversation, conversation_id: str, source: str, found: FoundFile
) -> Row:
    """Return the columns of a conversation."""
    header = read.header
    return {
        "id": conversation_id,
        "slug": header.name,
        "source": source,
        "project_dir": header.folder,
        "project_name": project_of(read),
        "cwd": header.folder or None,
        "git_branch": header.branch,
        "message_count": read.count,
        "first_message_at": read.first_at,
        "last_message_at": read.last_at,
        "file_path": str(found.path),
        "file_size": min(found.size, _LARGEST_SIZE),
        "file_mtime": found.modified,
        "status": STATUS_IMPORTED,
        "created_at": _second(read.first_at),
        "updated_at": _second(read.last_at),
        "content_digest": read.digest,
    }


def project_of(read: ReadConversation) -> str:
    """Return the name of the project: what the tool calls it, else the last part of its folder."""
    return read.header.project or last_part(read.header.folder) or UNKNOWN_PROJECT


def _second(instant: str) -> str:
    return instant[:_MINUTE].replace("T", " ")


def message_rows(read: ReadConversation, conversation_id: str) -> Iterator[Row]:
    """Yield the columns of the messages; an id is the tool's own behind the conversation's."""
    for number, message in enumerate(read.messages):
        yield _message_row(message, conversation_id, number)


def _message_row(message: ReadMessage, conversation_id: str, number: int) -> Row:
    tools = [{"name": use.name, "input": use.input, "output": use.output} for use in message.tools]
    parent = message.parent_id
    return {
        "id": f"{conversation_id}:{message.id}",
        "conversation_id": conversation_id,
        "parent_uuid": f"{conversation_id}:{parent}" if parent else None,
        "type": message.type,
        "role": message.role,
        "content": message.content,
        "has_tool_use": int(bool(tools)),
        "has_code": int(message.has_code),
        "thinking": message.thinking,
        "timestamp": message.timestamp,
        "sort_order": number,
        "tools": write_json(tools) if tools else None,
    }
