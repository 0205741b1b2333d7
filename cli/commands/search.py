"""``crystal search`` and the options that ``crystal why`` shares with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from rich.console import Console

from cli.answers import show_found
from cli.explanations import show_explanation
from cli.options import WHOLE, filter_options, in_order, query_of, with_session
from cli.session import Session


def _named_value(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Check that overrides read NAME=VALUE."""
    for value in values:
        name, equals, _ = value.partition("=")
        if not name.strip() or not equals:
            raise click.BadParameter(f"{value!r} is not NAME=VALUE.")
    return values


search_options = in_order(
    (
        click.option("-l", "--limit", type=WHOLE, help="Notes; 10 by default, 50 at most."),
        click.option("--ranker", help="How to rank; the setting search.ranker by default."),
        click.option("--expand", is_flag=True, help="Add notes one relation away."),
        click.option(
            "--cut", type=click.Choice(["on", "off"]),
            help="Off ranks without a border of relevance.",
        ),
        click.option(
            "-O", "--option", "overrides", metavar="NAME=VALUE", multiple=True,
            callback=_named_value,
            help="Override an option of finder: -O damping=0.3 -O weights.mentions=0.5.",
        ),
        click.option(
            "--seeds", type=click.Choice(["full-text", "vector"]),
            help="The one list that finder takes its seeds from.",
        ),
        filter_options,
        click.option("--path", help="Only notes whose path begins with this."),
    )
)  # fmt: skip
"""What decides which notes an answer holds."""

_PARAMETERS = {"tags": "tag"}
_FINDER = "finder."


def parameters_of(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return search options as parameters of the API."""
    given = dict(options)
    overrides = [each.partition("=") for each in given.pop("overrides", ())]
    query = query_of((_PARAMETERS.get(name, name), value) for name, value in given.items())
    return query + [
        (f"{_FINDER}{name.strip().removeprefix(_FINDER)}", value) for name, _, value in overrides
    ]


@click.command()
@click.argument("words", metavar="QUERY...", nargs=-1)
@click.option(
    "-q",
    "topics",
    metavar="TOPIC",
    multiple=True,
    help="A topic beside QUERY; repeat it for rankers that take several.",
)
@search_options
@click.option("--fields", metavar="NAMES", help="More to show of each note, such as summary,path.")
@click.option("--per-note", type=WHOLE, help="Chunks to show of a note, for the ranker notebrain.")
@click.option("--highlight", is_flag=True, help="Show the best passage of each note.")
@click.option(
    "--explain",
    is_flag=True,
    help='Tell stage by stage what happened; JSON is then {"results": ..., "explain": ...}.',
)
@with_session
def search(
    session: Session,
    *,
    words: tuple[str, ...],
    topics: tuple[str, ...],
    explain: bool,
    **options: Any,
) -> None:
    """Search notes by meaning.

    All words are one query.
    """
    queries = [*([" ".join(words)] if words else []), *topics]
    if not queries:
        raise click.UsageError("Missing argument 'QUERY...'.")
    query = [("q", each) for each in queries] + parameters_of({**options, "explain": explain})
    answer = session.call("GET", "/api/search", query=query)

    def draw(console: Console) -> None:
        show_found(console, answer.data, " + ".join(queries))
        if answer.explanation:
            show_explanation(console, answer.explanation)

    data = answer.data
    session.output.show({"results": data, "explain": answer.explanation} if explain else data, draw)
