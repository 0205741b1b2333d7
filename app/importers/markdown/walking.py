"""Finds the files of a folder.

Owns the way through it: never by a symbolic link, never out of it, each place once.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.domain.vaults import FoundFile, LeftOut
from app.errors import ImportFailed
from app.importers.markdown.ignoring import (
    LARGEST_RULES,
    RULE_FILES,
    Rules,
    is_ignored,
    is_left_out,
    parse_rules,
)

# Not every system has them all: no link is followed, no pipe waited for, no line end rewritten.
_READ = os.O_RDONLY
for _name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _READ |= getattr(os, _name, 0)

LINK = "it is a symbolic link, which is not followed"


@dataclass(slots=True)
class Found:
    """What lies in a folder, by path; ``unread`` are folders that could not be looked into.

    ``names`` has the path as the system spells it where that differs from ours.
    """

    files: list[FoundFile] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    unread: list[LeftOut] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)


def opened(folder: Path) -> Path:
    """Return the folder itself, whatever links lead to it.

    Raises:
        ImportFailed: there is no such folder.
    """
    try:
        found = folder.expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise ImportFailed(f"{folder} is no folder that can be read") from error
    if not found.is_dir():
        raise ImportFailed(f"{folder} is no folder")
    return found


def walk(folder: Path, left_out: Sequence[str] = ()) -> Found:
    """Find the files of a folder, hidden and ignored ones excepted.

    Args:
        left_out: Folders to leave out, by name, or by path from the top.
    """
    found = Found()
    waiting: list[tuple[str, tuple[Rules, ...]]] = [("", ())]
    while waiting:
        inner, rules = waiting.pop()
        try:
            entries = sorted(os.scandir(folder / inner), key=lambda entry: entry.name)
        except OSError as error:
            found.unread.append(LeftOut(_composed(inner) or ".", error.strerror or "unreadable"))
            continue
        here = (*rules, *_rules_of(entries, f"{inner}/" if inner else ""))
        for entry in entries:
            path = f"{inner}/{entry.name}" if inner else entry.name
            if _enters(entry, path, here, left_out, found):
                waiting.append((path, here))
    found.files.sort(key=lambda file: file.path)
    found.left_out.sort(key=lambda each: each.path)
    return found


def _rules_of(entries: Sequence[os.DirEntry[str]], folder: str) -> Iterator[Rules]:
    present = {entry.name: entry for entry in entries if entry.name in RULE_FILES}
    for name in RULE_FILES:
        if name in present and present[name].is_file(follow_symlinks=False):
            try:
                raw = read_bytes(Path(present[name].path), LARGEST_RULES)
            except OSError:
                continue
            yield parse_rules(folder, raw.decode("utf-8", "replace").removeprefix("\ufeff"))


def _enters(
    entry: os.DirEntry[str],
    path: str,
    rules: Sequence[Rules],
    left_out: Sequence[str],
    found: Found,
) -> bool:
    """Take in a file; tell whether an entry is a folder to go into."""
    if entry.name.startswith("."):
        return False
    is_folder = entry.is_dir(follow_symlinks=False)
    if is_ignored(f"{path}/" if is_folder else path, rules):
        return False
    if is_folder:
        return not is_left_out(path, left_out)
    shown = _composed(path)
    if entry.is_symlink():
        found.left_out.append(LeftOut(shown, LINK))
        return False
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        found.unread.append(LeftOut(shown, error.strerror or "unreadable"))
        return False
    if stat.S_ISREG(status.st_mode):
        found.files.append(FoundFile(shown, status.st_size, status.st_mtime_ns))
        if shown != path:
            found.names[shown] = path
    return False


def _composed(path: str) -> str:
    """Return a path as it is typed; some systems spell accents apart, some bytes are no text."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return unicodedata.normalize("NFC", text)


def read_bytes(path: Path, largest: int) -> bytes:
    """Read a regular file, not through a link, up to a size.

    Raises:
        OSError: it cannot be read, or is something else by now.
    """
    descriptor = os.open(path, _READ)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it is no file any more")
        return stream.read(largest)
