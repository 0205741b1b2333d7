"""What has become of the files of a folder since the last import.

Owns the comparison: by size and time first, and by the bytes of whatever those leave in doubt.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.db.vaults import KnownFile
from app.domain.vaults import FoundFile, LeftOut, VaultNote
from app.importers.markdown.reading import LARGEST_FILE, RefusedFile, read_note
from app.importers.markdown.walking import Found, read_bytes

SETTLED_NANOSECONDS = 2_000_000_000
"""A file that was written later before it was read may be written again without a new time."""


@dataclass(frozen=True, slots=True)
class Read:
    """A file that was read; ``note`` is None when its bytes are those that are known."""

    file: FoundFile
    digest: str
    known: KnownFile | None = None
    note: VaultNote | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The files of a folder sorted by what is to be done; each list is in the order of paths.

    ``to_read`` are those that are new, or that look different, each with what is known of it;
    ``moves`` has the old file of those that are elsewhere now.
    """

    to_read: tuple[FoundFile, ...]
    known: Mapping[str, KnownFile]
    moves: Mapping[str, KnownFile]
    unchanged: int
    missing: tuple[KnownFile, ...]
    refused: tuple[LeftOut, ...]


class Folder:
    """The files of one folder, to be read one by one."""

    def __init__(self, root: Path, found: Found) -> None:
        self._root = root
        self._names = found.names

    def bytes_of(self, file: FoundFile) -> bytes:
        """Read a file.

        Raises:
            RefusedFile: it cannot be read, or is too large.
        """
        try:
            data = read_bytes(self._root / self._names.get(file.path, file.path), LARGEST_FILE + 1)
        except OSError as error:
            raise RefusedFile(f"it cannot be read: {error.strerror or error}") from error
        if len(data) > LARGEST_FILE:
            raise RefusedFile(too_large())
        return data


def too_large() -> str:
    """Say why a large file is refused."""
    return f"it is larger than {LARGEST_FILE // 1_000_000} MB"


def compare(
    folder: Folder, prefix: str, found: Found, known_files: Sequence[KnownFile]
) -> Comparison:
    """Compare what lies in a folder with what is known of it.

    Args:
        prefix: The folder's own path with a final ``/``.
    """
    known = {each.file_path.removeprefix(prefix): each for each in known_files}
    files = {file.path: file for file in found.files}
    # A folder that cannot be looked into may hold everything that it held.
    unread = tuple(each.path for each in found.unread)
    missing = [
        each for path, each in known.items() if path not in files and not _is_below(path, unread)
    ]
    large = [file for file in found.files if file.size > LARGEST_FILE]
    readable = [file for file in found.files if file.size <= LARGEST_FILE]
    fresh = [file for file in readable if file.path not in known]
    moves = _moves(folder, fresh, missing)
    gone = {each.note_id for each in missing} - {each.note_id for each in moves.values()}
    to_read = [
        file for file in readable if file.path not in known or not _is_same(file, known[file.path])
    ]
    return Comparison(
        to_read=tuple(to_read),
        known=known,
        moves=moves,
        unchanged=len(readable) - len(to_read),
        missing=tuple(each for each in missing if each.note_id in gone),
        refused=tuple(LeftOut(file.path, too_large()) for file in large),
    )


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(folder in (".", path) or path.startswith(f"{folder}/") for folder in folders)


def _is_same(file: FoundFile, known: KnownFile) -> bool:
    return (file.size, file.modified) == (known.size, known.modified)


def _moves(
    folder: Folder, fresh: Sequence[FoundFile], missing: Sequence[KnownFile]
) -> dict[str, KnownFile]:
    """Find the new files that are missing ones at another place: by their bytes, then names."""
    waiting: defaultdict[str | None, list[KnownFile]] = defaultdict(list)
    for each in missing:
        waiting[each.digest].append(each)
    sizes = {each.size for each in missing}
    digests = {file.path: _digest_of(folder, file) for file in fresh if file.size in sizes}
    found: dict[str, KnownFile] = {}
    for keeps_name in (True, False):
        for path, digest in digests.items():
            same = [
                each
                for each in waiting.get(digest, [])
                if not keeps_name or _name(each.file_path) == _name(path)
            ]
            if path not in found and digest is not None and same:
                found[path] = same[0]
                waiting[digest].remove(same[0])
    return found


def _digest_of(folder: Folder, file: FoundFile) -> str | None:
    try:
        return digest(folder.bytes_of(file))
    except RefusedFile:
        return None


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def digest(data: bytes) -> str:
    """Return the digest by which the bytes of files are compared."""
    return hashlib.sha256(data).hexdigest()


def read(
    folder: Folder, comparison: Comparison, refused: list[LeftOut]
) -> Iterator[tuple[FoundFile, Read | None]]:
    """Read the files that are new or look different; those that cannot be read are refused."""
    for file in comparison.to_read:
        moved = comparison.moves.get(file.path)
        known = moved or comparison.known.get(file.path)
        try:
            data = folder.bytes_of(file)
            found = digest(data)
            is_same = moved is None and known is not None and known.digest == found
            note = None if is_same else read_note(file.path, data)
        except RefusedFile as error:
            refused.append(LeftOut(file.path, str(error)))
            yield file, None
            continue
        yield file, Read(file, found, known, note)
