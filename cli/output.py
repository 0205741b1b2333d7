"""What a command says, and where: data on stdout, everything else on stderr.

Owns the choice between JSON and tables, and the form of errors. Must not know what is shown.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from cli.cells import single_line
from cli.failures import Failure
from cli.lean import shortened

Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Output:
    """The streams of one command.

    ``is_json`` says how data leave; ``are_errors_json`` is on only where JSON was asked for, since
    a person reads errors also where stdout is a pipe. Texts in JSON are cut at ``max_chars``.
    """

    console: Console
    errors: Console
    is_json: bool
    are_errors_json: bool
    max_chars: int | None = None

    def show(self, data: Any, draw: Callable[[Console], None]) -> None:
        """Print data as JSON, or let ``draw`` print them for people."""
        if self.is_json:
            print_json(shortened(data, self.max_chars))
        else:
            draw(self.console)

    def say(self, text: str) -> None:
        """Tell people on stderr how the work goes; programs get nothing but errors there."""
        if not self.are_errors_json:
            click.echo(single_line(text), err=True)

    def warn(self, text: str) -> None:
        """Tell on stderr what a reader should mind."""
        if self.are_errors_json:
            click.echo(_compact({"warning": text}), err=True)
        else:
            click.echo(f"Warning: {single_line(text)}", err=True)

    @contextmanager
    def progress(self, label: str, total: int) -> Iterator[Advance]:
        """Show a bar on stderr while a block runs, on a terminal only.

        The block is given a function that takes how much is done so far.
        """
        with Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=self.errors,
            transient=True,
            disable=not self.errors.is_terminal or self.are_errors_json,
        ) as bar:
            task = bar.add_task(label, total=total)
            yield lambda done: bar.update(task, completed=done)


def streams(
    *,
    asked_json: bool,
    console: Console | None = None,
    errors: Console | None = None,
    max_chars: int | None = None,
) -> Output:
    """Return the output of a process; given consoles stand for its own streams."""
    is_terminal = sys.stdout.isatty() if console is None else console.is_terminal
    return Output(
        console=console or Console(file=sys.stdout, markup=False, emoji=False, highlight=False),
        errors=errors or Console(file=sys.stderr, markup=False, emoji=False, highlight=False),
        is_json=asked_json or not is_terminal,
        are_errors_json=asked_json,
        max_chars=max_chars,
    )


def print_json(data: Any) -> None:
    """Print data with two spaces of indent, UTF-8 whatever the locale says."""
    text = json.dumps(data, ensure_ascii=False, indent=2)
    # A lone surrogate becomes its JSON escape.
    click.echo(text.encode("utf-8", "backslashreplace"))


def print_failure(failure: Failure, *, as_json: bool) -> None:
    """Print an error on stderr: one line, or one JSON object."""
    if as_json:
        shown = {"success": False, "error": failure.text, "code": failure.code}
        click.echo(_compact(shown), err=True)
    else:
        click.echo(f"Error: {single_line(failure.text)}", err=True)


def _compact(data: Any) -> bytes:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")
