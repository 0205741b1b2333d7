"""``crystal relations``."""

from __future__ import annotations

import click

from cli.answers import text_of
from cli.options import NOTE_ID, takes_options_anywhere, with_session
from cli.session import Session
from cli.tables import show_line


@click.group()
@takes_options_anywhere
def relations() -> None:
    """Join notes, or part them."""


@relations.command()
@click.argument("source", metavar="NOTE", type=NOTE_ID)
@click.argument("relation_type", metavar="TYPE")
@click.argument("target", metavar="NOTE", type=NOTE_ID)
@click.option("--confidence", type=click.FloatRange(0, 1), help="How sure it is, from 0 to 1.")
@click.option("--description", help="What joins the notes.")
@with_session
def add(
    session: Session,
    *,
    source: int,
    relation_type: str,
    target: int,
    confidence: float | None,
    description: str | None,
) -> None:
    """Join a note to another one: crystal relations add 3 CAUSED_BY 7."""
    body = {
        "target_note_id": target,
        "relation_type": relation_type.upper(),
        "confidence": confidence,
        "description": description,
    }
    given = {name: value for name, value in body.items() if value is not None}
    data = session.call("POST", f"/api/notes/{source}/relations", body=given).data
    session.output.show(
        data,
        lambda console: show_line(
            console,
            f"Relation {text_of(data.get('id'))}: {text_of(data.get('source_title'))} "
            f"{text_of(data.get('relation_type'))} {text_of(data.get('target_title'))}",
        ),
    )


@relations.command()
@click.argument("relation", metavar="RELATION", type=NOTE_ID)
@with_session
def delete(session: Session, relation: int) -> None:
    """Delete a relation by its id."""
    session.call("DELETE", f"/api/relations/{relation}")
    session.output.show(
        {"deleted": relation},
        lambda console: show_line(console, f"Relation {relation} is deleted."),
    )
