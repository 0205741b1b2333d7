"""Which forms there are, and how an export runs.

Owns the flat table that the command, its help and the documentation read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from app.maintenance.export.chatcrystal import write_directory
from app.maintenance.export.jsonl import write_lines
from app.maintenance.export.markdown import write_pages
from app.maintenance.export.places import new_file, new_folder, refusing
from app.maintenance.export.source import Progress, Source, Tally


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A form that is one stream of bytes; ``kinds`` names the rows that are in it."""

    help: str
    kinds: tuple[str, ...]
    write: Callable[[Source, BinaryIO, Tally], None]


@dataclass(frozen=True, slots=True)
class FolderFormat:
    """A form that is a folder of files; ``write`` fills an empty one and returns warnings."""

    help: str
    kinds: tuple[str, ...]
    write: Callable[[Source, Path, Tally], tuple[str, ...]]


FORMATS: dict[str, FileFormat | FolderFormat] = {
    "jsonl": FileFormat(
        "one JSON object a line, without vectors; crystal import jsonl takes it back without loss",
        ("tags", "conversations", "messages", "notes", "relations", "links"),
        write_lines,
    ),
    "markdown": FolderFormat(
        "a folder with a page a note, joined by wiki links",
        ("notes", "relations"),
        write_pages,
    ),
    "chatcrystal": FolderFormat(
        "a data folder of ChatCrystal, vectors included",
        ("tags", "conversations", "messages", "notes", "note_tags", "relations", "chunks"),
        write_directory,
    ),
}
DEFAULT_FORMAT = "jsonl"


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export came to: rows by kind, and what the form makes less of."""

    format: str
    path: str
    counts: Mapping[str, int]
    warnings: tuple[str, ...]


def size(source: Source, name: str) -> int:
    """Return how many rows a form takes of a source."""
    return sum(source.sizes[kind] for kind in FORMATS[name].kinds)


def export_to_stream(
    source: Source, chosen: FileFormat, stream: BinaryIO, on_progress: Progress
) -> None:
    """Write a form to a stream that is open already.

    Raises:
        ExportFailed: the stream cannot be written.
    """
    with refusing("The output"):
        chosen.write(source, stream, Tally(on_progress))


def export_to_path(source: Source, name: str, path: Path, on_progress: Progress) -> ExportReport:
    """Write a form to a file or folder, which appears whole or not at all.

    Raises:
        ExportFailed: the path cannot be written, or holds what would be overwritten.
    """
    chosen = FORMATS[name]
    tally = Tally(on_progress)
    warnings: tuple[str, ...] = ()
    if isinstance(chosen, FileFormat):
        with new_file(path) as stream:
            chosen.write(source, stream, tally)
    else:
        with new_folder(path, name) as folder:
            warnings = chosen.write(source, folder, tally)
    counts = {kind: tally.counts[kind] for kind in chosen.kinds}
    return ExportReport(name, str(path), counts, warnings)
