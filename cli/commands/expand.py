"""``crystal notes expand``: what a note is made of, and where its graph leads.

Owns its tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from rich.console import Console

from cli.answers import ID, TITLE, number, show_nothing, text_of
from cli.options import WHOLE, query_of, with_session
from cli.references import NOTE, note_id_of
from cli.session import Session
from cli.tables import Column, show_heading, show_line, show_table

_FRAGMENTS = (
    Column("Fragment"),
    Column("Chunk", is_number=True),
    Column("Heading", widest=30),
    Column("Text", gives_way=True),
)
_RELATIONS = (Column("Type"), Column("From", gives_way=True), Column("To", gives_way=True))
_NEIGHBOURS = (
    Column("Score", is_number=True),
    ID,
    TITLE,
    Column("Relations", widest=30),
    Column("Shared", gives_way=True),
)
_CONTAINS = "contains"

Row = Mapping[str, Any]


@click.command()
@click.argument("note", metavar="NOTE", type=NOTE)
@click.option("-l", "--limit", type=WHOLE, help="Neighbours to show; 10 by default, 100 at most.")
@with_session
def expand(session: Session, note: str, limit: int | None) -> None:
    """Show the fragments of a note, their relations, and its neighbours.

    Neighbours are the notes that relevance flows to along links, relations, and shared tags, files
    and errors.
    """
    note_id = note_id_of(session, note)
    data = session.get(f"/api/notes/{note_id}/expand", query_of([("limit", limit)]))
    session.output.show(data, lambda console: _draw(console, data))


def _draw(console: Console, data: Row) -> None:
    show_heading(console, f"{text_of(data.get('note_id'))}  {text_of(data.get('title'))}")
    show_table(console, _FRAGMENTS, [_fragment(row) for row in data["fragments"]])
    show_line(console)
    # That the note contains its chunks is told above.
    relations = [row for row in data["relations"] if row.get("type") != _CONTAINS]
    if relations:
        show_line(console, "Relations", "bold")
        show_table(console, _RELATIONS, [_relation(row) for row in relations])
        show_line(console)
    if not data["neighbours"]:
        show_nothing(console, "No neighbours found.")
        return
    show_line(console, "Neighbours", "bold")
    show_table(console, _NEIGHBOURS, [_neighbour(row) for row in data["neighbours"]])
    show_line(console)


def _fragment(row: Row) -> list[str]:
    names = ("fragment", "chunk_id", "heading_path", "text")
    return [text_of(row.get(name)) for name in names]


def _relation(row: Row) -> list[str]:
    return [text_of(row.get("type")), _end(row["source"]), _end(row["target"])]


def _end(end: Row) -> str:
    entity = end.get("entity")
    if entity:
        return f"{text_of(entity.get('kind'))} {text_of(entity.get('name'))}"
    place = f" chunk {end['chunk_id']}" if end.get("chunk_id") else ""
    return f"note {text_of(end.get('note_id'))}{place}"


def _neighbour(row: Row) -> list[str]:
    return [
        number(row.get("score")),
        text_of(row.get("note_id")),
        text_of(row.get("title")),
        ", ".join(map(text_of, row.get("relations") or ())),
        ", ".join(text_of(each.get("name")) for each in row.get("entities") or ()),
    ]
