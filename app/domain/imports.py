"""Imports of conversations: what is asked for, how far one is, and what it came to."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """Which conversations to bring in.

    ``sources`` are names, all enabled ones when empty; ``since`` is a time in UTC as ISO 8601
    text, older conversations are left where they are; ``project`` is a part of a project's name.
    ``is_dry_run`` reads and counts, and changes nothing.
    """

    sources: tuple[str, ...] = ()
    since: str | None = None
    project: str | None = None
    is_dry_run: bool = False


@dataclass(slots=True)
class SourceReport:
    """What was found at one source, in conversations but for the last two.

    ``left_out`` are those that the request did not want; ``broken_lines`` counts lines, rows and
    files that could not be read.
    """

    source: str
    title: str
    folder: str
    found: int = 0
    new: int = 0
    grown: int = 0
    unchanged: int = 0
    left_out: int = 0
    broken_lines: int = 0
    masked_secrets: int = 0


@dataclass(slots=True)
class ImportReport:
    """What an import came to; ``fresh`` are the ids of new and grown conversations, in order."""

    sources: list[SourceReport] = field(default_factory=list)
    fresh: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """How far an import is: files of all sources, and conversations so far."""

    total: int
    current: int
    file: str
    imported: int
    skipped: int
    broken: int


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A tool whose conversations are there to be read; ``folder`` is where it keeps them."""

    name: str
    title: str
    folder: str
    conversations: int
