"""``crystal import chatcrystal``: takes over the data directory of the original."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from app import factory
from app.domain.adoption import AdoptionReport, AdoptionRequest, Progress
from app.domain.notes import NO_TEXT
from app.factory import Application
from app.settings import store
from cli.admin.faults import reported
from cli.failures import Failure
from cli.options import with_session
from cli.output import Advance, Output
from cli.session import Session
from cli.tables import Column, show_heading, show_line, show_table

DEFAULT_FOLDER = Path("~/.chatcrystal/data")

_LABELS = {
    "vectors": "Reading vectors",
    "conversations": "Conversations",
    "messages": "Messages",
    "tags": "Tags",
    "notes": "Notes",
    "note_relations": "Relations",
    "embeddings": "Storing vectors",
}
_MEGABYTE = 1_000_000


@click.command("chatcrystal")
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), default=DEFAULT_FOLDER)
@click.option("--provider", help="Who made the vectors, where config.json in DIR does not say.")
@click.option("--model", help="The model that made them, where config.json in DIR does not say.")
@click.option("--adopt", is_flag=True, help="Make that provider and model the configured ones.")
@click.option("--dry-run", is_flag=True, help="Count what would be taken over, change nothing.")
@with_session
def chatcrystal(
    session: Session,
    folder: Path,
    *,
    provider: str | None,
    model: str | None,
    adopt: bool,
    dry_run: bool,
) -> None:
    """Take over a data directory of ChatCrystal.

    DIR is ~/.chatcrystal/data by default. It is only read, and may be in use. What was taken over
    before is not taken twice.

    Vectors are taken over too. Where they are those of the configured model, searches work at
    once; otherwise all notes are embedded now, unless --adopt configures the model of the vectors.
    """
    request = AdoptionRequest(folder.expanduser(), provider, model, configures=adopt)
    output = session.output
    with reported():
        settings = store.load()
        if dry_run:
            with factory.rehearsal(settings) as adopter, _stages(output) as on_progress:
                report = adopter.adopt(request, on_progress, is_dry_run=True)
            _show(output, report, None, None)
            return
        with closing(factory.build(settings)) as application:
            with _stages(output) as on_progress:
                report = application.adopter.adopt(request, on_progress)
            embedded = None if _is_searchable(report) else _embed(output, application)
            waiting = len(application.batches.unembedded())
    _show(output, report, embedded, waiting)
    _refuse_unembedded(embedded)


def _is_searchable(report: AdoptionReport) -> bool:
    return report.space is not None and report.space.is_configured


@contextmanager
def _stages(output: Output) -> Iterator[Progress]:
    """Give a function that shows a bar for one stage after the other."""
    with ExitStack() as shown:
        bars: dict[str, Advance] = {}

        def advance(stage: str, done: int, total: int) -> None:
            if stage == "vectors":
                done, total = done // _MEGABYTE, total // _MEGABYTE
            if stage not in bars:
                shown.close()
                bars[stage] = shown.enter_context(output.progress(_LABELS[stage], total))
            bars[stage](done)

        yield advance


def _embed(output: Output, application: Application) -> dict[str, Any]:
    """Embed what the configured model has not embedded yet."""
    batches = application.batches
    note_ids = batches.unembedded()
    if note_ids:
        spec = application.embedder.spec
        output.say(
            f"{len(note_ids)} notes have no vectors of the configured model, "
            f"{spec.provider}/{spec.model}: embedding them now."
        )
    with output.progress("Embedding", len(note_ids)) as advance:
        report = batches.embed_many(note_ids, advance)
    return {
        "notes": report.embedded,
        "chunks": report.chunks,
        "failed": [{"note_id": note, "error": why} for note, why in report.reasons.items()],
        "left": len(note_ids) - report.embedded - len(report.reasons),
    }


def _refuse_unembedded(embedded: Mapping[str, Any] | None) -> None:
    """Fail when the provider did; a note without text is no fault of it."""
    if embedded is None:
        return
    reasons = [failed["error"] for failed in embedded["failed"] if failed["error"] != NO_TEXT]
    count = len(reasons) + embedded["left"]
    if count:
        reason = next(iter(reasons), "the provider cannot be reached")
        raise Failure(
            f"All is taken over, but {count} notes are not embedded ({reason}); when that is "
            'mended, run "crystal reindex"',
            "not_embedded",
        )


def _show(
    output: Output,
    report: AdoptionReport,
    embedded: Mapping[str, Any] | None,
    waiting: int | None,
) -> None:
    """Print the report; ``waiting`` counts the notes that are not embedded, None if unknown."""
    for warning in report.warnings:
        output.warn(warning)
    for invalid in report.invalid_json:
        output.warn(f"Note {invalid.note_id} of {report.folder}: {invalid.column} was no JSON")
    data = asdict(report) | {"embedded": embedded, "not_embedded": waiting}
    output.show(data, lambda console: _draw(console, report, embedded, waiting))


def _draw(
    console: Console,
    report: AdoptionReport,
    embedded: Mapping[str, Any] | None,
    waiting: int | None,
) -> None:
    verb = "Would be taken" if report.is_dry_run else "Taken"
    show_heading(console, f"{verb} over from {report.folder}")
    columns = (Column("What"), Column("New", is_number=True), Column("Unchanged", is_number=True))
    rows = [
        (_words(kind), str(count), str(report.unchanged[kind]))
        for kind, count in report.added.items()
    ]
    show_table(console, columns, rows)
    show_line(console)
    for line in (*_exceptions(report), *_state(report, embedded)):
        show_line(console, line)
    if waiting:
        show_line(console, f'Not embedded: {waiting} notes; "crystal reindex" embeds them.')
    show_line(console)


def _words(kind: str) -> str:
    return kind.replace("_", " ")


def _exceptions(report: AdoptionReport) -> Iterator[str]:
    """Say what was left out, and what is not called as it was."""
    for kind, count in report.left_out.items():
        if count:
            yield f"Left out, {_words(kind)}: {count}."
    for kind, count in report.renumbered.items():
        if count:
            yield f"Other ids than there, {_words(kind)}: {count}."


def _state(report: AdoptionReport, embedded: Mapping[str, Any] | None) -> Iterator[str]:
    """Say in which space the vectors are, and what was embedded."""
    space = report.space
    if space is not None:
        what = "which is configured" if space.is_configured else "which is not configured"
        yield f"Vectors: {space.provider}/{space.model}, {space.dimension} dimensions, {what}."
    if embedded is not None:
        yield f"Embedded now: {embedded['notes']} notes, in {embedded['chunks']} chunks."
        for failed in embedded["failed"]:
            yield f"Note {failed['note_id']} is not embedded: {failed['error']}."
