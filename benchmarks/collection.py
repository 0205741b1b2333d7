"""A real application over given notes, in a folder that is gone afterwards.

Owns its life and the form of the files that notes and graded queries come in. Must not measure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from app.factory import Application, build
from app.settings.store import load

FIXTURES = Path(__file__).parent.parent / "fixtures"
OUR_NOTES = tuple(FIXTURES / "notes" / name for name in ("en.jsonl", "zh.jsonl"))
OUR_QUERIES = tuple(
    FIXTURES / "calibration" / f"queries-{name}.jsonl" for name in ("en", "zh", "cross")
)


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
    """Read a file of the form of ``fixtures/golden/relevance.json``.

    Returns:
        Its notes as import records, each in a conversation of its own, and its queries.

    Raises:
        UnusableCollection: the file has another form.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        records = [record for note in content["notes"] for record in _records(note)]
        queries = tuple(
            GradedQuery(query["id"], query["class"], query["text"], query["grades"])
            for query in content["queries"]
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnusableCollection(f"{path} holds no graded notes and queries: {error!r}") from error
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
def embedded_application(records: Iterable[Mapping[str, Any]]) -> Iterator[Application]:
    """Open an application with default settings that holds these notes, embedded.

    Raises:
        UnusableCollection: a record was refused, or a note could not be embedded.
    """
    with TemporaryDirectory(prefix="crystal-") as folder:
        application = build(load({"data_dir": folder}, environment={}))
        try:
            _fill(application, records)
            yield application
        finally:
            application.close()


def _fill(application: Application, records: Iterable[Mapping[str, Any]]) -> None:
    report = application.importer.import_records(records)
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
