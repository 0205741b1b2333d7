"""``crystal status``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from rich.console import Console

from cli.answers import ID, PROJECT, TITLE, day_of, text_of
from cli.options import with_session
from cli.session import Session
from cli.tables import Column, show_facts, show_heading, show_line, show_table

_RECENT = (ID, TITLE, PROJECT, Column("Created"))


@click.command()
@with_session
def status(session: Session) -> None:
    """Show what the server holds."""
    data = session.get("/api/status")
    session.output.show(data, lambda console: _draw(console, data, session.client.base_url))


def _draw(console: Console, data: Mapping[str, Any], url: str) -> None:
    stats = data.get("stats") or {}
    embedding = data.get("embedding") or {}
    notes = embedding.get("notes") or {}
    name = data.get("implementation", "ChatCrystal")
    facts = [
        ("Server", f"{name} {text_of(data.get('version'))} at {url}"),
        ("Notes", text_of(stats.get("totalNotes"))),
        ("Conversations", text_of(stats.get("totalConversations"))),
        ("Tags", text_of(stats.get("totalTags"))),
    ]
    if embedding:
        facts.append(("Model", f"{embedding.get('provider')}/{embedding.get('model')}"))
        counts = ", ".join(f"{count} {state}" for state, count in notes.items())
        facts.append(("Embedded", counts or "nothing yet"))
    show_heading(console, "Status")
    show_facts(console, facts)
    recent = data.get("recentNotes") or []
    if recent:
        show_heading(console, "Newest notes")
        show_table(console, _RECENT, [_cells(note) for note in recent])
    show_line(console)


def _cells(note: Mapping[str, Any]) -> list[str]:
    return [
        text_of(note.get("id")),
        text_of(note.get("title")),
        text_of(note.get("project_name")),
        day_of(note.get("created_at")),
    ]
