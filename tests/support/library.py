"""Notes as an import brings them, embedded and with companions, many in few calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.factory import Application


@dataclass(frozen=True)
class Entry:
    """A note to be stored; a cosine that its title plants holds for all of its vectors."""

    title: str
    summary: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    project: str = "p"
    path: str | None = None
    source: str = "claude-code"
    source_type: str = "imported-conversation"
    created_at: str = "2026-01-01 00:00:00"


def store(
    application: Application,
    entries: Sequence[Entry],
    *,
    embeds: bool = True,
    fills: bool = True,
) -> list[int]:
    """Store notes and return their ids; ``embeds`` and ``fills`` make chunks and companions."""
    before = application.batches.everything()
    report = application.importer.import_records(_records(entries, len(before)))
    assert not report.refused
    ids = [note_id for note_id in application.batches.everything() if note_id not in before]
    if embeds:
        assert not application.batches.embed_many(ids).reasons
        if fills:
            application.companions.fill()
    return ids


def _records(entries: Sequence[Entry], start: int) -> Iterator[dict[str, Any]]:
    for number, entry in enumerate(entries, start):
        yield {
            "type": "conversation",
            "external_id": f"c{number}",
            "project_name": entry.project,
            "source": entry.source,
        }
        yield {
            "type": "note",
            "external_id": f"n{number}",
            "conversation": f"c{number}",
            "title": entry.title,
            "summary": entry.summary,
            "tags": list(entry.tags),
            "aliases": list(entry.aliases),
            "path": entry.path,
            "source_type": entry.source_type,
            "created_at": entry.created_at,
        }
