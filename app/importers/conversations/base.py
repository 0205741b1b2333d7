"""What all readers share: how files are found, and how one conversation a file is read.

Owns the contract of a source. Must not know any tool.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import ClassVar
from urllib.parse import unquote, urlsplit

from app.importers.conversations.places import Places
from app.importers.conversations.values import FoundFile, Losses, ReadConversation


class Source(ABC):
    """A tool whose conversations can be read.

    Attributes:
        name: As stored in the column ``source``.
        title: As shown to people.
        setting: The setting that names another folder.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    setting: ClassVar[str]

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    @abstractmethod
    def usual_folder(cls, places: Places) -> Path | None:
        """Return where the tool keeps its data when nobody said otherwise, None if nowhere."""

    @abstractmethod
    def files(self) -> Iterator[FoundFile]:
        """Yield the files that have conversations, by path."""

    @abstractmethod
    def read(self, found: FoundFile, losses: Losses) -> Iterator[ReadConversation]:
        """Yield the conversations of a file; each can be read until the next is asked for."""

    def count(self) -> int:
        """Count the conversations, as well as that can be done without reading them."""
        return sum(1 for _ in self.files())


def found_files(paths: Iterable[Path]) -> Iterator[FoundFile]:
    """Yield what can be told of those paths that are files, by path."""
    for path in sorted(paths):
        found = found_file(path)
        if found is not None:
            yield found


def found_file(path: Path, *beside: Path) -> FoundFile | None:
    """Return what can be told of a file without reading it, None when there is no such file.

    ``beside`` are files whose changes are its own, such as the journal of a database.
    """
    try:
        if not path.is_file():
            return None
        own = path.stat()
        marks = [f"{own.st_size}-{own.st_mtime_ns}"]
        for other in beside:
            if other.is_file():
                there = other.stat()
                marks.append(f"{there.st_size}-{there.st_mtime_ns}")
    except OSError:
        return None
    modified = datetime.fromtimestamp(own.st_mtime, UTC).isoformat(timespec="milliseconds")
    return FoundFile(path, "+".join(marks), own.st_size, modified.replace("+00:00", "Z"))


def folders_in(folder: Path) -> list[Path]:
    """Return the folders in a folder, by name; none when it cannot be read."""
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []


def last_part(folder: str) -> str:
    """Return the name of a project: the last part of its folder."""
    return PurePosixPath(folder.replace("\\", "/")).name


def path_of_address(address: str) -> str:
    """Return the path of a ``file://`` (or remote) address, empty when it is none."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    path = unquote(parts.path)
    has_drive = len(path) > 2 and path[0] == "/" and path[2] == ":"
    return path[1:] if has_drive else path
