"""Conversations on their way to notes: where each stands, and what a person made of it."""

from __future__ import annotations

from dataclasses import dataclass

IMPORTED = "imported"
SUMMARIZING = "summarizing"
SUMMARIZED = "summarized"
FILTERED = "filtered"
ERROR = "error"

AWAITING = (IMPORTED, ERROR, SUMMARIZING)
"""Statuses of conversations that a batch takes, as in the original."""

KEEP = "keep"
DROP = "drop"


@dataclass(frozen=True, slots=True)
class Standing:
    """A conversation as distilling sees it; ``digest`` is of what it was last distilled from."""

    id: str
    slug: str | None
    source: str
    project_dir: str
    project_name: str
    cwd: str | None
    status: str
    message_count: int
    last_message_at: str
    override: str | None
    digest: str | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a batch would ask of a language model; ``tokens`` are about, ``model`` None offline."""

    conversations: int
    characters: int
    tokens: int
    model: str | None
