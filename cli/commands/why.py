"""``crystal why``."""

from __future__ import annotations

from typing import Any

import click

from cli.commands.search import parameters_of, search_options
from cli.explanations import show_why
from cli.options import with_session
from cli.references import NOTE, note_id_of
from cli.session import Session


@click.command()
@click.argument("words", metavar="QUERY...", nargs=-1, required=True)
@click.argument("note", metavar="NOTE", type=NOTE)
@search_options
@with_session
def why(session: Session, *, words: tuple[str, ...], note: str, **options: Any) -> None:
    """Tell why a note stands where it stands in an answer, or is missing.

    NOTE is the last word: a note's id, path, title or slug. Give the options of the search in
    question.
    """
    note_id = str(note_id_of(session, note))
    query = [("q", " ".join(words)), ("note_id", note_id), *parameters_of(options)]
    data = session.get("/api/search/why", query)
    session.output.show(data, lambda console: show_why(console, data))
