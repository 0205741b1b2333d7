"""``crystal conversations``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import click
from rich.console import Console

from cli.answers import PROJECT, day_of, show_nothing, text_of
from cli.commands import review, turns
from cli.confirmation import confirm
from cli.options import (
    WHOLE,
    in_order,
    query_of,
    takes_options_anywhere,
    with_session,
)
from cli.pages import LARGEST_PAGE, show_page_line
from cli.session import Session
from cli.tables import Column, show_facts, show_heading, show_line, show_table, show_text

_COLUMNS = (
    Column("ID", widest=36),
    PROJECT,
    Column("Name", widest=30),
    Column("Source"),
    Column("Status"),
    Column("Messages", is_number=True),
    Column("Last active"),
)

_list_options = in_order(
    (
        click.option("-s", "--source", help="Only conversations with this tool."),
        click.option("--status", help="Only conversations with this status."),
        click.option("-q", "--search", help="Text in the name or project, by SQL LIKE."),
        click.option("--project", help="Only projects whose name holds this, by SQL LIKE."),
        click.option("-n", "--limit", type=WHOLE, default=20, show_default=True,
                     help=f"How many, {LARGEST_PAGE} at most."),
        click.option("--offset", type=WHOLE, default=0, help="How many to skip."),
    )
)  # fmt: skip


@click.group(invoke_without_command=True)
@_list_options
@takes_options_anywhere
@click.pass_context
def conversations(context: click.Context, /, **options: Any) -> None:
    """List, show, search and delete conversations.

    Without a command: list.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_conversations, **options)
    else:
        # Options that stand before the word `list` count as well.
        context.default_map = {"list": options}


@conversations.command("list")
@_list_options
@with_session
def list_conversations(session: Session, **options: Any) -> None:
    """List conversations, last active first."""
    data = session.get("/api/conversations", query_of(options.items()))

    def draw(console: Console) -> None:
        if not data["items"]:
            show_nothing(console, "No conversations found.")
            return
        show_heading(console, "Conversations")
        show_table(console, _COLUMNS, [_listed(each) for each in data["items"]])
        show_page_line(console, data)

    session.output.show(data, draw)


def _listed(conversation: Mapping[str, Any]) -> list[str]:
    return [
        text_of(conversation.get("id")),
        text_of(conversation.get("project_name")),
        text_of(conversation.get("slug")),
        text_of(conversation.get("source")),
        text_of(conversation.get("status")),
        text_of(conversation.get("message_count")),
        day_of(conversation.get("last_message_at")),
    ]


@conversations.command()
@click.argument("conversation", metavar="ID")
@with_session
def get(session: Session, conversation: str) -> None:
    """Show a conversation with its messages."""
    data = session.get(_path(conversation))
    session.output.show(data, lambda console: _show_conversation(console, data))


def _show_conversation(console: Console, conversation: Mapping[str, Any]) -> None:
    heads = ("ID", "Project", "Name", "Source", "Status", "Messages", "Last active")
    facts = [fact for fact in zip(heads, _listed(conversation), strict=True) if fact[1]]
    show_heading(console, "Conversation")
    show_facts(console, facts)
    for message in conversation.get("messages") or ():
        show_line(console)
        who = text_of(message.get("role") or message.get("type"))
        show_line(console, f"{who}  {text_of(message.get('timestamp'))}", "bold")
        show_text(console, text_of(message.get("content")))
    show_line(console)


@conversations.command()
@click.argument("conversation", metavar="ID")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@with_session
def delete(session: Session, conversation: str, yes: bool) -> None:
    """Delete a conversation with its messages and its note."""
    confirm(session, f"Delete conversation {conversation} and its note?", is_sure=yes)
    session.call("DELETE", _path(conversation))
    session.output.show(
        {"deleted": conversation},
        lambda console: show_line(console, f"Conversation {conversation} is deleted."),
    )


def _path(conversation: str) -> str:
    # What the shell handed over as bytes that are no UTF-8 is no id.
    return f"/api/conversations/{quote(conversation, safe='', errors='replace')}"


conversations.add_command(turns.show)
conversations.add_command(turns.search)
conversations.add_command(review.filtered)
conversations.add_command(review.keep)
conversations.add_command(review.drop)
