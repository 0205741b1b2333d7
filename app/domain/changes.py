"""The change feed: what happened to data that processes keep in memory."""

from __future__ import annotations

from dataclasses import dataclass

CHANGED_VECTOR = "vector"
CHANGED_SPACE = "space"
CHANGED_DOCUMENT = "document"
CHANGED_MESSAGES = "messages"

OPERATION_ADD = "add"
OPERATION_REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class Change:
    """One entry: a vector or space was added (or changed), or removed."""

    what: str
    operation: str
    target_id: int
    space_id: int | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class IndexState:
    """Where the feed stands.

    ``sequence`` numbers the newest transaction; entries up to ``trimmed_to`` are gone. Another
    ``epoch`` means another history: nothing kept in memory can be brought up to date.
    """

    sequence: int
    epoch: str
    trimmed_to: int
