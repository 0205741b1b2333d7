"""Conversations as imports leave them: stored, not distilled."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import text

from app.db import conversations
from app.factory import Application
from tests.distill.talks import Said


def put(
    application: Application,
    id_: str,
    said: Iterable[Said],
    *,
    name: str | None = None,
    project: str = "/home/dev/shop",
    at: str = "2026-02-01T10:00:00Z",
    source: str = "claude-code",
) -> str:
    """Store a conversation, or replace the messages of one that grew; return its id."""
    with application.database.write() as connection:
        connection.execute(text("DELETE FROM messages WHERE conversation_id = :id"), {"id": id_})
        rows = list(_messages(id_, said, at))
        columns: dict[str, Any] = {"status": "imported", "message_count": len(rows)}
        if conversations.get(connection, id_) is None:
            columns |= {
                "id": id_, "slug": name, "source": source, "project_dir": project, "cwd": project,
                "project_name": project.rpartition("/")[2], "first_message_at": at,
                "last_message_at": at, "file_path": "", "created_at": at, "updated_at": at,
            }  # fmt: skip
            conversations.add(connection, [columns])
        else:
            conversations.change(connection, id_, columns)
        conversations.add_messages(connection, rows)
    return id_


def _messages(id_: str, said: Iterable[Said], at: str) -> Iterable[dict[str, Any]]:
    for number, (role, content) in enumerate(said):
        tool = {"edit": "Edit", "run": "Bash"}.get(role)
        uses = [{"name": tool, "input": content, "output": ""}] if tool else None
        yield {
            "id": f"{id_}:{number}",
            "conversation_id": id_,
            "type": "assistant" if tool else role,
            "role": "assistant" if tool else role,
            "content": "" if tool else content,
            "timestamp": at,
            "sort_order": number,
            "tools": json.dumps(uses) if uses else None,
        }


def standing(application: Application, id_: str) -> Any:
    """A conversation as it is stored."""
    with application.database.read() as connection:
        found = conversations.get(connection, id_)
    assert found is not None
    return found
