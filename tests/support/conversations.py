"""Conversations read from folders of tools."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.importers.conversations.places import Places
from app.importers.conversations.registry import SOURCES
from app.importers.conversations.values import Header, Losses, ReadMessage
from fixtures.conversations.build import GENERIC


@dataclass(frozen=True)
class Read:
    """A conversation with its messages, kept after the reader went on."""

    header: Header
    messages: tuple[ReadMessage, ...]
    first_at: str
    last_at: str
    digest: str

    @property
    def texts(self) -> list[str]:
        """What was said, thoughts and tools left out."""
        return [message.content for message in self.messages if message.content]


def read_all(name: str, folder: Path, losses: Losses | None = None) -> dict[str, Read]:
    """Read every conversation of a source's folder, by id."""
    source = SOURCES[name](folder)
    found = {}
    for file in source.files():
        for each in source.read(file, losses or Losses()):
            kept = Read(each.header, tuple(each.messages), each.first_at, each.last_at, each.digest)
            assert len(kept.messages) == each.count
            found[each.header.id] = kept
    return found


def folder_of(name: str, home: Path) -> Path:
    """Where a source's files are below a home folder."""
    return SOURCES[name].usual_folder(Places(home, {}, "linux")) or home / GENERIC


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    """Write JSON Lines; bytes are written as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        each if isinstance(each, bytes) else json.dumps(each, ensure_ascii=False).encode("utf-8")
        for each in records
    ]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def said(
    text: Any, *, number: int = 0, role: str = "user", at: str | None = None, **more: Any
) -> dict[str, Any]:
    """A line of Claude Code's."""
    return {
        "type": role,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": "s",
        "cwd": "/work/shop",
        "timestamp": at or f"2026-01-01T00:00:{number:02d}.000Z",
        "message": {"role": role, "content": text},
        **more,
    }
