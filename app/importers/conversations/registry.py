"""The table of sources: help, documentation and validation read it.

Owns which tools there are, and how one is opened.
"""

from __future__ import annotations

from app.importers.conversations.base import Source
from app.importers.conversations.claude_code import ClaudeCode
from app.importers.conversations.codex import Codex
from app.importers.conversations.copilot import Copilot
from app.importers.conversations.cursor import Cursor
from app.importers.conversations.generic import Generic
from app.importers.conversations.trae import Trae

SOURCES: dict[str, type[Source]] = {
    source.name: source for source in (ClaudeCode, Codex, Cursor, Copilot, Trae, Generic)
}
