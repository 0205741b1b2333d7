"""``crystal eval``: measures a server on graded queries, and ``crystal eval init`` begins a file.

Owns the options. What needs numpy is loaded when a file was read (``cli.loading``).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from cli.evaluation.asking import served_notes
from cli.evaluation.proposals import proposals
from cli.evaluation.queries import TODO, read_queries
from cli.evaluation.values import ENTRANCES, ServedNote, Wanted
from cli.failures import FAILED, Failure
from cli.loading import loaded
from cli.options import Whole, takes_options_anywhere, with_session
from cli.session import Session
from cli.tables import show_line

ALL = "all"
EXPANSIONS = {"off": (False,), "on": (True,), "both": (False, True)}
SUFFIXES = (".svg", ".png")
WORST = 5
MOST_WORST = 100
NOTES = 10
MOST_NOTES = 1_000
STDOUT = "-"


class FileOrCommand(click.Group):
    """A group that is a command itself, unless the name of one of its own comes first."""

    def __init__(self, *given: Any, usual: click.Command | None = None, **more: Any) -> None:
        super().__init__(*given, **more)
        self.usual = usual

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Parse the command line as that of the command that it means."""
        if self.usual is None or self._names_a_command(args):
            return super().make_context(info_name, args, parent, **extra)
        return self.usual.make_context(info_name, args, parent, **extra)

    def _names_a_command(self, args: Sequence[str]) -> bool:
        parser = self.make_parser(click.Context(self))
        parser.ignore_unknown_options = True
        try:
            _, rest, _ = parser.parse_args(list(args))
        except click.UsageError:
            return False
        return bool(rest) and rest[0] in self.commands

    def get_help(self, ctx: click.Context) -> str:
        """Return the help of the command that it is itself."""
        if self.usual is None:
            return super().get_help(ctx)
        own = click.Context(self.usual, parent=ctx.parent, info_name=ctx.info_name)
        own.terminal_width, own.max_content_width = ctx.terminal_width, ctx.max_content_width
        return self.usual.get_help(own)


def _names(context: click.Context, parameter: click.Parameter, value: Sequence[str]) -> Any:
    """Read names that may be repeated or joined by commas."""
    return tuple(dict.fromkeys(name.strip() for text in value for name in text.split(",")))


def _entrances(context: click.Context, parameter: click.Parameter, value: str) -> Any:
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",")))
    for name in names:
        if name not in ENTRANCES:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(ENTRANCES)}.")
    return names


def _chart(context: click.Context, parameter: click.Parameter, value: Path | None) -> Any:
    if value is not None and value.suffix not in SUFFIXES:
        raise click.BadParameter(f"{value} ends with neither {' nor '.join(SUFFIXES)}.")
    if value is not None and not value.parent.is_dir():
        raise click.BadParameter(f"There is no folder {value.parent}.")
    return value


@click.command("eval", epilog="crystal eval init [FILE] proposes such a file from your own notes.")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--ranker",
    "rankers",
    metavar="NAME",
    multiple=True,
    default=(ALL,),
    callback=_names,
    help="What ranks: a name, several with commas, or all; all by default.",
)
@click.option(
    "--entrance",
    "entrances",
    metavar="NAMES",
    default=",".join(ENTRANCES),
    callback=_entrances,
    show_default=True,
    help="Ways in: like is the text search of the list of notes.",
)
@click.option(
    "--expand",
    type=click.Choice(list(EXPANSIONS)),
    default="off",
    show_default=True,
    help="Whether notes one relation away are added.",
)
@click.option(
    "--baseline",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Exit 1 when a mean is lower than in this file, which --json printed before.",
)
@click.option("--update-baseline", is_flag=True, help="Write the means to the --baseline FILE.")
@click.option(
    "--plot",
    metavar="FILE",
    type=click.Path(path_type=Path),
    callback=_chart,
    help="Draw a chart, .svg or .png; needs the extra plot.",
)
@click.option(
    "--worst",
    type=Whole(0, MOST_WORST),
    default=WORST,
    show_default=True,
    help="How many of the worst queries are explained.",
)
@with_session
def evaluate(
    session: Session,
    *,
    file: Path,
    rankers: tuple[str, ...],
    entrances: tuple[str, ...],
    expand: str,
    baseline: Path | None,
    update_baseline: bool,
    plot: Path | None,
    worst: int,
) -> None:
    """Measure how well notes are found, on graded queries.

    FILE is JSON Lines of query, class and relevant: an object of note id, path or external id to
    grade, empty where no answer exists. Every query is asked in every way; a server's answers are
    all that is judged, so any server will do, the original included.
    """
    if update_baseline and baseline is None:
        raise click.UsageError("--update-baseline needs --baseline FILE.")
    wanted = Wanted(
        rankers=() if ALL in rankers else rankers,
        entrances=entrances,
        expansions=EXPANSIONS[expand],
        worst=worst,
        baseline=baseline,
        is_renewed=update_baseline,
        chart=plot,
    )
    loaded("cli.evaluation.run:run")(session, read_queries(file), wanted)


@click.command()
@click.argument("file", metavar="[FILE]", default=STDOUT)
@click.option(
    "--notes",
    "number",
    type=Whole(1, MOST_NOTES),
    default=NOTES,
    show_default=True,
    help="How many notes to ask for.",
)
@click.option("--force", is_flag=True, help="Write over a FILE that is there.")
@with_session
def init(session: Session, *, file: str, number: int, force: bool) -> None:
    """Propose a file of queries from the notes of the server.

    Terms that one note alone holds, notes to be asked for in your own words, and queries that no
    note answers. FILE is stdout when it is - or absent. Fill in the lines with "todo", strike out
    what does not fit, and run crystal eval on it: lines that still have no query are left out.
    """
    if file != STDOUT and Path(file).exists() and not force:
        raise Failure(f"{file} is there already: give --force to write over it", FAILED)
    lines = proposals(_all_notes(session), number)
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    if file == STDOUT:
        click.echo(text.encode("utf-8", "backslashreplace"), nl=False)
        return
    try:
        Path(file).write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise Failure(f"{file} cannot be written: {error.strerror}", FAILED) from error
    stubs = sum(TODO in line for line in lines)
    data = {"file": file, "queries": len(lines) - stubs, "to_fill_in": stubs}
    told = f"{len(lines) - stubs} queries and {stubs} to fill in are written to {file}."
    session.output.show(data, lambda console: show_line(console, told))


def _all_notes(session: Session) -> list[ServedNote]:
    total = session.get("/api/status")["stats"]["totalNotes"]
    notes = []
    with session.output.progress("Reading", total) as advance:
        for note in served_notes(session):
            notes.append(note)
            advance(len(notes))
    return notes


@click.group("eval", cls=FileOrCommand, usual=evaluate)
@takes_options_anywhere
def evaluation() -> None:
    """Measure how well notes are found, on graded queries."""


evaluation.add_command(init)
