"""``crystal why``."""

from __future__ import annotations

from typing import Any

import click

from cli.commands.search import parameters_of, search_options
from cli.explanations import show_why
from cli.options import NOTE_ID, with_session
from cli.session import Session


@click.command()
@click.argument("words", metavar="QUERY...", nargs=-1, required=True)
@click.argument("note", metavar="NOTE", type=NOTE_ID)
@search_options
@with_session
def why(session: Session, *, words: tuple[str, ...], note: int, **options: Any) -> None:
    """Tell why a note stands where it stands in an answer, or is missing.

    NOTE is the last word, the id of a note. Give the options of the search in question.
    """
    query = [("q", " ".join(words)), ("note_id", str(note)), *parameters_of(options)]
    data = session.get("/api/search/why", query)
    session.output.show(data, lambda console: show_why(console, data))
