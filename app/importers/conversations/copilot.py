"""GitHub Copilot in VS Code: ``chatSessions/*.json`` and ``*.jsonl`` of workspaces and windows.

Owns the form of a session, and how the changes of a ``.jsonl`` file are applied to its first line.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from app.importers.conversations.base import Source, found_files
from app.importers.conversations.changes import replayed
from app.importers.conversations.gathering import Draft, Gatherer, Use
from app.importers.conversations.lines import objects, parsed
from app.importers.conversations.places import Places
from app.importers.conversations.spool import Spool
from app.importers.conversations.values import FoundFile, Header, Losses, ReadConversation
from app.importers.conversations.workspaces import folder_of, workspaces

LARGEST_DOCUMENT = 128 * 1024 * 1024
"""Bytes of a session that is one JSON document; a larger one is counted as broken."""

_TOOL_KINDS = ("toolInvocationSerialized", "toolInvocation")
_TEXT_KINDS = (None, "text", "markdownContent")


class Copilot(Source):
    """Chats with GitHub Copilot."""

    name: ClassVar[str] = "copilot"
    title: ClassVar[str] = "GitHub Copilot"
    setting: ClassVar[str] = "sources.copilot"

    @classmethod
    def usual_folder(cls, places: Places) -> Path | None:
        """Return the folder of the user."""
        return places.user_data("Code")

    def files(self) -> Iterator[FoundFile]:
        """Yield the sessions of windows without a folder, then those of workspaces."""
        yield from _sessions(self.folder / "globalStorage" / "emptyWindowChatSessions")
        for workspace, _ in workspaces(self.folder):
            yield from _sessions(workspace / "chatSessions")

    def read(self, found: FoundFile, losses: Losses) -> Iterator[ReadConversation]:
        """Yield the one session of a file."""
        session = _session(found, losses)
        own_id, name = session.get("sessionId"), session.get("customTitle")
        with Spool() as spool:
            gatherer = Gatherer(spool, losses)
            requests = session.get("requests")
            for number, request in enumerate(requests if isinstance(requests, list) else ()):
                if isinstance(request, dict):
                    _take(gatherer, request, number)
            header = Header(
                id=own_id if isinstance(own_id, str) and own_id else found.path.stem,
                name=name if isinstance(name, str) else None,
                folder=folder_of(found.path.parent.parent),
            )
            conversation = gatherer.finish(header)
            if conversation is not None:
                yield conversation


def _sessions(folder: Path) -> Iterator[FoundFile]:
    return found_files([*folder.glob("*.json"), *folder.glob("*.jsonl")])


def _session(found: FoundFile, losses: Losses) -> dict[str, Any]:
    if found.path.suffix == ".jsonl":
        return replayed(objects(found.path, losses))
    try:
        is_small = found.path.stat().st_size <= LARGEST_DOCUMENT
        document = parsed(found.path.read_bytes()) if is_small else None
    except OSError:
        document = None
    if not isinstance(document, dict):
        losses.broken_lines += 1
        return {}
    return document


def _take(gatherer: Gatherer, request: dict[str, Any], number: int) -> None:
    own_id = request.get("requestId")
    own_id = own_id if isinstance(own_id, str) and own_id else f"request-{number}"
    at, message = request.get("timestamp"), request.get("message")
    text = message.get("text") if isinstance(message, dict) else message
    asked = Draft(own_id, "user", "user", text if isinstance(text, str) else "", at=at)
    gatherer.add(asked)
    answered = Draft(f"{own_id}-answer", "assistant", "assistant", at=_later(at), parent=own_id)
    response = request.get("response")
    texts: list[str] = []
    thoughts: list[str] = []
    for item in response if isinstance(response, list) else ():
        if not isinstance(item, dict):
            continue
        kind, value = item.get("kind"), _value(item.get("value"))
        if kind in _TEXT_KINDS:
            texts.append(value)
        elif kind == "thinking":
            thoughts.append(value)
        elif kind == "inlineReference":
            texts.append(_value(item.get("name")))
        elif kind in _TOOL_KINDS:
            answered.uses.append(_use(item))
    answered.text = "\n\n".join(filter(None, texts))
    answered.thinking = "\n".join(filter(None, thoughts))
    gatherer.add(answered)


def _later(at: Any) -> Any:
    """Return when a request was answered: a moment after it was made."""
    return at + 1 if isinstance(at, int | float) and not isinstance(at, bool) else at


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(filter(None, map(_value, value)))
    found = value.get("value") if isinstance(value, dict) else value
    return found if isinstance(found, str) else ""


def _use(item: dict[str, Any]) -> Use:
    details, data = item.get("resultDetails"), item.get("toolSpecificData")
    said = _value(item.get("pastTenseMessage")) or _value(item.get("invocationMessage"))
    given: Any = said
    answer: Any = ""
    if isinstance(details, dict):
        raw = details.get("input")
        given = (parsed(raw) or raw) if isinstance(raw, str) else said
        output = details.get("output")
        answer = _value(output) if isinstance(output, list | dict) else output
    elif isinstance(data, dict) and data.get("kind") == "terminal":
        line = data.get("commandLine")
        given = _value(data.get("command")) or (
            line.get("original") if isinstance(line, dict) else said
        )
        output = data.get("terminalCommandOutput")
        answer = output.get("text") if isinstance(output, dict) else ""
    name = item.get("toolId")
    return Use(name if isinstance(name, str) else "tool", given, answer)
