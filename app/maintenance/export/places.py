"""Where an export goes: files and folders that appear whole, or not at all.

Owns the writing aside, and the list by which a folder's earlier export is known again: what
anybody else wrote there, or changed since, is never overwritten.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from uuid import uuid4

from app.errors import ExportFailed

MANIFEST = ".crystal-export.json"
"""In an exported folder: the form, and the SHA-256 of every file that was written."""

STAGING = ".crystal-export.part"

Digests = Mapping[str, str]
"""SHA-256, hexadecimal, by path below the folder, with slashes."""


@contextmanager
def refusing(target: Path | str) -> Iterator[None]:
    """Turn errors of the file system that a block meets into one that names the target.

    Raises:
        ExportFailed: the target cannot be written.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ExportFailed(f"{target} cannot be written: {error.strerror or error}") from error


@contextmanager
def new_file(target: Path) -> Iterator[BinaryIO]:
    """Give a file that replaces the target once it is whole; until then the target stays.

    Raises:
        ExportFailed: the target cannot be written.
    """
    with refusing(target):
        place = target.resolve()
        if place.exists() and not place.is_file():
            # A device or a pipe has nothing to be kept; of a folder this says what is wrong.
            with place.open("wb") as file:
                yield file
            return
        partial = place.with_name(f".crystal-export-{uuid4().hex}.part")
        try:
            with partial.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            partial.replace(place)
        finally:
            with suppress(OSError):
                partial.unlink()


@contextmanager
def new_folder(target: Path, form: str) -> Iterator[Path]:
    """Give a folder whose files are moved to the target once they are whole.

    The target may be missing, empty, or of an earlier export of the same form: then it is brought
    up to date, and files that the export did not write stay.

    Raises:
        ExportFailed: the target cannot be written, or holds what would be overwritten.
    """
    with refusing(target):
        is_new = not target.exists()
        if is_new:
            target.mkdir()
        staging = target / STAGING
        is_done = False
        try:
            before = _written_before(target, form)
            shutil.rmtree(staging, ignore_errors=True)
            staging.mkdir()
            yield staging
            _publish(staging, target, form, before)
            is_done = True
        finally:
            shutil.rmtree(staging, ignore_errors=True)
            if is_new and not is_done:
                with suppress(OSError):
                    target.rmdir()


def _written_before(target: Path, form: str) -> Digests:
    """Return what an earlier export wrote, all of it unchanged."""
    if not {entry.name for entry in target.iterdir()} - {STAGING}:
        return {}
    written = _read_manifest(target / MANIFEST, form)
    if written is None:
        raise ExportFailed(
            f"{target} is not empty and was not made by an export of this form: "
            "name a new or an empty folder"
        )
    changed = [
        name
        for name, digest in written.items()
        if (target / name).exists() and _digest(target / name) != digest
    ]
    _refuse(target, changed, "has been changed since it was exported")
    return written


def _read_manifest(path: Path, form: str) -> Digests | None:
    try:
        content = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or content.get("format") != form:
        return None
    files = content.get("files")
    if not isinstance(files, dict) or not all(map(_is_below, files)):
        return None
    return files


def _is_below(name: str) -> bool:
    """Tell whether a path of a manifest stays in its folder, whoever wrote the manifest."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def _publish(staging: Path, target: Path, form: str, before: Digests) -> None:
    paths = sorted(path for path in staging.rglob("*") if path.is_file())
    written = {path.relative_to(staging).as_posix(): _digest(path) for path in paths}
    known = {name.casefold() for name in before}
    # On many systems names that differ by case alone are the same.
    fresh = [name for name in written if name.casefold() not in known]
    _refuse(target, [name for name in fresh if _is_taken(target, name)], "is in the way")
    for name in written:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (staging / name).replace(target / name)
    kept = {name.casefold() for name in written}
    for name in before:
        if name.casefold() not in kept:
            _remove(target, name)
    manifest = {"format": form, "files": written}
    content = json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
    (staging / MANIFEST).write_text(content, encoding="utf-8")
    (staging / MANIFEST).replace(target / MANIFEST)


def _is_taken(target: Path, name: str) -> bool:
    parents = list(PurePosixPath(name).parents)[:-1]
    return (target / name).exists() or any(
        (target / parent).exists() and not (target / parent).is_dir() for parent in parents
    )


def _remove(target: Path, name: str) -> None:
    """Remove a file that is exported no more, and its folder if nothing else is there."""
    (target / name).unlink(missing_ok=True)
    if (target / name).parent != target:
        with suppress(OSError):
            (target / name).parent.rmdir()


def _refuse(target: Path, names: list[str], problem: str) -> None:
    if names:
        others = f", and so are {len(names) - 1} more" if len(names) > 1 else ""
        raise ExportFailed(
            f"{target / names[0]} {problem}{others}: move it away or name another folder"
        )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
