"""Chat logs, ``.chat`` files: JSON, often gzip-compressed, often a tree of checkpoints.

Owns what counts as a message in them. Every checkpoint repeats the messages before it; each is
taken once, by its id, where it stands first and as it reads last.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from app.text import clean, is_blank

GZIP_MARK = b"\x1f\x8b"
LARGEST_UNPACKED = 10_000_000
"""Bytes; a file that unpacks to more is refused."""

_IDS = ("id", "uuid", "message_id", "messageId")
_TEXTS = ("content", "text", "message", "body")
_ROLES = ("role", "author", "sender", "from")
_TYPES = ("user", "human", "assistant", "ai", "system", "tool")
_TITLES = ("title", "name", "topic")
_PARTS = ("parts", "text", "content")
_DEEPEST = 200


class UnreadableChat(ValueError):
    """The file cannot be unpacked; its text says why."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message: who wrote it, as the log says it, and what."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Chat:
    """A log: its title if it has one, and its messages; ``text`` is the log as it stands."""

    title: str | None
    messages: tuple[Message, ...]
    text: str


def unpack(data: bytes) -> bytes:
    """Unpack a gzip-compressed file; another one is returned as it is.

    Raises:
        UnreadableChat: it is damaged, or unpacks to more than is taken.
    """
    if not data.startswith(GZIP_MARK):
        return data
    parts: list[bytes] = []
    size = 0
    while data.startswith(GZIP_MARK):
        unpacker = zlib.decompressobj(wbits=31)
        try:
            part = unpacker.decompress(data, LARGEST_UNPACKED - size + 1)
        except zlib.error as error:
            raise UnreadableChat("it is damaged and cannot be unpacked") from error
        size += len(part)
        if size > LARGEST_UNPACKED:
            raise UnreadableChat(f"it unpacks to more than {LARGEST_UNPACKED // 1_000_000} MB")
        if not unpacker.eof:
            raise UnreadableChat("it is cut off and cannot be unpacked")
        parts.append(part)
        data = unpacker.unused_data
    return b"".join(parts)


def read_chat(text: str) -> Chat:
    """Read a log: one JSON document, or one a line."""
    documents = list(_documents(text))
    messages: dict[str, Message] = {}
    for document in documents:
        for key, message in _messages(document):
            messages[key or f"#{len(messages)}"] = message
    first = documents[0] if documents and isinstance(documents[0], dict) else {}
    title = next((first[name] for name in _TITLES if isinstance(first.get(name), str)), None)
    return Chat(
        title=clean(title).strip() or None if title else None,
        messages=tuple(messages.values()),
        text=text,
    )


def _documents(text: str) -> Iterator[Any]:
    whole = _parsed(text)
    if whole is not None:
        yield whole
        return
    for line in text.splitlines():
        found = _parsed(line) if line.strip() else None
        if found is not None:
            yield found


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _messages(document: Any) -> Iterator[tuple[str | None, Message]]:
    """Yield the messages within a value, in the order in which they stand, with their ids."""
    waiting: list[tuple[Any, int]] = [(document, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > _DEEPEST:
            continue
        if isinstance(value, dict):
            message = _message(value)
            if message is not None:
                yield _id(value), message
            # The parts of a message are no messages.
            inner = [each for name, each in value.items() if message is None or name not in _TEXTS]
        elif isinstance(value, list):
            inner = value
        else:
            continue
        waiting += [(each, depth + 1) for each in reversed(inner)]


def _message(value: dict[str, Any]) -> Message | None:
    role = next((_role(value[name]) for name in _ROLES if name in value), "")
    role = role or (value["type"] if value.get("type") in _TYPES else "")
    if not role:
        return None
    text = next((found for name in _TEXTS if (found := _text_of(value.get(name)))), "")
    return None if is_blank(text) else Message(role, clean(text).strip())


def _role(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("role") or value.get("name")
    return clean(value).strip() if isinstance(value, str) else ""


def _id(value: dict[str, Any]) -> str | None:
    found = next((value[name] for name in _IDS if value.get(name) is not None), None)
    return str(found) if isinstance(found, str | int) else None


def _text_of(value: Any, depth: int = 0) -> str:
    """Return the text of a message, which may come in parts; parts of other kinds are left out."""
    if isinstance(value, str):
        return value
    if depth > 2:
        return ""
    if isinstance(value, list):
        return "\n\n".join(filter(None, (_text_of(each, depth + 1) for each in value)))
    if isinstance(value, dict):
        return next(
            (found for name in _PARTS if (found := _text_of(value.get(name), depth + 1))), ""
        )
    return ""
