"""Folders of Markdown and other files: what is found in them, and what an import came to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

VaultProgress = Callable[[int, int], None]
"""Told how many of the files that must be read are through, and of how many."""


@dataclass(frozen=True, slots=True)
class VaultRequest:
    """Which folder is imported, and how.

    ``prune`` removes the notes of files that are gone. ``overwrites`` lets a file win over changes
    that were made to its note here. ``is_dry_run`` counts and changes nothing.
    """

    folder: Path
    prune: bool = False
    overwrites: bool = False
    is_dry_run: bool = False


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of a folder; ``path`` is relative to it, with ``/`` whatever the system.

    ``size`` is in bytes, ``modified`` in nanoseconds since 1970.
    """

    path: str
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A path that is no note, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class VaultNote:
    """What a file holds; times are UTC, ``YYYY-MM-DD HH:MM:SS``, None where the file says none.

    ``has_text`` is False for files of which only the name can be found. ``warning`` says what of
    the file could not be used.
    """

    title: str
    body: str = ""
    summary: str = ""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    project: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    has_text: bool = True
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """A note whose file has another path now."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class VaultReport:
    """What an import of a folder came to; paths are relative to it and in order.

    ``deleted`` are files that are gone; their notes are removed only if ``is_pruned``. ``kept``
    are files that changed while their notes were edited here, which were therefore left alone.
    ``unresolved`` counts the links of the folder's notes that no note answers to.
    """

    folder: str
    is_dry_run: bool
    is_pruned: bool
    new: tuple[str, ...]
    changed: tuple[str, ...]
    moved: tuple[Moved, ...]
    unchanged: int
    deleted: tuple[str, ...]
    kept: tuple[str, ...]
    refused: tuple[LeftOut, ...]
    left_out: tuple[LeftOut, ...]
    without_text: tuple[str, ...]
    warnings: tuple[LeftOut, ...]
    links: int
    unresolved: int
