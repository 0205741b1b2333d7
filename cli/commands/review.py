"""``crystal conversations filtered``, ``keep`` and ``drop``: reviewing what the gate left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import click
from rich.console import Console

from cli.answers import PROJECT, number, show_nothing, text_of
from cli.options import WHOLE, query_of, with_session
from cli.pages import LARGEST_PAGE, show_page_line
from cli.session import Session
from cli.tables import Column, show_heading, show_line, show_table

_COLUMNS = (
    Column("ID", widest=36),
    PROJECT,
    Column("Name", widest=30),
    Column("Source"),
    Column("Score", is_number=True),
    Column("Why"),
)


@click.command()
@click.option(
    "-n",
    "--limit",
    type=WHOLE,
    default=20,
    show_default=True,
    help=f"How many, {LARGEST_PAGE} at most.",
)
@click.option("--offset", type=WHOLE, default=0, help="How many to skip.")
@with_session
def filtered(session: Session, *, limit: int, offset: int) -> None:
    """List conversations that got no note, nearest to getting one first.

    Those that were dropped are left out.
    """  # fmt: skip
    query = query_of({"limit": limit, "offset": offset}.items())
    data = session.get("/api/summarize/filtered", query)

    def draw(console: Console) -> None:
        if not data["items"]:
            show_nothing(console, "Nothing is left to review.")
            return
        show_heading(console, "Conversations without a note")
        show_table(console, _COLUMNS, [_listed(each) for each in data["items"]])
        show_page_line(console, data)

    session.output.show(data, draw)


def _listed(conversation: Mapping[str, Any]) -> list[str]:
    return [
        text_of(conversation.get("id")),
        text_of(conversation.get("project_name")),
        text_of(conversation.get("slug")),
        text_of(conversation.get("source")),
        number(conversation.get("experience_score"), ".0f"),
        text_of(conversation.get("experience_gate_reason")),
    ]


@click.command()
@click.argument("conversation", metavar="ID")
@with_session
def keep(session: Session, conversation: str) -> None:
    """Make a note of a conversation, whatever the gate says."""
    data = session.call("POST", _path(conversation, "keep")).data
    text = f"Conversation {conversation} is note {data['note_id']}."
    session.output.show(data, lambda console: show_line(console, text))


@click.command()
@click.argument("conversation", metavar="ID")
@with_session
def drop(session: Session, conversation: str) -> None:
    """Leave a conversation without a note for good."""
    data = session.call("POST", _path(conversation, "drop")).data
    text = f"Conversation {conversation} gets no note."
    session.output.show(data, lambda console: show_line(console, text))


def _path(conversation: str, deed: str) -> str:
    return f"/api/conversations/{quote(conversation, safe='', errors='replace')}/{deed}"
