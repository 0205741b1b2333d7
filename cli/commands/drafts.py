"""``crystal notes add`` and ``crystal notes edit``: a note put together from options and files."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from cli.answers import text_of
from cli.commands.embed import EMBED_SECONDS
from cli.options import in_order, with_session
from cli.references import NOTE, note_id_of
from cli.session import Session
from cli.tables import show_line

STDIN = "-"

_fields = in_order(
    (
        click.option("--title", help="Title."),
        click.option("--summary", help="Summary; - reads it from stdin."),
        click.option("--body", metavar="FILE", help="Markdown text from a file; - reads stdin."),
        click.option("--tag", "tags", multiple=True, help="A tag; repeat it for several."),
        click.option("--project", help="Project name."),
        click.option(
            "--conclusion", "conclusions", multiple=True,
            help="What was learned; repeat it for several.",
        ),
        click.option(
            "--from-json", "source", metavar="FILE",
            help="A JSON object of fields from a file, or from stdin with -; "
            "the other options replace its fields.",
        ),
    )
)  # fmt: skip


@click.command()
@_fields
@with_session
def add(session: Session, **options: Any) -> None:
    """Write a new note, which is embedded at once."""
    body = _fields_of(**options)
    if "title" not in body:
        raise click.UsageError("Missing option '--title'.")
    data = session.call("POST", "/api/notes", body=body, seconds=EMBED_SECONDS).data
    _show_written(session, data, "added")


@click.command()
@click.argument("note", metavar="NOTE", type=NOTE)
@_fields
@with_session
def edit(session: Session, note: str, **options: Any) -> None:
    """Replace fields of a note; given tags and conclusions replace all it has."""
    body = _fields_of(**options)
    if not body:
        raise click.UsageError("Name a field to change, such as --title.")
    path = f"/api/notes/{note_id_of(session, note)}"
    data = session.call("PATCH", path, body=body, seconds=EMBED_SECONDS).data
    _show_written(session, data, "changed")


def _show_written(session: Session, note: Mapping[str, Any], what: str) -> None:
    line = f"Note {text_of(note.get('id'))} is {what}: {text_of(note.get('title'))}"
    session.output.show(note, lambda console: show_line(console, line))


def _fields_of(
    *,
    title: str | None,
    summary: str | None,
    body: str | None,
    tags: tuple[str, ...],
    project: str | None,
    conclusions: tuple[str, ...],
    source: str | None,
) -> dict[str, Any]:
    if [summary, body, source].count(STDIN) > 1:
        raise click.UsageError("Only one of --summary, --body and --from-json can read stdin.")
    fields = {} if source is None else _read_object(source)
    given = {
        "title": title,
        "summary": _read("--summary", STDIN) if summary == STDIN else summary,
        "body": None if body is None else _read("--body", body),
        "tags": list(tags) or None,
        "project": project,
        "key_conclusions": list(conclusions) or None,
    }
    return fields | {name: value for name, value in given.items() if value is not None}


def _read(option: str, file: str) -> str:
    """Return the text of a file or of stdin.

    Raises:
        click.BadParameter: it cannot be read, or is no UTF-8.
    """
    try:
        content = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise click.BadParameter(f"{file} is not UTF-8.", param_hint=f"'{option}'") from None
    except OSError as error:
        problem = f"{file} cannot be read: {error.strerror}."
        raise click.BadParameter(problem, param_hint=f"'{option}'") from error


def _read_object(file: str) -> dict[str, Any]:
    try:
        found = json.loads(_read("--from-json", file))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise click.BadParameter(f"{file} is no JSON object.", param_hint="'--from-json'")
    return found
