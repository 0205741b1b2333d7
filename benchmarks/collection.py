"""A real application over given notes, in a folder that is gone afterwards.

Owns its life and the form of the files that notes and graded queries come in. Must not measure.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from app.db import notes
from app.embedding.base import Embedder
from app.factory import Application, build
from app.settings.store import load
from app.settings.values import EmbeddingSettings

FIXTURES = Path(__file__).parent.parent / "fixtures"
OUR_NOTES = tuple(FIXTURES / "notes" / name for name in ("en.jsonl", "zh.jsonl"))
OUR_QUERIES = tuple(
    FIXTURES / "calibration" / f"queries-{name}.jsonl" for name in ("en", "zh", "cross")
)
GRADED = FIXTURES / "graded"

SECOND_SPACE = "search.second_space"
WITH_SECOND = {SECOND_SPACE: "true"}

OPENING = "opening"
"""The ``type`` of a record that no import knows: ``note`` was opened, after those before it."""


class UnusableCollection(Exception):
    """A file of notes or queries does not hold what it should; the message says what."""


@dataclass(frozen=True, slots=True)
class GradedQuery:
    """A query and the notes that answer it: external id to grade, none when nothing does."""

    id: str
    group: str
    text: str
    grades: Mapping[str, int]


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read a file of one JSON object a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def our_records() -> list[dict[str, Any]]:
    """Read our own example notes and their conversations as import records."""
    return [record for path in OUR_NOTES for record in read_lines(path)]


def our_queries() -> tuple[GradedQuery, ...]:
    """Read our own labelled queries, named by their file and line."""
    return tuple(
        GradedQuery(f"{path.stem}:{number}", line["class"], line["query"], line["relevant"])
        for path in OUR_QUERIES
        for number, line in enumerate(read_lines(path), start=1)
    )


def read_graded(path: Path) -> tuple[list[dict[str, Any]], tuple[GradedQuery, ...]]:
    """Read a file of the form of ``fixtures/golden/relevance.json`` or a folder like ``graded``.

    Returns:
        Its notes as import records, each in a conversation of its own, and its queries.

    Raises:
        UnusableCollection: the file or folder has another form.
    """
    try:
        return _read_folder(path) if path.is_dir() else _read_file(path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnusableCollection(f"{path} holds no graded notes and queries: {error!r}") from error


def _read_file(path: Path) -> tuple[list[dict[str, Any]], tuple[GradedQuery, ...]]:
    content = json.loads(path.read_text(encoding="utf-8"))
    records = [record for note in content["notes"] for record in _records(note)]
    queries = tuple(
        GradedQuery(query["id"], query["class"], query["text"], query["grades"])
        for query in content["queries"]
    )
    return records, queries


def _read_folder(folder: Path) -> tuple[list[dict[str, Any]], tuple[GradedQuery, ...]]:
    """Read notes, the notes opened lately (when the folder says so), and queries."""
    records = read_lines(folder / "notes.jsonl")
    opened = folder / "opened.jsonl"
    if opened.exists():
        records += [{"type": OPENING, "note": line["note"]} for line in read_lines(opened)]
    queries = tuple(
        GradedQuery(line["id"], line["class"], line["query"], line["relevant"])
        for line in read_lines(folder / "queries.jsonl")
    )
    return records, queries


def _records(note: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    conversation = f"conversation-{note['id']}"
    return (
        {"type": "conversation", "external_id": conversation},
        {
            "type": "note",
            "external_id": note["id"],
            "conversation": conversation,
            "title": note["title"],
            "summary": note["summary"],
            "key_conclusions": note["conclusions"],
        },
    )


@contextmanager
def embedded_application(
    records: Iterable[Mapping[str, Any]],
    values: Mapping[str, str] | None = None,
    embedder: Callable[[EmbeddingSettings], Embedder] | None = None,
) -> Iterator[Application]:
    """Open an application that holds these notes, embedded.

    Args:
        values: Settings by their dotted names; the rest are defaults, but that the second model
            has to be asked for, as in ``WITH_SECOND``. Its companions are left to be made, which
            takes a second a note.
        embedder: Makes the embedder, in place of the one that the settings name.

    Raises:
        UnusableCollection: a record was refused, a note could not be embedded, or a note that was
            opened is not there.
    """
    with TemporaryDirectory(prefix="crystal-") as folder:
        given = {"data_dir": folder, SECOND_SPACE: "false", **(values or {})}
        settings = load(given, environment={})
        application = build(settings, embedder(settings.embedding) if embedder else None)
        try:
            _fill(application, records)
            yield application
        finally:
            application.close()


def _fill(application: Application, records: Iterable[Mapping[str, Any]]) -> None:
    given = list(records)
    report = application.importer.import_records(
        record for record in given if record.get("type") != OPENING
    )
    if report.refused:
        number, reason = report.refused[0]
        raise UnusableCollection(f"record {number} was refused: {reason}")
    if any(report.unchanged.values()):
        raise UnusableCollection("two notes have the same id")
    failed = application.batches.embed_many(application.batches.unembedded()).reasons
    application.companions.fill()
    if failed:
        note_id, reason = next(iter(failed.items()))
        raise UnusableCollection(f"note {note_id} could not be embedded: {reason}")
    _open(application, [record["note"] for record in given if record.get("type") == OPENING])


def _open(application: Application, names: Sequence[str]) -> None:
    with application.database.read() as connection:
        ids = notes.ids_of_external(connection, names)
    for name in names:
        if name not in ids:
            raise UnusableCollection(f"note {name!r} is not there to be opened")
        application.writer.open_note(ids[name])
