"""Options that commands share, and the way a command gets its session.

Owns their names, help and checks; the environment is read by click, here only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, TypeVar

import click

from cli.session import Given, Session, Wiring

Result = TypeVar("Result")
Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_KEY = "cli.options."
_BASE_URL = f"{_KEY}base_url"
_TOKEN = f"{_KEY}token"
_JSON = f"{_KEY}json"
_NO_INTERACTIVE = f"{_KEY}no_interactive"
_MAX_CHARS = f"{_KEY}max_chars"

_WHOLE = re.compile(r"\s*\+?([0-9]{1,19})\s*", re.ASCII)


class Whole(click.types.IntParamType):
    """A whole number, written as the API takes it: no signs but ``+``, no other digits."""

    name = "number"

    def __init__(self, minimum: int = 0, maximum: int = 2**63 - 1) -> None:
        self._minimum = minimum
        self._maximum = maximum

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a number."""
        match = _WHOLE.fullmatch(str(value))
        number = -1 if match is None else int(match[1])
        if not self._minimum <= number <= self._maximum:
            end = "" if self._maximum >= 2**63 - 1 else f" to {self._maximum}"
            self.fail(f"{value!r} is not a whole number from {self._minimum}{end}.", param, ctx)
        return number


WHOLE = Whole()
NOTE_ID = Whole(1)


def _remember(key: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """Keep a value that was given; the one after the subcommand wins."""

    def keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        if value not in (None, False, ""):
            context.meta[key] = value

    return keep


def _anywhere(command: Decorated, *, with_environment: bool) -> Decorated:
    """Add the options that are taken before and after the subcommand."""
    variable = "CRYSTAL_BASE_URL" if with_environment else None
    decorators = (
        click.option(
            "-b", "--base-url", metavar="URL", expose_value=False, callback=_remember(_BASE_URL),
            envvar=variable, show_envvar=with_environment,
            help="Server to call; http://localhost:3721 by default.",
        ),
        click.option(
            "--json", is_flag=True, is_eager=True, expose_value=False, callback=_remember(_JSON),
            help="Print JSON, also on a terminal, and errors as JSON.",
        ),
        click.option(
            "--max-chars", metavar="N", type=Whole(1), expose_value=False,
            callback=_remember(_MAX_CHARS), help="Cut every text in JSON at N characters.",
        ),
        click.option(
            "--no-interactive", is_flag=True, is_eager=True, expose_value=False,
            callback=_remember(_NO_INTERACTIVE), help="Never ask a question.",
        ),
    )  # fmt: skip
    for decorator in reversed(decorators):
        command = decorator(command)
    return command


def root_options(command: Decorated) -> Decorated:
    """Add the options of ``crystal`` itself; the environment is read for these alone."""
    token = click.option(
        "--api-token", hidden=True, expose_value=False, envvar="CRYSTAL_API_TOKEN",
        callback=_take_token,
    )  # fmt: skip
    return _anywhere(token(command), with_environment=True)


def _take_token(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    source = context.get_parameter_source("api_token")
    if source is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError(
            "Arguments are shown to every user of a machine: set CRYSTAL_API_TOKEN instead."
        )
    context.meta[_TOKEN] = value or ""


def with_session(command: Callable[..., Result]) -> Callable[..., Result]:
    """Hand a command its session first, and add the options that every command takes."""

    @wraps(command)
    def run(**values: Any) -> Result:
        context = click.get_current_context()
        session = Session(_wiring(context), given_in(context))
        context.call_on_close(session.close)
        return command(session, **values)

    return _anywhere(run, with_environment=False)


def takes_options_anywhere(command: Decorated) -> Decorated:
    """Add the options that every command takes to a group of commands."""
    return _anywhere(command, with_environment=False)


def _wiring(context: click.Context) -> Wiring:
    found = context.find_object(Wiring)
    return Wiring() if found is None else found


def given_in(context: click.Context) -> Given:
    """Return the options that were given so far, wherever they stood."""
    meta = context.meta
    return Given(
        base_url=meta.get(_BASE_URL),
        token=meta.get(_TOKEN, ""),
        asked_json=meta.get(_JSON, False),
        max_chars=meta.get(_MAX_CHARS),
        may_ask=not meta.get(_NO_INTERACTIVE, False),
    )


def in_order(decorators: Iterable[Callable[[Decorated], Decorated]]) -> Callable[..., Any]:
    """Join options to one decorator; help lists them in this order."""

    def decorate(command: Decorated) -> Decorated:
        for decorator in reversed(tuple(decorators)):
            command = decorator(command)
        return command

    return decorate


filter_options = in_order(
    (
        click.option("--project", help="Only notes of this project."),
        click.option(
            "-t", "--tag", "tags", multiple=True,
            help="Only notes with this tag; repeat it and all must hold.",
        ),
        click.option("--source", help="Only notes whose conversation came from this tool."),
        click.option("--since", metavar="WHEN", help="Created at or after: 2026-03-01, 30d, 12h."),
        click.option("--until", metavar="WHEN", help="Created at or before: 2026-03-01, 30d, 12h."),
    )
)  # fmt: skip
"""Filters of notes, named as the parameters of the API are."""


def query_of(values: Iterable[tuple[str, object]]) -> list[tuple[str, str]]:
    """Return query parameters: absent ones left out, several values repeated.

    A parameter is absent when it is None, False or an empty sequence.
    """
    query: list[tuple[str, str]] = []
    for name, value in values:
        if value is True:
            query.append((name, "true"))
        elif isinstance(value, Sequence) and not isinstance(value, str):
            query.extend((name, str(each)) for each in value)
        elif value is not None and value is not False:
            query.append((name, str(value)))
    return query
