"""``crystal relations``."""

from __future__ import annotations

import click

from cli.answers import text_of
from cli.commands.summarize import wait_for_queue
from cli.options import NOTE_ID, query_of, takes_options_anywhere, with_session
from cli.references import NOTE, note_id_of
from cli.session import Session
from cli.tables import show_line

DISCOVER_SECONDS = 600.0


@click.group()
@takes_options_anywhere
def relations() -> None:
    """Join notes, or part them."""


@relations.command()
@click.argument("source", metavar="NOTE", type=NOTE)
@click.argument("relation_type", metavar="TYPE")
@click.argument("target", metavar="NOTE", type=NOTE)
@click.option("--confidence", type=click.FloatRange(0, 1), help="How sure it is, from 0 to 1.")
@click.option("--description", help="What joins the notes.")
@with_session
def add(
    session: Session,
    *,
    source: str,
    relation_type: str,
    target: str,
    confidence: float | None,
    description: str | None,
) -> None:
    """Join a note to another one: crystal relations add 3 CAUSED_BY 7."""
    body = {
        "target_note_id": note_id_of(session, target),
        "relation_type": relation_type.upper(),
        "confidence": confidence,
        "description": description,
    }
    given = {name: value for name, value in body.items() if value is not None}
    path = f"/api/notes/{note_id_of(session, source)}/relations"
    data = session.call("POST", path, body=given).data
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


@relations.command()
@click.argument("note", metavar="[NOTE]", type=NOTE, required=False)
@click.option("--all", "is_all", is_flag=True, help="Those of all notes.")
@click.option("--with-model", is_flag=True, help="Ask the language model of llm.provider as well.")
@with_session
def discover(session: Session, note: str | None, is_all: bool, with_model: bool) -> None:
    """Find relations by rules, and keep those found before up to date.

    Nothing that a person made is changed.
    """
    if (note is not None) == is_all:
        raise click.UsageError("Name one NOTE, or give --all.")
    if is_all and with_model:
        raise click.UsageError("The model is asked for one NOTE at a time.")
    if note is not None:
        path = f"/api/notes/{note_id_of(session, note)}/discover-relations"
        query = query_of([("model", with_model)])
        data = session.call("POST", path, query=query, seconds=DISCOVER_SECONDS).data
        text = f"{len(data)} relations."
    else:
        answer = session.call("POST", "/api/relations/batch-discover").data
        state = wait_for_queue(session, "Finding relations", answer.get("queue"))
        data = {name: state[name] if state else 0 for name in ("total", "completed", "failed")}
        text = f"Relations of {data['completed']} notes are found, {data['failed']} failed."
    session.output.show(data, lambda console: show_line(console, text))
