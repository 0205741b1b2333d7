"""``crystal tokens``: makes, lists and revokes the API tokens of this machine's database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict

import click
from rich.console import Console

from app import factory
from app.domain.tokens import SCOPE_READ, SCOPES
from app.maintenance.tokens import TokenKeeper
from app.settings import store
from cli.admin.faults import reported
from cli.answers import show_nothing
from cli.options import takes_options_anywhere, with_session
from cli.session import Session
from cli.tables import Column, show_heading, show_line, show_table

_LIST = (Column("Name"), Column("Scope"), Column("Created"))


@click.group()
@takes_options_anywhere
def tokens() -> None:
    """Make, list and revoke API tokens.

    Other machines need one; a client sends it as CRYSTAL_API_TOKEN, or in the header
    "Authorization: Bearer TOKEN".
    """


@contextmanager
def _keeper() -> Iterator[TokenKeeper]:
    with reported(), closing(factory.build(store.load())) as application:
        yield TokenKeeper(application.database)


@tokens.command()
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice(SCOPES),
    default=SCOPE_READ,
    show_default=True,
    help="What it may do; write includes read.",
)
@with_session
def create(session: Session, *, name: str, scope: str) -> None:
    """Make a token and show it, this once."""
    with _keeper() as keeper:
        token = keeper.create(name, scope)

    def draw(console: Console) -> None:
        show_line(console, token)
        session.output.say("Keep it: it is not shown again.")

    session.output.show({"name": name, "scope": scope, "token": token}, draw)


@tokens.command("list")
@with_session
def list_tokens(session: Session) -> None:
    """List the tokens, without what they are."""
    with _keeper() as keeper:
        found = keeper.every()

    def draw(console: Console) -> None:
        if not found:
            show_nothing(console, "No tokens.")
            return
        show_heading(console, "API tokens")
        show_table(console, _LIST, [[each.name, each.scope, each.created_at] for each in found])

    session.output.show([asdict(each) for each in found], draw)


@tokens.command()
@click.argument("name")
@with_session
def revoke(session: Session, *, name: str) -> None:
    """Make a token worthless, at once."""
    with _keeper() as keeper:
        keeper.revoke(name)
    session.output.show(
        {"revoked": name}, lambda console: show_line(console, f"The token {name} is revoked.")
    )
