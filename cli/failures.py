"""The one error of the command line: a sentence for people, a code for programs.

Owns its form. Must not know click, httpx or the application; whoever meets their errors maps them.
"""

from __future__ import annotations

from typing import Final

UNREACHABLE: Final = "unreachable"
TIMEOUT: Final = "timeout"
CONNECTION_FAILED: Final = "connection_failed"
INVALID_ANSWER: Final = "invalid_answer"
INVALID_TOKEN: Final = "invalid_token"
NOT_STARTED: Final = "server_not_started"
USAGE: Final = "usage"
FAILED: Final = "failed"
UNEXPECTED: Final = "unexpected"


class Failure(Exception):
    """Something that a command could not do; ``status`` is the HTTP status, if there was one."""

    def __init__(self, text: str, code: str, status: int | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.code = code
        self.status = status
