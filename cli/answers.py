"""Answers of searches as tables.

Owns their columns and the texts for empty ones. Must not call the server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from cli.tables import Column, show_heading, show_line, show_marked, show_table, show_text

TITLE_WIDTH = 40
PROJECT_WIDTH = 20
SHOWN_TAGS = 3

TITLE = Column("Title", widest=TITLE_WIDTH)
PROJECT = Column("Project", widest=PROJECT_WIDTH)
TAGS = Column("Tags", gives_way=True)
ID = Column("ID", is_number=True)

_MAIN = (Column("Score", is_number=True), ID, TITLE, PROJECT, TAGS)
_KNOWN = {"note_id", "conversation_id", "title", "project_name", "project", "score", "tags"}


def show_found(console: Console, found: Sequence[Mapping[str, Any]], query: str) -> None:
    """Print what a search found, best first, extra fields as further columns."""
    if not found:
        show_nothing(console, "No results found.")
        return
    results = "result" if len(found) == 1 else "results"
    show_heading(console, f'{len(found)} {results} for "{query}"')
    columns, rows = list(_MAIN), [_cells(row) for row in found]
    if any(row.get("via_relation") for row in found):
        columns.append(Column("Via"))
        for cells, row in zip(rows, found, strict=True):
            cells.append(text_of(row.get("via_relation")))
    extras = [
        name
        for name, value in found[0].items()
        if name not in {*_KNOWN, "via_relation", "passage"}
        and not isinstance(value, list | Mapping)
    ]
    short = [name for name in extras if name != "summary"]
    columns += [Column(name, widest=TITLE_WIDTH) for name in short]
    for cells, row in zip(rows, found, strict=True):
        cells += [text_of(row.get(name)) for name in short]
    show_table(console, columns, rows)
    show_line(console)
    if any(row.get("hints") for row in found):
        _show_hints(console, found)
    elif "summary" in extras:
        _show_summaries(console, found)
    if any("passage" in row for row in found):
        _show_passages(console, found)


def _cells(row: Mapping[str, Any]) -> list[str]:
    return [
        number(row.get("score")),
        text_of(row.get("note_id")),
        text_of(row.get("title")),
        text_of(row.get("project_name")),
        tags_of(row),
    ]


def _show_summaries(console: Console, found: Sequence[Mapping[str, Any]]) -> None:
    for row in found:
        show_line(console, f"{text_of(row.get('note_id'))}  {text_of(row.get('title'))}", "bold")
        show_text(console, text_of(row.get("summary")))
        show_line(console)


def _show_hints(console: Console, found: Sequence[Mapping[str, Any]]) -> None:
    """Print the fragments that speak for each note, and the notes of the same content."""
    for row in found:
        show_line(console, f"{text_of(row.get('note_id'))}  {text_of(row.get('title'))}", "bold")
        for hint in row.get("hints") or ():
            place = text_of(hint.get("heading_path"))
            told = f"{place}: {text_of(hint.get('preview'))}" if place else hint.get("preview")
            show_text(console, f"{number(hint.get('score'))}  {text_of(told)}")
        for replica in row.get("replicas") or ():
            show_line(
                console,
                f"Same content: {text_of(replica.get('note_id'))}  {text_of(replica.get('title'))}",
            )
        show_line(console)


def _show_passages(console: Console, found: Sequence[Mapping[str, Any]]) -> None:
    """Print the best passage of each note, the words of the query in bold."""
    for row in found:
        passage = row.get("passage")
        if not isinstance(passage, Mapping):
            continue
        show_line(console, f"{text_of(row.get('note_id'))}  {text_of(row.get('title'))}", "bold")
        show_marked(console, text_of(passage.get("text")), passage.get("extents") or ())
        show_line(console)


def show_nothing(console: Console, text: str) -> None:
    """Say that a list is empty."""
    show_line(console)
    show_line(console, text)
    show_line(console)


def text_of(value: object) -> str:
    """Return a value as a cell; nothing for null."""
    return "" if value is None else str(value)


def number(value: object, form: str = ".3f") -> str:
    """Return a number as a cell, ``-`` for one that is missing."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return format(value, form) if is_number else "-"


def tags_of(row: Mapping[str, Any]) -> str:
    """Return the first tags of a row."""
    return ", ".join(str(tag) for tag in (row.get("tags") or [])[:SHOWN_TAGS])


def day_of(value: object) -> str:
    """Return the day of a time in ISO 8601."""
    return text_of(value)[:10]
