"""A few notes with known answers: each text lies along the topics that it names."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from app.factory import Application
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider

TOPICS = ("redis", "sqlite", "grid", "weather")


def topic_vector(text: str) -> list[float]:
    """A unit vector along the topics that a text names, along an axis of its own without one."""
    named = [float(topic in text.lower()) for topic in TOPICS]
    values = [*named, float(not any(named))]
    length = math.sqrt(sum(value * value for value in values))
    return [value / length for value in values]


# External id, path, title, summary; note n gets id n.
NOTES = (
    ("n-redis", None, "Redis pool exhausted", "Connections of redis ran out under ECONNRESET."),
    ("n-sqlite", "db/lock.md", "SQLite is locked", "Two writers of sqlite met; busy_timeout."),
    (None, "css/grid.md", "Grid overflows", "A css grid needs minmax(0, 1fr)."),
    ("n-plain", None, "A plain note", "Nothing in particular."),
)
QUERIES: tuple[dict[str, Any], ...] = (
    {"id": "r", "query": "redis", "class": "exact", "relevant": {"n-redis": 2}},
    {"query": "sqlite busy", "class": "exact", "relevant": {"db/lock.md": 2}},
    {"query": "what to do about the grid", "class": "paraphrase", "relevant": {"3": 2, "4": 1}},
    # Labelled against all sense, so that not every figure is 1.
    {"query": "redis again", "class": "paraphrase", "relevant": {"n-sqlite": 1}},
    {"query": "weather tomorrow", "class": "none", "relevant": {}},
)


def records() -> list[dict[str, Any]]:
    """The notes as import records, with a relation from the first to the last."""
    found: list[dict[str, Any]] = []
    for number, (name, path, title, summary) in enumerate(NOTES, start=1):
        moment = f"2026-03-{number:02d} 10:00:00"
        found += [
            {"type": "conversation", "external_id": f"c{number}", "first_message_at": moment},
            {
                "type": "note",
                "external_id": name or f"unnamed-{number}",
                "conversation": f"c{number}",
                "title": title,
                "summary": summary,
                "path": path,
                "key_conclusions": [],
                "created_at": moment,
            },
        ]
    relation = {"source": "n-redis", "target": "n-plain", "relation_type": "LEADS_TO"}
    return [*found, {"type": "relation", "confidence": 1.0, **relation}]


def fill(application: Application) -> None:
    """Store the notes and embed them."""
    assert not application.importer.import_records(records()).refused
    assert not application.batches.embed_many(application.batches.unembedded()).reasons
    application.companions.fill()


@contextmanager
def graded_application(folder: Path) -> Iterator[Application]:
    """An application over a folder that holds the notes."""
    with (
        StubProvider(vector=topic_vector) as provider,
        opened(folder, stub_values(provider)) as application,
    ):
        fill(application)
        yield application


def write_lines(path: Path, lines: Sequence[Mapping[str, Any]]) -> Path:
    """Write JSON Lines."""
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    return path
