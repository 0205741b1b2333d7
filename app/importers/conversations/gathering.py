"""Gathers the messages of one conversation: once each, in order, with what their tools answered.

Owns the order (time, then position), the way in which copies are told (by id; the last one counts)
and the times of messages that have none. Holds in memory where messages are, not the messages.
"""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson

from app.domain.conversations import ToolUse
from app.importers.conversations.spool import Place, Spool
from app.importers.conversations.texts import (
    LONGEST_MESSAGE,
    LONGEST_THINKING,
    LONGEST_TOOL_TEXT,
    kept,
    shown,
)
from app.importers.conversations.values import (
    Header,
    Losses,
    ReadConversation,
    ReadMessage,
)
from app.text import clean

MOST_WAITING = 64
"""Messages that wait for answers of their tools; of an older one an answer is lost."""

_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
_NO_TIME = "1970-01-01T00:00:00.000Z"
_LATEST = 253_402_300_799.0
"""The end of the year 9999, in seconds."""


def instant_of(value: Any) -> str | None:
    """Return a time as ISO 8601 in UTC with milliseconds, None when it is none.

    Takes ISO 8601 text (without a zone: UTC) and numbers: seconds, or milliseconds since 1970.
    """
    if isinstance(value, str):
        return value if _INSTANT.fullmatch(value) else _parsed(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value / 1000 if value > _LATEST / 10 else value
        if 0 < seconds < _LATEST:
            return _written(datetime.fromtimestamp(seconds, UTC))
    return None


def _parsed(text: str) -> str | None:
    try:
        found = datetime.fromisoformat(text.strip())
        return _written(found if found.tzinfo else found.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def _written(moment: datetime) -> str:
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


@dataclass(slots=True)
class Use:
    """A tool as a reader finds it; ``call`` is how its answer will name it."""

    name: str
    given: Any = None
    answer: Any = None
    call: str | None = None


@dataclass(slots=True)
class Draft:
    """A message as a reader finds it; ``at`` is a time in any form, or None."""

    id: str
    type: str
    role: str
    text: str = ""
    thinking: str = ""
    at: Any = None
    parent: str | None = None
    has_code: bool = False
    uses: list[Use] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to keep."""
        return not (self.text.strip() or self.thinking.strip() or self.uses)


@dataclass(slots=True)
class _Kept:
    at: str
    position: int
    place: Place | None = None


class Gatherer:
    """Takes the messages of one conversation in the order of the file."""

    def __init__(self, spool: Spool, losses: Losses) -> None:
        self._spool = spool
        self._losses = losses
        self._kept: dict[str, _Kept] = {}
        self._waiting: OrderedDict[str, Draft] = OrderedDict()
        self._calls: dict[str, str] = {}
        self._last_at: str | None = None

    @property
    def count(self) -> int:
        """How many messages were taken."""
        return len(self._kept)

    def add(self, draft: Draft) -> None:
        """Take a message; one with the id of an earlier one takes its place."""
        if draft.is_empty:
            return
        draft.id = clean(draft.id)
        at = instant_of(draft.at) or self._last_at
        known = self._kept.get(draft.id)
        self._kept[draft.id] = known or _Kept(at or "", len(self._kept))
        self._last_at = at
        self._waiting.pop(draft.id, None)
        calls = [use.call for use in draft.uses if use.call]
        if not calls:
            self._store(draft)
            return
        self._waiting[draft.id] = draft
        self._calls |= dict.fromkeys(calls, draft.id)
        if len(self._waiting) > MOST_WAITING:
            self._settle(next(iter(self._waiting)))

    def answer(self, call: str, answer: Any) -> None:
        """Take what a tool answered; it belongs to the message that called it."""
        draft = self._waiting.get(self._calls.get(call, ""))
        if draft is None:
            return
        for use in draft.uses:
            if use.call == call:
                use.answer = answer
        if all(use.answer is not None for use in draft.uses if use.call):
            self._settle(draft.id)

    def finish(self, header: Header) -> ReadConversation | None:
        """Return the conversation, None when nothing was said in it."""
        for draft_id in list(self._waiting):
            self._settle(draft_id)
        if not self._kept:
            return None
        # Messages before the first that has a time are as old as that one.
        first = next((each.at for each in self._kept.values() if each.at), _NO_TIME)
        for each in self._kept.values():
            each.at = each.at or first
        order = sorted(self._kept.items(), key=lambda item: (item[1].at, item[1].position))
        header = self._cleaned(header)
        return ReadConversation(
            header=header,
            messages=Messages(self._spool, order),
            count=len(order),
            first_at=order[0][1].at,
            last_at=order[-1][1].at,
            digest=self._digest(header, order),
        )

    def _settle(self, draft_id: str) -> None:
        draft = self._waiting.pop(draft_id)
        for use in draft.uses:
            if use.call:
                self._calls.pop(use.call, None)
        self._store(draft)

    def _store(self, draft: Draft) -> None:
        tools = [
            [clean(use.name), self._tool_text(use.given), self._tool_text(use.answer)]
            for use in draft.uses
        ]
        text = kept(draft.text.strip(), LONGEST_MESSAGE, self._losses)
        thinking = kept(draft.thinking.strip(), LONGEST_THINKING, self._losses)
        has_code = draft.has_code or "```" in text
        parent = clean(draft.parent) if draft.parent else None
        record = [parent, draft.type, draft.role, text, thinking or None, tools, has_code]
        self._kept[draft.id].place = self._spool.put(orjson.dumps(record))

    def _tool_text(self, value: Any) -> str:
        return kept(shown(value), LONGEST_TOOL_TEXT, self._losses)

    def _cleaned(self, header: Header) -> Header:
        name = kept(header.name.strip(), LONGEST_TOOL_TEXT, self._losses) if header.name else ""
        return Header(
            id=clean(header.id),
            name=name or None,
            folder=clean(header.folder),
            branch=clean(header.branch) if header.branch else None,
            project=clean(header.project) if header.project else None,
        )

    def _digest(self, header: Header, order: list[tuple[str, _Kept]]) -> str:
        state = hashlib.sha256(repr(header).encode("utf-8"))
        for message_id, each in order:
            state.update(orjson.dumps([message_id, each.at]))
            state.update(self._spool.get(each.place) if each.place else b"")
        return state.hexdigest()


class Messages:
    """The messages of a conversation in their order, read from the spool each time."""

    def __init__(self, spool: Spool, order: list[tuple[str, _Kept]]) -> None:
        self._spool = spool
        self._order = order

    def __iter__(self) -> Iterator[ReadMessage]:
        for message_id, each in self._order:
            if each.place is None:
                continue
            record = orjson.loads(self._spool.get(each.place))
            parent, kind, role, text, thinking, tools, has_code = record
            uses = tuple(ToolUse(*tool) for tool in tools)
            yield ReadMessage(
                message_id, parent, kind, role, text, thinking, uses, has_code, each.at
            )
