"""``crystal config``: the configuration of the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import click
from rich.console import Console

from cli.answers import number, text_of
from cli.confirmation import ask, can_ask, secret
from cli.failures import FAILED, Failure
from cli.options import takes_options_anywhere, with_session
from cli.session import Session
from cli.tables import Column, show_facts, show_heading, show_line, show_table

API_KEY = "embedding.apiKey"
KEYS = (
    "embedding.provider",
    "embedding.baseURL",
    API_KEY,
    "embedding.model",
    "search.ranker",
)
LANGUAGE_MODELS = "llm"
STDIN = "-"

_SOURCES = (Column("Source"), Column("Conversations", is_number=True))


@click.group()
@takes_options_anywhere
def config() -> None:
    """Show, change and test the configuration."""


@config.command()
@with_session
def get(session: Session) -> None:
    """Show the configuration of the server; keys are never shown."""
    data = session.get("/api/config")
    session.output.show(data, lambda console: _draw(console, data))


def _draw(console: Console, data: Mapping[str, Any]) -> None:
    embedding = data.get("embedding") or {}
    facts = [
        ("Provider", text_of(embedding.get("provider"))),
        ("Model", text_of(embedding.get("model"))),
        ("Address", text_of(embedding.get("baseURL")) or "the provider's usual one"),
        ("API key", "set" if embedding.get("hasApiKey") else "not set"),
    ]
    # The original knows neither rankers nor spaces.
    if search := data.get("search"):
        facts.append(("Ranker", text_of(search.get("ranker"))))
    if space := data.get("space"):
        facts += _space(space)
    show_heading(console, "Configuration")
    show_facts(console, facts)
    if sources := data.get("sources"):
        show_heading(console, "Sources")
        show_table(console, _SOURCES, [_source(source) for source in sources])
    show_line(console)


def _space(space: Mapping[str, Any]) -> list[tuple[str, str]]:
    dimension = space.get("dimension")
    size = "dimension not known yet" if dimension is None else f"{dimension} dimensions"
    return [
        ("Space", f"{text_of(space.get('provider'))}/{text_of(space.get('model'))}, {size}"),
        ("Border", number(space.get("border"), "g")),
        ("Means", _means(space)),
    ]


def _means(space: Mapping[str, Any]) -> str:
    """Return how long the means are, by the texts that they are subtracted from."""
    lengths = space.get("meanLengths")
    if not lengths:
        return "measured" if space.get("hasMeans") else "none"
    told = (f"{name.replace('_', ' ')} {number(value)}" for name, value in lengths.items())
    return f"of lengths {', '.join(told)}"


def _source(source: Mapping[str, Any]) -> list[str]:
    return [text_of(source.get("name")), text_of(source.get("conversationCount"))]


@config.command("set")
@click.argument("key", metavar="KEY")
@click.argument("value", metavar="VALUE", required=False)
@click.option("--confirm", is_flag=True, help="Change it also if notes must be embedded anew.")
@with_session
def set_value(session: Session, *, key: str, value: str | None, confirm: bool) -> None:
    """Change a setting of the server.

    KEY is embedding.provider, embedding.baseURL, embedding.apiKey, embedding.model or
    search.ranker. An empty VALUE means the default. The API key is read from stdin when VALUE is
    -, and asked for on a terminal without VALUE.
    """
    _refuse_unknown(key)
    group, leaf = key.split(".")
    body = {group: {leaf: _value(session, key, value)}, "confirm": confirm}
    data = session.call("POST", "/api/config", body=body).data
    if data.get("requiresConfirm"):
        data = _confirmed(session, body, data.get("warnings") or ())
    session.output.show(data, lambda console: show_line(console, f"{key} is changed."))


def _refuse_unknown(key: str) -> None:
    if key.partition(".")[0] == LANGUAGE_MODELS:
        raise Failure(
            f"{key} cannot be set: language models are not part of chatcrystal-search", FAILED
        )
    if key not in KEYS:
        near = get_close_matches(key, KEYS, 1)
        hint = f"Did you mean '{near[0]}'?" if near else f"Use one of {', '.join(KEYS)}."
        raise click.UsageError(f"There is no key '{key}'. {hint}")


def _value(session: Session, key: str, value: str | None) -> str:
    if key != API_KEY:
        if value is None:
            raise click.UsageError("Missing argument 'VALUE'.")
        return value
    if value == "":
        return value
    if value not in (None, STDIN):
        raise click.UsageError(
            "Arguments are shown to every user of a machine: give - and the API key on stdin."
        )
    if value is None and not can_ask(session):
        raise click.UsageError("Give - and the API key on stdin: there is nobody to ask.")
    return secret(session, "API key")


def _confirmed(session: Session, body: Mapping[str, Any], warnings: Sequence[str]) -> Any:
    """Send a change again, confirmed, if whoever sits at the terminal says so.

    Raises:
        Failure: Nobody can be asked.
        click.Abort: The answer was no.
    """
    for warning in warnings:
        session.output.warn(warning)
    if not can_ask(session):
        raise Failure(
            "Nothing is changed; give --confirm to change it all the same", "confirmation_needed"
        )
    ask("Change it?")
    # Past the session, which would tell the same warnings again.
    return session.client.call("POST", "/api/config", body={**body, "confirm": True}).data


@config.command()
@with_session
def test(session: Session) -> None:
    """Try the embedding provider; exit 1 when it fails."""
    data = session.call("POST", "/api/config/test", body={}).data
    outcome = data["embedding"]
    # The original says it in another word.
    is_well = outcome.get("ok", outcome.get("connected"))
    session.output.show(data, lambda console: _draw_trial(console, outcome) if is_well else None)
    if not is_well:
        raise Failure(text_of(outcome.get("error")), text_of(outcome.get("code")) or FAILED)


def _draw_trial(console: Console, outcome: Mapping[str, Any]) -> None:
    name = "/".join(text_of(outcome[key]) for key in ("provider", "model") if key in outcome)
    size = f" with {outcome['dimension']} dimensions" if "dimension" in outcome else ""
    show_line(console, f"{name or 'The embedding provider'} answers{size}.")
