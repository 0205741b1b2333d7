"""Trae: the sessions of a workspace in one row of its ``state.vscdb``."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from app.importers.conversations.base import Source, found_file
from app.importers.conversations.databases import journals, opened, value_of
from app.importers.conversations.gathering import Draft, Gatherer, Use
from app.importers.conversations.lines import parsed
from app.importers.conversations.places import Places
from app.importers.conversations.spool import Spool
from app.importers.conversations.values import FoundFile, Header, Losses, ReadConversation
from app.importers.conversations.workspaces import STATE, folder_of, workspaces

_ROW = "memento/icube-ai-agent-storage"
_FINISH = "finish"
"""The step of a plan whose thought is the answer."""


class Trae(Source):
    """Sessions of Trae's agents."""

    name: ClassVar[str] = "trae"
    title: ClassVar[str] = "Trae"
    setting: ClassVar[str] = "sources.trae"

    @classmethod
    def usual_folder(cls, places: Places) -> Path | None:
        """Return the folder of the user."""
        return places.user_data("Trae")

    def files(self) -> Iterator[FoundFile]:
        """Yield the databases of workspaces."""
        for workspace, _ in workspaces(self.folder):
            path = workspace / STATE
            found = found_file(path, *journals(path))
            if found is not None:
                yield found

    def count(self) -> int:
        """Count the sessions."""
        return sum(len(_sessions(found.path, Losses())) for found in self.files())

    def read(self, found: FoundFile, losses: Losses) -> Iterator[ReadConversation]:
        """Yield the sessions of a workspace in their order."""
        folder = folder_of(found.path.parent)
        with Spool() as spool:
            for session in _sessions(found.path, losses):
                own_id = session.get("sessionId")
                if not isinstance(own_id, str) or not own_id:
                    losses.broken_lines += 1
                    continue
                gatherer = Gatherer(spool, losses)
                _take(gatherer, session)
                conversation = gatherer.finish(Header(own_id, folder=folder))
                if conversation is not None:
                    yield conversation
                spool.clear()


def _sessions(path: Path, losses: Losses) -> list[dict[str, Any]]:
    try:
        with opened(path) as connection:
            value = value_of(connection, "ItemTable", _ROW)
    except (sqlite3.Error, OSError):
        losses.broken_lines += 1
        return []
    found = parsed(value) if value else {"list": []}
    listed = found.get("list") if isinstance(found, dict) else None
    if not isinstance(listed, list):
        losses.broken_lines += 1
        return []
    return [each for each in listed if isinstance(each, dict)]


def _take(gatherer: Gatherer, session: dict[str, Any]) -> None:
    messages = session.get("messages")
    at = session.get("createdAt")
    for number, message in enumerate(messages if isinstance(messages, list) else ()):
        if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
            continue
        role, own_at = message["role"], message.get("timestamp")
        # Answers may carry a time before their question's; their place in the list is right.
        if isinstance(own_at, int | float) and isinstance(at, int | float):
            at = max(at, own_at)
        else:
            at = own_at or at
        text = message.get("content")
        draft = Draft(
            id=_id(message, number),
            type=role,
            role=role,
            text=text if isinstance(text, str) else "",
            at=at,
        )
        if role == "assistant":
            _take_task(draft, message.get("agentTaskContent"))
        gatherer.add(draft)


def _id(message: dict[str, Any], number: int) -> str:
    own = message.get("agentMessageId")
    if isinstance(own, str) and own:
        return own
    turn = message.get("turnIndex")
    return f"{message['role']}-{turn if isinstance(turn, int) else number}"


def _take_task(draft: Draft, task: Any) -> None:
    if not isinstance(task, dict):
        return
    guideline = task.get("guideline")
    guideline = guideline if isinstance(guideline, dict) else {}
    items = guideline.get("planItems")
    texts = [task.get("proposal")]
    thoughts = [task.get("proposalReasoningContent")]
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, dict):
            continue
        thoughts.append(item.get("reasoningContent"))
        name = item.get("toolName")
        if name == _FINISH:
            texts.append(item.get("thought"))
        elif isinstance(name, str) and not item.get("reasoningContent"):
            draft.uses.append(Use(name, item.get("params"), item.get("result")))
    said = [text for text in texts if isinstance(text, str) and text]
    if not draft.text.strip():
        draft.text = "\n\n".join(said) or str(guideline.get("thought") or "")
    draft.thinking = "\n".join(text for text in thoughts if isinstance(text, str) and text)
