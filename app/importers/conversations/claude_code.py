"""Claude Code: ``~/.claude/projects/<folder>/<session>.jsonl``, one object a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from app.importers.conversations.base import Source, folders_in, found_files
from app.importers.conversations.gathering import Draft, Gatherer, Use
from app.importers.conversations.lines import objects
from app.importers.conversations.places import Places
from app.importers.conversations.spool import Spool
from app.importers.conversations.values import (
    TYPE_SIDECHAIN,
    FoundFile,
    Header,
    Losses,
    ReadConversation,
)

_AGENT_PREFIX = "agent-"
"""Files of agents whose result the session itself holds."""

_ECHOES = re.compile(
    r"<(?P<tag>system-reminder|command-name|command-message|command-args|command-contents"
    r"|local-command-stdout|local-command-stderr|local-command-caveat|user-prompt-submit-hook)>"
    r".*?</(?P=tag)>",
    re.DOTALL,
)
_NAMES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
"""Lines that name the session, the best first, and the field that has the name."""


class ClaudeCode(Source):
    """Sessions of Claude Code."""

    name: ClassVar[str] = "claude-code"
    title: ClassVar[str] = "Claude Code"
    setting: ClassVar[str] = "sources.claude_code"

    @classmethod
    def usual_folder(cls, places: Places) -> Path | None:
        """Return the folder of projects."""
        return places.own("CLAUDE_CONFIG_DIR", ".claude") / "projects"

    def files(self) -> Iterator[FoundFile]:
        """Yield the sessions of all projects."""
        for folder in folders_in(self.folder):
            paths = folder.glob("*.jsonl")
            yield from found_files(p for p in paths if not p.name.startswith(_AGENT_PREFIX))

    def read(self, found: FoundFile, losses: Losses) -> Iterator[ReadConversation]:
        """Yield the one session of a file."""
        with Spool() as spool:
            session = _Session(Gatherer(spool, losses))
            for record in objects(found.path, losses):
                session.take(record)
            conversation = session.gatherer.finish(session.header(found.path))
            if conversation is not None:
                yield conversation


class _Session:
    """What the lines of one file come to."""

    def __init__(self, gatherer: Gatherer) -> None:
        self.gatherer = gatherer
        self._names: dict[str, str] = {}
        self._first: dict[str, str] = {}

    def header(self, path: Path) -> Header:
        folder = self._first.get("cwd", "")
        name = next((self._names[kind] for kind in _NAMES if kind in self._names), None)
        return Header(
            id=path.stem,
            name=name or self._first.get("slug"),
            folder=folder or path.parent.name,
            branch=self._first.get("gitBranch"),
            project=None if folder else path.parent.name.rpartition("-")[2],
        )

    def take(self, record: dict[str, Any]) -> None:
        kind = record.get("type")
        if not isinstance(kind, str):
            return
        if kind in _NAMES and isinstance(record.get(_NAMES[kind]), str):
            self._names[kind] = record[_NAMES[kind]]
        own_id, message = record.get("uuid"), record.get("message")
        if kind not in ("user", "assistant") or record.get("isMeta") is True:
            return
        if not isinstance(own_id, str) or not isinstance(message, dict):
            return
        for field in ("cwd", "gitBranch", "slug"):
            if isinstance(record.get(field), str) and record[field]:
                self._first.setdefault(field, record[field])
        self._add(record, kind, own_id, message)

    def _add(self, record: dict[str, Any], kind: str, own_id: str, message: dict[str, Any]) -> None:
        is_aside = bool(record.get("isSidechain") or record.get("isCompactSummary"))
        parent = record.get("parentUuid")
        draft = Draft(
            id=own_id,
            type=TYPE_SIDECHAIN if is_aside else kind,
            role=kind,
            at=record.get("timestamp"),
            parent=parent if isinstance(parent, str) else None,
        )
        content = message.get("content")
        if isinstance(content, str):
            draft.text = _without_echoes(content)
        elif isinstance(content, list):
            self._take_blocks(draft, content)
        self.gatherer.add(draft)

    def _take_blocks(self, draft: Draft, blocks: list[Any]) -> None:
        texts, thoughts = [], []
        for block in blocks:
            if not isinstance(block, dict):
                continue
            kind = block.get("type")
            if kind == "text":
                texts.append(_text(block.get("text")))
            elif kind == "thinking":
                thoughts.append(_text(block.get("thinking")))
            elif kind == "tool_use":
                call = block.get("id")
                name = _text(block.get("name")) or "tool"
                use = Use(name, block.get("input"), call=call if isinstance(call, str) else None)
                draft.uses.append(use)
            elif kind == "tool_result":
                self.gatherer.answer(_text(block.get("tool_use_id")), _answer(block))
        draft.text = _without_echoes("\n".join(filter(None, texts)))
        draft.thinking = "\n".join(filter(None, thoughts))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _answer(block: dict[str, Any]) -> str:
    content = block.get("content")
    if isinstance(content, list):
        parts = [_text(each.get("text")) for each in content if isinstance(each, dict)]
        return "\n".join(filter(None, parts))
    return _text(content)


def _without_echoes(text: str) -> str:
    return _ECHOES.sub("", text) if "<" in text else text
