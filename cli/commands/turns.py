"""``crystal conversations show`` and ``search``: what was said, turn by turn.

Owns how a turn looks on a terminal. Must not know other commands.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any
from urllib.parse import quote

import click
from rich.console import Console

from cli.answers import day_of, show_nothing, text_of
from cli.cells import single_line
from cli.options import WHOLE, query_of, with_session
from cli.session import Session
from cli.tables import show_facts, show_heading, show_line, show_marked, show_text

_USER = "user"
_FOLDED = 100
"""Characters of a tool's use, or of a thought, where it is folded into one line."""


@click.command("show")
@click.argument("conversation", metavar="ID")
@click.option("--turn", type=WHOLE, help="Only this turn, counted from 1.")
@click.option("--full", is_flag=True, help="Unfold what the tools did and the model thought.")
@with_session
def show(session: Session, conversation: str, *, turn: int | None, full: bool) -> None:
    """Show a conversation turn by turn, tools and thoughts folded."""
    # What the shell handed over as bytes that are no UTF-8 is no id.
    data = session.get(f"/api/conversations/{quote(conversation, safe='', errors='replace')}")
    if turn is not None:
        messages = [each for each in data["messages"] if each.get("turn") == turn]
        data = data | {"messages": messages}
    session.output.show(data, lambda console: _show(console, data, full=full))


def _show(console: Console, conversation: Mapping[str, Any], *, full: bool) -> None:
    heads = ("ID", "Name", "Project", "Source", "Status", "Last active")
    keys = ("id", "slug", "project_name", "source", "status")
    cells = [*(text_of(conversation.get(key)) for key in keys),
             day_of(conversation.get("last_message_at"))]  # fmt: skip
    show_heading(console, "Conversation")
    show_facts(console, [fact for fact in zip(heads, cells, strict=True) if fact[1]])
    messages = conversation.get("messages") or ()
    for turn, said in groupby(messages, key=lambda message: message.get("turn")):
        show_line(console)
        show_line(console, f"Turn {text_of(turn)}", "bold cyan")
        for message in said:
            _show_message(console, message, full=full)
    show_line(console)


def _show_message(console: Console, message: Mapping[str, Any], *, full: bool) -> None:
    thinking, content = text_of(message.get("thinking")), text_of(message.get("content"))
    if thinking:
        _show_aside(console, "thought", thinking, full=full)
    if content:
        style = "bold" if message.get("type") == _USER else "bold green"
        show_line(console, text_of(message.get("role") or message.get("type")), style)
        show_text(console, content)
    for use in message.get("tools") or ():
        given, answer = text_of(use.get("input")), text_of(use.get("output"))
        _show_aside(console, text_of(use.get("name")), given, full=full)
        if full and answer:
            show_text(console, answer, "dim")


def _show_aside(console: Console, head: str, text: str, *, full: bool) -> None:
    if full:
        show_line(console, head, "dim")
        show_text(console, text, "dim")
        return
    line = single_line(text)
    cut = f"{line[:_FOLDED]}…" if len(line) > _FOLDED else line
    show_line(console, f"{head}: {cut}", "dim")


@click.command("search")
@click.argument("words", metavar="QUERY…", nargs=-1, required=True)
@click.option("-l", "--limit", type=WHOLE, default=10, show_default=True, help="How many turns.")
@click.option("--project", help="Only projects whose name holds this text.")
@click.option("-s", "--source", help="Only conversations with this tool.")
@click.option("--since", metavar="WHEN", help="Last active at or after: 2026-03-01, 30d, 12h.")
@with_session
def search(session: Session, *, words: tuple[str, ...], **options: Any) -> None:
    """Search what was said, by its words."""
    query = " ".join(words)
    data = session.get("/api/search/messages", [("q", query), *query_of(options.items())])
    session.output.show(data, lambda console: _show_found(console, data))


def _show_found(console: Console, found: list[Mapping[str, Any]]) -> None:
    if not found:
        show_nothing(console, "Nothing was found.")
        return
    show_heading(console, "Found in conversations")
    for row in found:
        name = text_of(row.get("slug")) or text_of(row.get("project_name"))
        note = row.get("note_id")
        where = f"{name}  turn {text_of(row.get('turn'))}  {day_of(row.get('timestamp'))}"
        show_line(console, f"{where}  note {note}" if note is not None else where, "bold")
        show_line(console, text_of(row.get("conversation_id")), "dim")
        passage = row.get("passage") or {}
        show_marked(console, text_of(passage.get("text")), passage.get("extents") or ())
        show_line(console)
