"""``crystal notes``: lists, single notes, their relations, deletion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich.console import Console

from cli.answers import (
    ID,
    PROJECT,
    TAGS,
    TITLE,
    day_of,
    number,
    show_nothing,
    tags_of,
    text_of,
)
from cli.commands.drafts import add, edit
from cli.commands.expand import expand
from cli.commands.neighbours import backlinks, boosted, connections, hidden, shared_tags
from cli.confirmation import confirm
from cli.lean import names_of, with_fields
from cli.options import (
    WHOLE,
    filter_options,
    query_of,
    takes_options_anywhere,
    with_session,
)
from cli.pages import LARGEST_PAGE, PAGE, offset_of, show_page_line
from cli.references import NOTE, note_id_of
from cli.session import Session
from cli.tables import Column, show_facts, show_heading, show_line, show_table, show_text

_LIST = (ID, TITLE, PROJECT, TAGS, Column("Created"))
_RELATIONS = (
    ID,
    Column("Type"),
    Column("Confidence", is_number=True),
    Column("From", is_number=True),
    Column("To", is_number=True),
    Column("Other note", widest=40),
)


fields_option = click.option(
    "--fields", metavar="NAMES", help="Only these fields in JSON, such as id,title,summary."
)


@click.group()
@takes_options_anywhere
def notes() -> None:
    """List, show, write and delete notes.

    NOTE is an id, a path, a title, a slug, or the end of a path or slug.
    """


notes.add_command(add)
notes.add_command(edit)
for neighbour in (hidden, connections, backlinks, shared_tags, boosted, expand):
    notes.add_command(neighbour)


@notes.command("list")
@click.option("-s", "--search", help="Text to look for, by SQL LIKE.")
@click.option(
    "--match",
    type=click.Choice(["like", "literal"]),
    help="Whether % and _ in --search are wildcards (like, the default) or themselves.",
)
@click.option(
    "--in",
    "columns",
    metavar="COLUMNS",
    help="Where to look: title,summary by default; also conclusions, tags, body.",
)
@filter_options
@click.option("-p", "--page", type=PAGE, help="Page to show, from 1.")
@click.option(
    "-l",
    "--limit",
    type=WHOLE,
    default=20,
    show_default=True,
    help=f"Notes a page, {LARGEST_PAGE} at most.",
)
@click.option("--offset", type=WHOLE, help="How many notes to skip, instead of --page.")
@fields_option
@with_session
def list_notes(
    session: Session,
    *,
    columns: str | None,
    page: int | None,
    limit: int,
    offset: int | None,
    tags: tuple[str, ...],
    fields: str | None,
    **options: Any,
) -> None:
    """List notes, newest first."""
    size, start = offset_of(page, limit, offset)
    given = {**options, "in": columns, "tag": tags, "offset": start, "limit": size}
    data = session.get("/api/notes", query_of(given.items()))

    def draw(console: Console) -> None:
        if not data["items"]:
            show_nothing(console, "No notes found.")
            return
        show_heading(console, "Notes")
        show_table(console, _LIST, [_listed(note) for note in data["items"]])
        show_page_line(console, data)

    session.output.show(with_fields(data, names_of(fields)), draw)


def _listed(note: Mapping[str, Any]) -> list[str]:
    return [
        text_of(note.get("id")),
        text_of(note.get("title")),
        text_of(note.get("project_name")),
        tags_of(note),
        day_of(note.get("created_at")),
    ]


@notes.command()
@click.argument("note", metavar="NOTE", type=NOTE)
@click.option("--open", "is_opened", is_flag=True, help="Record that the note was opened.")
@fields_option
@with_session
def get(session: Session, note: str, is_opened: bool, fields: str | None) -> None:
    """Show one note."""
    note_id = note_id_of(session, note)
    data = session.get(f"/api/notes/{note_id}")
    if is_opened:
        session.call("POST", f"/api/notes/{note_id}/open")
    shown = with_fields(data, names_of(fields))
    session.output.show(shown, lambda console: show_note(console, data))


def show_note(console: Console, note: Mapping[str, Any]) -> None:
    """Print a whole note."""
    show_heading(console, text_of(note.get("title")))
    facts = [
        ("ID", text_of(note.get("id"))),
        ("Project", text_of(note.get("project_name"))),
        ("Tags", ", ".join(map(str, note.get("tags") or []))),
        ("Created", text_of(note.get("created_at"))),
        ("Embedding", text_of(note.get("embedding_error") or note.get("embedding_status"))),
        ("Conversation", text_of(note.get("conversation_id"))),
    ]
    show_facts(console, [fact for fact in facts if fact[1]])
    for text in (note.get("summary"), note.get("body")):
        if text:
            show_line(console)
            show_text(console, str(text))
    _show_conclusions(console, note.get("key_conclusions"))
    _show_snippets(console, note.get("code_snippets"))
    show_line(console)


def _show_conclusions(console: Console, conclusions: object) -> None:
    if isinstance(conclusions, list) and conclusions:
        show_line(console)
        show_line(console, "Conclusions", "bold")
        for conclusion in conclusions:
            show_text(console, f"- {conclusion}")


def _show_snippets(console: Console, snippets: object) -> None:
    for snippet in snippets if isinstance(snippets, list) else ():
        if isinstance(snippet, Mapping):
            show_line(console)
            show_line(console, text_of(snippet.get("description")) or "Code", "bold")
            show_text(console, text_of(snippet.get("code")), "dim")


@notes.command()
@click.argument("note", metavar="NOTE", type=NOTE)
@with_session
def relations(session: Session, note: str) -> None:
    """List a note's relations in both directions, surest first."""
    note_id = note_id_of(session, note)
    data = session.get(f"/api/notes/{note_id}/relations")

    def draw(console: Console) -> None:
        if not data:
            show_nothing(console, "No relations found.")
            return
        show_heading(console, f"Relations of note {note_id}")
        show_table(console, _RELATIONS, _relation_rows(data, note_id))
        show_line(console)

    session.output.show(data, draw)


def _relation_rows(relations: Sequence[Mapping[str, Any]], note: int) -> list[list[str]]:
    return [
        [
            text_of(row.get("id")),
            text_of(row.get("relation_type")),
            number(row.get("confidence"), ".0%"),
            text_of(row.get("source_note_id")),
            text_of(row.get("target_note_id")),
            text_of(row["target_title" if row.get("source_note_id") == note else "source_title"]),
        ]
        for row in relations
    ]


@notes.command()
@click.argument("note", metavar="NOTE", type=NOTE)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@with_session
def delete(session: Session, note: str, yes: bool) -> None:
    """Delete a note."""
    note_id = note_id_of(session, note)
    confirm(session, f"Delete note {note_id}?", is_sure=yes)
    session.call("DELETE", f"/api/notes/{note_id}")
    session.output.show(
        {"deleted": note_id}, lambda console: show_line(console, f"Note {note_id} is deleted.")
    )
