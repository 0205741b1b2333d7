"""Cursor: bubbles in ``globalStorage/state.vscdb``, names and folders in those of workspaces."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

from app.importers.conversations.base import Source, found_file
from app.importers.conversations.databases import journals, opened, value_of
from app.importers.conversations.gathering import Draft, Gatherer, Use
from app.importers.conversations.lines import parsed
from app.importers.conversations.places import Places
from app.importers.conversations.spool import Spool
from app.importers.conversations.values import FoundFile, Header, Losses, ReadConversation
from app.importers.conversations.workspaces import STATE, workspaces

_USER = 1
_BUBBLES = "SELECT key, value FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY key"
_COUNT = (
    "SELECT count(DISTINCT substr(key, 10, instr(substr(key, 10), ':'))) FROM cursorDiskKV"
    " WHERE key >= 'bubbleId:' AND key < 'bubbleId;'"
)


class Cursor(Source):
    """Conversations of Cursor, those without a workspace too."""

    name: ClassVar[str] = "cursor"
    title: ClassVar[str] = "Cursor"
    setting: ClassVar[str] = "sources.cursor"

    @classmethod
    def usual_folder(cls, places: Places) -> Path | None:
        """Return the folder of the user."""
        return places.user_data("Cursor")

    def files(self) -> Iterator[FoundFile]:
        """Yield the one database."""
        path = self.folder / "globalStorage" / STATE
        found = found_file(path, *journals(path))
        if found is not None:
            yield found

    def count(self) -> int:
        """Count the conversations."""
        total = 0
        for found in self.files():
            try:
                with opened(found.path) as connection:
                    total += connection.execute(_COUNT).fetchone()[0]
            except (sqlite3.Error, OSError):
                continue
        return total

    def read(self, found: FoundFile, losses: Losses) -> Iterator[ReadConversation]:
        """Yield all conversations of the database, by id."""
        headers = self._headers()
        try:
            with opened(found.path) as connection, Spool() as spool:
                rows = connection.execute(_BUBBLES, ("bubbleId:", "bubbleId;"))
                for own_id, bubbles in groupby(rows, key=lambda row: str(row[0]).split(":")[1]):
                    gatherer = Gatherer(spool, losses)
                    for key, value in bubbles:
                        _take(gatherer, str(key), value, losses)
                    header = headers.get(own_id, Header(own_id))
                    conversation = gatherer.finish(header)
                    if conversation is not None:
                        yield conversation
                    spool.clear()
        except (sqlite3.Error, OSError):
            losses.broken_lines += 1

    def _headers(self) -> dict[str, Header]:
        headers: dict[str, Header] = {}
        for workspace, folder in workspaces(self.folder):
            for head in _heads(workspace / STATE):
                own_id, name = head.get("composerId"), head.get("name")
                if isinstance(own_id, str):
                    name = name if isinstance(name, str) else None
                    headers[own_id] = Header(own_id, name, folder)
        return headers


def _heads(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    try:
        with opened(path) as connection:
            value = value_of(connection, "ItemTable", "composer.composerData")
    except (sqlite3.Error, OSError):
        return []
    found = parsed(value) if value else None
    heads = found.get("allComposers") if isinstance(found, dict) else None
    return [head for head in heads if isinstance(head, dict)] if isinstance(heads, list) else []


def _take(gatherer: Gatherer, key: str, value: Any, losses: Losses) -> None:
    bubble = parsed(value) if isinstance(value, str | bytes) else None
    if not isinstance(bubble, dict):
        losses.broken_lines += 1
        return
    role = "user" if bubble.get("type") == _USER else "assistant"
    text = bubble.get("text")
    gatherer.add(
        Draft(
            id=key.rpartition(":")[2],
            type=role,
            role=role,
            text=text if isinstance(text, str) else "",
            thinking=_thinking(bubble),
            at=bubble.get("createdAt"),
            has_code=bool(bubble.get("codeBlocks") or bubble.get("suggestedCodeBlocks")),
            uses=_uses(bubble),
        )
    )


def _thinking(bubble: dict[str, Any]) -> str:
    blocks = bubble.get("allThinkingBlocks") or [bubble.get("thinking")]
    parts = []
    for block in blocks if isinstance(blocks, list) else ():
        found = (block.get("thinking") or block.get("text")) if isinstance(block, dict) else block
        if isinstance(found, str):
            parts.append(found)
    return "\n".join(parts)


def _uses(bubble: dict[str, Any]) -> list[Use]:
    found = bubble.get("toolFormerData")
    if isinstance(found, dict) and isinstance(found.get("name"), str):
        given = _unwrapped(found.get("rawArgs") or found.get("params"))
        return [Use(found["name"], given, _output(_unwrapped(found.get("result"))))]
    results = bubble.get("toolResults")
    if not isinstance(results, list):
        return []
    return [
        Use(str(each.get("name") or "tool"), each.get("args"), each.get("result"))
        for each in results
        if isinstance(each, dict)
    ]


def _unwrapped(value: Any) -> Any:
    found = parsed(value) if isinstance(value, str) else value
    return value if found is None else found


def _output(result: Any) -> Any:
    if isinstance(result, dict) and isinstance(result.get("output"), str):
        return result["output"]
    return result
