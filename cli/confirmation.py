"""The question before something is lost."""

from __future__ import annotations

import sys

import click

from cli.cells import single_line
from cli.session import Session


def confirm(session: Session, question: str, *, is_sure: bool) -> None:
    """Ask on a terminal; elsewhere the caller must have said that they are sure.

    Raises:
        click.UsageError: Nobody can be asked.
        click.Abort: The answer was no.
    """
    if is_sure:
        return
    if session.output.is_json or not session.may_ask or not sys.stdin.isatty():
        raise click.UsageError("Give --yes: there is nobody to ask.")
    click.confirm(single_line(question), abort=True, err=True)
