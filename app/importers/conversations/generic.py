"""The generic form: JSON Lines of ``{conversation_id, role, content, timestamp, project?}``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from app.importers.conversations.base import Source, found_files
from app.importers.conversations.gathering import Draft, Gatherer, Use
from app.importers.conversations.lines import objects
from app.importers.conversations.places import Places
from app.importers.conversations.spool import Spool
from app.importers.conversations.values import FoundFile, Header, Losses, ReadConversation

_ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "thinking": "assistant",
    "tool": "assistant",
}


class Generic(Source):
    """Conversations of any tool, written in the generic form; has no usual folder."""

    name: ClassVar[str] = "generic"
    title: ClassVar[str] = "JSON Lines"
    setting: ClassVar[str] = "sources.generic"

    @classmethod
    def usual_folder(cls, places: Places) -> Path | None:
        """Return None: nobody knows where such files are until a setting says so."""
        return None

    def files(self) -> Iterator[FoundFile]:
        """Yield the one file, or those of a folder and below it."""
        if self.folder.is_file():
            return found_files([self.folder])
        return found_files(self.folder.rglob("*.jsonl"))

    def read(self, found: FoundFile, losses: Losses) -> Iterator[ReadConversation]:
        """Yield the conversations of a file in the order in which they begin."""
        with Spool() as spool:
            gatherers: dict[str, Gatherer] = {}
            headers: dict[str, Header] = {}
            for record in objects(found.path, losses):
                own_id, role = record.get("conversation_id"), record.get("role")
                if not isinstance(own_id, str) or not own_id or role not in _ROLES:
                    losses.broken_lines += 1
                    continue
                headers[own_id] = _header(headers.get(own_id, Header(own_id)), record)
                gatherer = gatherers.setdefault(own_id, Gatherer(spool, losses))
                gatherer.add(_draft(record, role, gatherer.count))
            for own_id, gatherer in gatherers.items():
                conversation = gatherer.finish(headers[own_id])
                if conversation is not None:
                    yield conversation


def _header(header: Header, record: dict[str, Any]) -> Header:
    project, name = record.get("project"), record.get("title")
    if isinstance(project, str) and project and not header.folder:
        header = replace(header, folder=project)
    if isinstance(name, str) and name and not header.name:
        header = replace(header, name=name)
    return header


def _draft(record: dict[str, Any], role: str, number: int) -> Draft:
    text, own_id = record.get("content"), record.get("id")
    text = text if isinstance(text, str) else ""
    draft = Draft(
        id=own_id if isinstance(own_id, str) and own_id else f"m{number}",
        type=_ROLES[role],
        role=_ROLES[role],
        at=record.get("timestamp"),
    )
    if role == "thinking":
        draft.thinking = text
    elif role == "tool":
        name = record.get("name")
        draft.uses = [Use(name if isinstance(name, str) else "tool", record.get("input"), text)]
    else:
        draft.text = text
    return draft
