"""Codex CLI: ``~/.codex/sessions/**/rollout-<time>-<id>.jsonl``, names in a file beside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from app.importers.conversations.base import Source, found_files
from app.importers.conversations.gathering import Draft, Gatherer, Use
from app.importers.conversations.lines import objects, parsed
from app.importers.conversations.places import Places
from app.importers.conversations.spool import Spool
from app.importers.conversations.values import FoundFile, Header, Losses, ReadConversation

_NAMES = "session_index.jsonl"
_FILE = re.compile(r"rollout-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-(.+)")
_REQUEST = "## My request for Codex:"
"""What stands before it in a prompt was written by an editor."""

_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_ANSWERS = ("function_call_output", "custom_tool_call_output")


class Codex(Source):
    """Sessions of the Codex CLI and its extension."""

    name: ClassVar[str] = "codex"
    title: ClassVar[str] = "Codex CLI"
    setting: ClassVar[str] = "sources.codex"

    @classmethod
    def usual_folder(cls, places: Places) -> Path | None:
        """Return the folder of sessions."""
        return places.own("CODEX_HOME", ".codex") / "sessions"

    def files(self) -> Iterator[FoundFile]:
        """Yield the sessions of all days."""
        return found_files(self.folder.rglob("rollout-*.jsonl"))

    def read(self, found: FoundFile, losses: Losses) -> Iterator[ReadConversation]:
        """Yield the one session of a file."""
        with Spool() as spool:
            session = _Session(Gatherer(spool, losses), found.path)
            for record in objects(found.path, losses):
                session.take(record)
            name = self._names.get(session.id)
            conversation = session.gatherer.finish(session.header(name))
            if conversation is not None:
                yield conversation

    @cached_property
    def _names(self) -> dict[str, str]:
        names = {}
        for record in objects(self.folder.parent / _NAMES, Losses()):
            own_id, name = record.get("id"), record.get("thread_name")
            if isinstance(own_id, str) and isinstance(name, str):
                names[own_id] = name
        return names


class _Session:
    """What the lines of one file come to.

    Assistants' words come twice, as an event and as an item: the second is dropped. Messages have
    no ids; their number among the messages of the session stands for one.
    """

    def __init__(self, gatherer: Gatherer, path: Path) -> None:
        self.gatherer = gatherer
        match = _FILE.fullmatch(path.stem)
        self.id = match[1] if match else path.stem
        self._folder = ""
        self._branch: str | None = None
        self._count = 0
        self._said: set[str] = set()

    def header(self, name: str | None) -> Header:
        return Header(id=self.id, name=name, folder=self._folder, branch=self._branch)

    def take(self, record: dict[str, Any]) -> None:
        payload, kind, at = record.get("payload"), record.get("type"), record.get("timestamp")
        if not isinstance(payload, dict):
            return
        what = payload.get("type")
        if kind == "session_meta":
            self._take_meta(payload)
        elif kind == "event_msg" and what == "user_message":
            # The same words may be said again in the next turn.
            self._said.clear()
            self._add("user", _request(_text(payload.get("message"))), at)
        elif kind == "event_msg" and what == "agent_message":
            self._add_answer(_text(payload.get("message")), at)
        elif kind == "event_msg" and what == "agent_reasoning":
            self._add("assistant", "", at, thinking=_text(payload.get("text")))
        elif kind == "response_item":
            self._take_item(payload, at)

    def _take_meta(self, payload: dict[str, Any]) -> None:
        # A session that goes on from another repeats that one's line; its own comes first.
        if self._folder:
            return
        own_id, git = payload.get("id"), payload.get("git")
        self.id = own_id if isinstance(own_id, str) and own_id else self.id
        self._folder = _text(payload.get("cwd"))
        if isinstance(git, dict):
            self._branch = _text(git.get("branch")) or None

    def _take_item(self, payload: dict[str, Any], at: Any) -> None:
        what = payload.get("type")
        if what == "message" and payload.get("role") == "assistant":
            self._add_answer(_blocks(payload.get("content")), at)
        elif what in _CALLS:
            call = payload.get("call_id")
            given = payload.get("arguments") or payload.get("input") or payload.get("action")
            given = parsed(given) or given if isinstance(given, str) else given
            use = Use(_text(payload.get("name")) or str(what), given,
                      call=call if isinstance(call, str) else None)  # fmt: skip
            self._add("assistant", "", at, use=use)
        elif what in _ANSWERS:
            self.gatherer.answer(_text(payload.get("call_id")), _answer(payload.get("output")))

    def _add_answer(self, text: str, at: Any) -> None:
        said = text.strip()
        if said and said not in self._said:
            self._said.add(said)
            self._add("assistant", text, at)

    def _add(
        self, role: str, text: str, at: Any, *, thinking: str = "", use: Use | None = None
    ) -> None:
        draft = Draft(
            id=f"m{self._count}",
            type=role,
            role=role,
            text=text,
            thinking=thinking,
            at=at,
            uses=[use] if use else [],
        )
        if not draft.is_empty:
            self._count += 1
            self.gatherer.add(draft)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _request(message: str) -> str:
    _, marker, request = message.rpartition(_REQUEST)
    return request if marker else message


def _blocks(content: Any) -> str:
    if not isinstance(content, list):
        return _text(content)
    parts = [_text(block.get("text")) for block in content if isinstance(block, dict)]
    return "\n".join(filter(None, parts))


def _answer(output: Any) -> Any:
    """Return what a tool wrote; older versions wrap it in JSON, with its exit code."""
    found = parsed(output) if isinstance(output, str) and output.startswith("{") else output
    if isinstance(found, dict):
        wrapped = found.get("output", found.get("content"))
        return output if wrapped is None else wrapped
    return _blocks(found) if isinstance(found, list) else output
