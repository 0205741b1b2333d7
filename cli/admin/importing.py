"""``crystal import``: the group of everything that brings data in.

Without a command it imports the conversations that tools keep on this machine. Other sources are
commands of their own; those that read this machine's files directly are in ``cli.admin``.
"""

from __future__ import annotations

from typing import Any

import click

from app.domain.imports import ImportRequest
from app.settings.sources import NAMES
from cli.admin.import_chatcrystal import chatcrystal
from cli.admin.import_conversations import bring_in, moment_of, rehearse, settings_of
from cli.admin.import_markdown import markdown
from cli.commands.jsonl import jsonl
from cli.options import in_order, takes_options_anywhere, with_session
from cli.session import Session

_options = in_order(
    (
        click.option("--source", "sources", multiple=True, type=click.Choice(NAMES),
                     help="Only conversations with this tool; may be given several times."),
        click.option("--since", metavar="WHEN",
                     help="Only those active at or after: 2026-03-01, 30d, 12h."),
        click.option("--project", help="Only projects whose name holds this text."),
        click.option("--dry-run", is_flag=True,
                     help="Count what would be brought in, change nothing."),
        click.option("--watch", is_flag=True,
                     help="Stay and keep up with the tools, until Ctrl-C."),
        click.option("--no-distil", is_flag=True, help="Leave the notes to be made later."),
        click.option("--home", metavar="DIR",
                     help="Look for the tools below this home folder."),
    )
)  # fmt: skip


@click.group("import", invoke_without_command=True)
@_options
@takes_options_anywhere
@click.pass_context
def importing(context: click.Context, /, **options: Any) -> None:
    """Bring in conversations and notes.

    Without a command: the conversations that Claude Code, Codex, Cursor, Copilot and Trae keep on
    this machine, and a note of each that is worth one. Their files are only read; what is unchanged
    is not read again. Secrets are masked.
    """
    if context.invoked_subcommand is None:
        context.invoke(conversations, **options)


@click.command("conversations")
@_options
@with_session
def conversations(
    session: Session,
    *,
    sources: tuple[str, ...],
    since: str | None,
    project: str | None,
    dry_run: bool,
    watch: bool,
    no_distil: bool,
    home: str | None,
) -> None:
    """Bring in conversations with tools."""
    if watch and dry_run:
        raise click.UsageError("--watch and --dry-run exclude each other.")
    request = ImportRequest(sources, moment_of(since), project, dry_run)
    settings = settings_of(home)
    if dry_run:
        rehearse(session.output, settings, request)
    else:
        bring_in(session.output, settings, request, distils=not no_distil, watches=watch)


importing.add_command(jsonl)
importing.add_command(chatcrystal)
importing.add_command(markdown)
