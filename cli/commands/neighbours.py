"""``crystal notes hidden``, ``connections``, ``backlinks``, ``shared-tags`` and ``boosted``.

Owns their tables. Which note is meant may be said by id, path, title or slug.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
from rich.console import Console

from cli.answers import ID, PROJECT, TITLE, number, show_nothing, text_of
from cli.options import WHOLE, query_of, with_session
from cli.references import NOTE, note_id_of
from cli.session import Session
from cli.tables import Column, show_heading, show_line, show_table, show_text

_SCORE = Column("Score", is_number=True)
_EDGES = Column("Edges", widest=40)

Row = Mapping[str, Any]

note_argument = click.argument("note", metavar="NOTE", type=NOTE)
limit_option = click.option("-l", "--limit", type=WHOLE, help="Notes to show, 100 at most.")


def _asked(session: Session, note: str, question: str, options: Mapping[str, Any]) -> Any:
    note_id = note_id_of(session, note)
    return session.get(f"/api/notes/{note_id}/{question}", query_of(options.items()))


@click.command()
@note_argument
@click.option("--deep", is_flag=True, help="Compare section by section, not whole notes.")
@click.option("--include-linked", is_flag=True, help="Keep notes that are linked already.")
@click.option("--per-note", type=WHOLE, help="With --deep: chunks of a note to compare, 3.")
@limit_option
@with_session
def hidden(session: Session, note: str, **options: Any) -> None:
    """List notes close to a note in meaning and not linked to it."""
    data = _asked(session, note, "hidden", options)

    def draw(console: Console) -> None:
        if not data["items"]:
            show_nothing(console, "No hidden notes found.")
            return
        show_heading(console, f"Hidden behind {note}")
        if options["deep"]:
            _show_sections(console, data["items"])
        else:
            _show(console, (_SCORE, ID, TITLE, PROJECT), data["items"], _scored)

    session.output.show(data, draw)


def _show_sections(console: Console, items: Sequence[Row]) -> None:
    for row in items:
        heading = f"{number(row.get('score'))}  {row.get('note_id')}  {text_of(row.get('title'))}"
        show_line(console, heading, "bold")
        show_line(console, f"Matched target sections ({row.get('matched_sections')}):")
        for section in row.get("sections") or ():
            place = section.get("heading_path") or f"Part {section['section'] + 1}"
            show_text(console, f"  {number(section.get('score'))}  {place}")
        show_line(console)


@click.command()
@note_argument
@click.option("--hops", type=WHOLE, help="How many edges away a note may be; 2 by default.")
@click.option(
    "--direction",
    type=click.Choice(["out", "in", "both"]),
    help="Edges that leave (the default), edges that reach, or both.",
)
@limit_option
@with_session
def connections(session: Session, note: str, **options: Any) -> None:
    """List the notes that are reached from a note by links and relations."""
    data = _asked(session, note, "connections", options)

    def draw(console: Console) -> None:
        if data["items"]:
            show_heading(console, f"{_counted(data)} from {note}")
            columns = (Column("Hops", is_number=True), ID, TITLE, PROJECT, _EDGES)
            _show(console, columns, data["items"], _connected)
        else:
            show_nothing(console, "No connections found.")
        _show_unresolved(console, data["unresolved"])

    session.output.show(data, draw)


def _show_unresolved(console: Console, unresolved: Sequence[Row]) -> None:
    if unresolved:
        show_line(console, "Links without a note", "bold")
        for row in unresolved:
            show_text(console, f"{row.get('note_id')}  {text_of(row.get('name'))}")
        show_line(console)


@click.command()
@note_argument
@limit_option
@with_session
def backlinks(session: Session, note: str, **options: Any) -> None:
    """List the notes with a link or relation to a note."""
    data = _asked(session, note, "backlinks", options)

    def draw(console: Console) -> None:
        if not data["items"]:
            show_nothing(console, "No backlinks found.")
            return
        show_heading(console, f"{_counted(data)} to {note}")
        _show(console, (ID, TITLE, PROJECT, _EDGES), data["items"], _linked)

    session.output.show(data, draw)


@click.command("shared-tags")
@note_argument
@click.option("--min-shared", type=WHOLE, help="How many tags must be shared; 1 by default.")
@limit_option
@with_session
def shared_tags(session: Session, note: str, **options: Any) -> None:
    """List the notes that share tags with a note."""
    data = _asked(session, note, "shared-tags", options)

    def draw(console: Console) -> None:
        if not data["items"]:
            show_nothing(console, "No notes share its tags.")
            return
        show_heading(console, f"{_counted(data)} with tags of {note}")
        columns = (Column("Shared", is_number=True), ID, TITLE, PROJECT, Column("Tags"))
        _show(console, columns, data["items"], _sharing)

    session.output.show(data, draw)


@click.command()
@note_argument
@click.argument("words", metavar="[QUERY]...", nargs=-1)
@click.option("-q", "topics", metavar="TOPIC", multiple=True, help="A topic; repeat it for more.")
@click.option("--boost", type=click.FloatRange(0), help="Factor for direct neighbours; 1.5.")
@limit_option
@with_session
def boosted(
    session: Session, note: str, words: tuple[str, ...], topics: tuple[str, ...], **options: Any
) -> None:
    """Search by meaning, the direct neighbours of a note lifted."""
    queries = [*([" ".join(words)] if words else []), *topics]
    if not queries:
        raise click.UsageError("Missing argument '[QUERY]...', or option '-q'.")
    data = _asked(session, note, "boosted", {"q": queries, **options})

    def draw(console: Console) -> None:
        if not data["items"]:
            show_nothing(console, "No results found.")
            return
        show_heading(console, f'"{" + ".join(queries)}" around {note}')
        columns = (
            *(_SCORE, Column("Cosine", is_number=True), Column("Queries", is_number=True)),
            *(ID, TITLE, PROJECT, Column("Linked")),
        )
        _show(console, columns, data["items"], _boosted)

    session.output.show(data, draw)


def _show(console: Console, columns: Sequence[Column], items: Iterable[Row], cells: Any) -> None:
    show_table(console, columns, [cells(row) for row in items])
    show_line(console)


def _counted(data: Row) -> str:
    total, shown = data["total"], len(data["items"])
    notes = "note" if total == 1 else "notes"
    return f"{total} {notes}" if total == shown else f"{shown} of {total} {notes}"


def _named(row: Row) -> list[str]:
    return [text_of(row.get(key)) for key in ("note_id", "title", "project_name")]


def _edges(row: Row) -> str:
    kinds = (str(edge.get("kind")) for edge in row.get("edges") or ())
    return ", ".join(dict.fromkeys(kinds))


def _scored(row: Row) -> list[str]:
    return [number(row.get("score")), *_named(row)]


def _connected(row: Row) -> list[str]:
    return [text_of(row.get("hops")), *_named(row), _edges(row)]


def _linked(row: Row) -> list[str]:
    return [*_named(row), _edges(row)]


def _sharing(row: Row) -> list[str]:
    return [text_of(row.get("score")), *_named(row), ", ".join(map(str, row.get("tags") or ()))]


def _boosted(row: Row) -> list[str]:
    linked = "yes" if row.get("linked") else ""
    numbers = [number(row.get("score")), number(row.get("cosine"))]
    return [*numbers, text_of(row.get("matched_queries")), *_named(row), linked]
