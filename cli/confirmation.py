"""Questions to whoever sits at the terminal: before something is lost, and for secrets."""

from __future__ import annotations

import sys

import click

from cli.cells import single_line
from cli.session import Session


def can_ask(session: Session) -> bool:
    """Tell whether somebody is there to answer a question."""
    return not session.output.is_json and session.may_ask and sys.stdin.isatty()


def confirm(session: Session, question: str, *, is_sure: bool) -> None:
    """Ask on a terminal; elsewhere the caller must have said that they are sure.

    Raises:
        click.UsageError: Nobody can be asked.
        click.Abort: The answer was no.
    """
    if is_sure:
        return
    if not can_ask(session):
        raise click.UsageError("Give --yes: there is nobody to ask.")
    ask(question)


def ask(question: str) -> None:
    """Ask a question whose answer must be yes.

    Raises:
        click.Abort: The answer was no.
    """
    click.confirm(single_line(question), abort=True, err=True)


def secret(session: Session, name: str) -> str:
    """Return a secret from stdin, or as it is typed without an echo on a terminal.

    Raises:
        click.UsageError: There is none, or it is more than one line of text.
        click.Abort: The typing was broken off.
    """
    if sys.stdin.isatty():
        if not can_ask(session):
            raise click.UsageError(f"Give the {name} on stdin: there is nobody to ask.")
        typed: str = click.prompt(name, hide_input=True, err=True)
        return typed.strip()
    try:
        text = sys.stdin.buffer.read().decode("utf-8").strip()
    except UnicodeDecodeError:
        raise click.UsageError(f"The {name} on stdin is not UTF-8.") from None
    if not text or not text.isprintable():
        raise click.UsageError(f"Give the {name} on stdin, as one line.")
    return text
