"""``crystal tags``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from rich.console import Console

from cli.answers import ID, PROJECT, TITLE, show_nothing, text_of
from cli.options import query_of, with_session
from cli.session import Session
from cli.tables import Column, show_heading, show_line, show_table

_COLUMNS = (ID, Column("Tag", widest=40), Column("Notes", is_number=True))
_NESTED = Column("Nested tags", widest=40)


@click.command()
@click.argument("tag", metavar="[TAG]", required=False)
@click.option("--prefix", help="Only tags that begin with this, such as lang/.")
@click.option("--like", help="Only tags that hold this text.")
@with_session
def tags(session: Session, tag: str | None, prefix: str | None, like: str | None) -> None:
    """List tags, or the notes of one.

    Without TAG all tags are listed with the number of their notes, the most used first.
    """
    if tag is not None:
        if prefix is not None or like is not None:
            raise click.UsageError("Give a TAG, or --prefix and --like, not both.")
        _show_notes(session, tag)
        return
    wanted = {"prefix": prefix, "like": like}
    data = session.get("/api/tags", query_of(wanted.items()))

    def draw(console: Console) -> None:
        if not data:
            show_nothing(console, "No tags found.")
            return
        show_heading(console, f"{len(data)} {'tag' if len(data) == 1 else 'tags'}")
        has_nested = any("children" in row for row in data)
        columns = (*_COLUMNS, _NESTED) if has_nested else _COLUMNS
        show_table(console, columns, [_cells(row) for row in data])
        show_line(console)

    session.output.show(data, draw)


def _cells(row: Mapping[str, Any]) -> list[str]:
    cells = [text_of(row.get(key)) for key in ("id", "name", "count")]
    if "children" in row:
        cells.append(", ".join(str(child.get("name")) for child in row["children"]))
    return cells


def _show_notes(session: Session, tag: str) -> None:
    data = session.get("/api/tags/notes", [("tag", tag)])

    def draw(console: Console) -> None:
        if not data["items"]:
            show_nothing(console, "No notes found.")
            return
        show_heading(console, f"Notes with the tag {tag}")
        rows = [
            [text_of(row.get(key)) for key in ("note_id", "title", "project_name")]
            for row in data["items"]
        ]
        show_table(console, (ID, TITLE, PROJECT), rows)
        show_line(console)

    session.output.show(data, draw)
