"""``crystal reindex``: embeds notes of this machine's database, whether or not a server runs."""

from __future__ import annotations

from contextlib import closing, suppress

import click

from app import factory
from app.errors import ProviderError
from app.factory import Application
from app.maintenance.doctor import words
from app.maintenance.doctor.checks import Patient
from app.maintenance.pruning import prune
from app.settings import store
from cli.admin.faults import reported
from cli.failures import Failure
from cli.options import with_session
from cli.session import Session
from cli.tables import show_line


def _fill_second(session: Session, application: Application, *, is_all: bool) -> None:
    """Make what is missing in the second space, or all."""
    companions = application.second_companions
    if companions is None:
        return
    if is_all:
        companions.clear()
    with session.output.progress("Second model", len(companions.missing())) as advance:
        companions.fill(advance)


def _prune(session: Session, application: Application) -> None:
    """Drop the vectors of models that are neither in use nor on the way to be."""
    second = application.second
    dropped = prune(application.database, (second.space_id,) if second else ())
    told = ", ".join(f"{name} ({count} vectors)" for name, count in dropped.items())
    line = f"Dropped: {told}." if dropped else "There is no space to drop."
    session.output.show({"dropped": dropped}, lambda console: show_line(console, line))


def _recognise(application: Application) -> None:
    """Look whether the model is still the one whose vectors are stored."""
    # Of a provider that fails, every note that has to be embedded tells.
    with suppress(ProviderError):
        application.reconfigurer.recognise()


@click.command()
@click.option("--all", "is_all", is_flag=True, help="Embed everything anew.")
@click.option(
    "--prune-spaces", is_flag=True, help="Only drop the vectors of models not in use any more."
)
@with_session
def reindex(session: Session, *, is_all: bool, prune_spaces: bool) -> None:
    """Embed the notes of this machine's database, and write anew what words find them by.

    Those that are not embedded yet, or all; with the second model too, where it is in use. A server
    that runs takes part in the change at once. After a change of the model, searches use the one
    before until every note is embedded.
    """
    with reported(), closing(factory.build(store.load())) as application:
        if prune_spaces:
            _prune(session, application)
            return
        _recognise(application)
        batches = application.batches
        note_ids = batches.everything() if is_all else batches.unembedded()
        with session.output.progress("Embedding", len(note_ids)) as advance:
            report = batches.embed_many(note_ids, advance)
        lacking = len(application.companions.missing())
        with session.output.progress("Whole notes", lacking) as advance:
            application.companions.fill(advance)
        reworded = words.rewrite(Patient(application.database, application.settings.data_dir))
        if is_all:
            application.entities.clear()
        lacking = len(application.entities.missing())
        with session.output.progress("Tags, files and errors", lacking) as advance:
            application.entities.fill(advance)
        _fill_second(session, application, is_all=is_all)
    left = len(note_ids) - report.embedded
    data = {
        "embedded": report.embedded,
        "chunks": report.chunks,
        "failed": [{"note_id": note, "error": why} for note, why in report.reasons.items()],
        "left": left - len(report.reasons),
    }
    line = f"{report.embedded} notes are embedded, in {report.chunks} chunks."
    if reworded:
        line += f" What words find {reworded} notes by is written anew."
    session.output.show(data, lambda console: show_line(console, line))
    if left:
        reason = next(iter(report.reasons.values()), "the provider cannot be reached")
        raise Failure(f"{left} of {len(note_ids)} notes are not embedded: {reason}", "not_embedded")
