"""The command ``crystal``: the table of commands, and the edge where errors become exit codes.

Owns what ``crystal --help`` shows, and the wiring of the server that is started in the
background. Must hold no command itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import IO, Any

import click
from click.exceptions import Exit, NoArgsIsHelpError
from click.shell_completion import CompletionItem

from cli.admin.background import start
from cli.failures import FAILED, UNEXPECTED, USAGE, Failure
from cli.loading import loaded
from cli.options import root_options
from cli.output import print_failure
from cli.session import Wiring

EXIT_USAGE = 2

_ASKED_JSON = "cli.main.asked_json"


@dataclass(frozen=True, slots=True)
class Row:
    """A command: its name, where it is (``module:attribute``), and the first line of its help."""

    name: str
    target: str
    help: str


# A command is loaded when it is run (cli.loading).
COMMANDS: dict[str, tuple[Row, ...]] = {
    "Search": (
        Row("search", "cli.commands.search:search", "Search notes by meaning."),
        Row(
            "why",
            "cli.commands.why:why",
            "Tell why a note stands where it stands in an answer, or is missing.",
        ),
        Row(
            "eval",
            "cli.commands.eval:evaluation",
            "Measure how well notes are found, on graded queries.",
        ),
    ),
    "Data": (
        Row("notes", "cli.commands.notes:notes", "List, show, write and delete notes."),
        Row("tags", "cli.commands.tags:tags", "List tags, or the notes of one."),
        Row(
            "conversations",
            "cli.commands.conversations:conversations",
            "List, show, search and delete conversations.",
        ),
        Row(
            "summarize",
            "cli.commands.summarize:summarize",
            "Have the server make notes of conversations.",
        ),
        Row("relations", "cli.commands.relations:relations", "Join notes, or part them."),
        Row("embed", "cli.commands.embed:embed", "Have the server embed notes."),
        Row("import", "cli.admin.importing:importing", "Bring in conversations and notes."),
        Row("export", "cli.admin.export:export", "Write everything to a file or folder."),
    ),
    "Server": (
        Row("status", "cli.commands.status:status", "Show what the server holds."),
        Row("config", "cli.commands.config:config", "Show, change and test the configuration."),
        Row("serve", "cli.admin.serve:serve", "Run the server; stop it, or see whether it runs."),
        Row(
            "mcp",
            "cli.commands.mcp:mcp",
            "Offer the notes to agents by the Model Context Protocol.",
        ),
    ),
    "This machine": (
        Row("tokens", "cli.admin.tokens:tokens", "Make, list and revoke API tokens."),
        Row("db", "cli.admin.db:db", "Copy a database into another."),
        Row("demo", "cli.admin.demo:demo", "Search the example notes and see it explained."),
        Row(
            "reindex",
            "cli.admin.reindex:reindex",
            "Embed the notes of this machine's database, and write anew what words find them by.",
        ),
        Row(
            "doctor",
            "cli.admin.doctor:doctor",
            "Check the database of this machine, and mend it.",
        ),
        Row(
            "backup",
            "cli.admin.backup:backup",
            "Copy the database of this machine into the new file PATH, and read that back.",
        ),
        Row(
            "restore",
            "cli.admin.backup:restore",
            "Make the backup PATH the database of this machine.",
        ),
        Row(
            "calibrate",
            "cli.admin.calibrate:command",
            "Fit the means and the border of the active space.",
        ),
    ),
}
BY_NAME = {row.name: row for rows in COMMANDS.values() for row in rows}


class Reported(click.ClickException):
    """An error as it is shown: one line, or one JSON object."""

    def __init__(self, failure: Failure, *, as_json: bool) -> None:
        super().__init__(failure.text)
        self._failure = failure
        self._as_json = as_json

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the error on stderr."""
        print_failure(self._failure, as_json=self._as_json)


class ReportedUsage(Reported):
    """A command line that cannot be run as it stands."""

    exit_code = EXIT_USAGE


@contextmanager
def _reported(*, as_json: bool) -> Iterator[None]:
    """Turn every error of a block into one that is shown in one line."""
    try:
        yield
    except (Exit, click.Abort, NoArgsIsHelpError, Reported, BrokenPipeError):
        raise
    except click.UsageError as error:
        shown = Failure(error.format_message(), USAGE)
        raise ReportedUsage(shown, as_json=as_json) from error
    except click.ClickException as error:
        raise Reported(Failure(error.format_message(), FAILED), as_json=as_json) from error
    except Failure as failure:
        raise Reported(failure, as_json=as_json) from failure
    except Exception as error:  # edge: people get a sentence, never a stack trace
        shown = Failure(f"Unexpected {type(error).__name__}: {error}", UNEXPECTED)
        raise Reported(shown, as_json=as_json) from error


class Crystal(click.Group):
    """The group of all commands, which loads each of them when it is needed."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Parse the command line, with errors in one line."""
        own = args[: args.index("--")] if "--" in args else args
        as_json = "--json" in own
        with _reported(as_json=as_json):
            context = super().make_context(info_name, args, parent, **extra)
        context.meta[_ASKED_JSON] = as_json
        return context

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, with errors in one line."""
        with _reported(as_json=ctx.meta[_ASKED_JSON]):
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(BY_NAME)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command."""
        row = BY_NAME.get(cmd_name)
        if row is None:
            return None
        found: click.Command = loaded(row.target)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was named, or say which name is near."""
        if args[0] not in BY_NAME and not ctx.resilient_parsing:
            near = get_close_matches(args[0], BY_NAME, 1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise click.UsageError(f"No such command '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table, without loading what it names."""
        for section, rows in COMMANDS.items():
            with formatter.section(section):
                formatter.write_dl([(row.name, row.help) for row in rows])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete names from the table, without loading what it names."""
        found = [
            CompletionItem(row.name, help=row.help)
            for row in BY_NAME.values()
            if row.name.startswith(incomplete)
        ]
        return found + click.Command.shell_complete(self, ctx, incomplete)


@click.group(
    cls=Crystal,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Data go to stdout: as JSON, or as tables on a terminal. The options above may also "
    "follow the command. The token of a server that wants one is read from CRYSTAL_API_TOKEN.",
)
@root_options
@click.version_option(
    None, "-V", "--version", package_name="chatcrystal-search", message="%(package)s %(version)s"
)
def crystal() -> None:
    """Search notes distilled from conversations with AI coding tools."""


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line of this process; never returns."""
    crystal.main(None if args is None else list(args), obj=Wiring(start=start))


if __name__ == "__main__":
    main()
