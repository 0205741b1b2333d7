"""``crystal tags``."""

from __future__ import annotations

import click
from rich.console import Console

from cli.answers import ID, show_nothing, text_of
from cli.options import with_session
from cli.session import Session
from cli.tables import Column, show_heading, show_line, show_table

_COLUMNS = (ID, Column("Tag", widest=40), Column("Notes", is_number=True))


@click.command()
@with_session
def tags(session: Session) -> None:
    """List tags with the number of their notes."""
    data = session.get("/api/tags")

    def draw(console: Console) -> None:
        if not data:
            show_nothing(console, "No tags found.")
            return
        show_heading(console, f"{len(data)} {'tag' if len(data) == 1 else 'tags'}")
        keys = ("id", "name", "count")
        show_table(console, _COLUMNS, [[text_of(tag.get(key)) for key in keys] for tag in data])
        show_line(console)

    session.output.show(data, draw)
