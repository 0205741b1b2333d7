"""``crystal reindex``: embeds notes of this machine's database, whether or not a server runs."""

from __future__ import annotations

from contextlib import closing

import click

from app import factory
from app.settings import store
from cli.admin.faults import reported
from cli.failures import Failure
from cli.options import with_session
from cli.session import Session
from cli.tables import show_line


@click.command()
@click.option("--all", "is_all", is_flag=True, help="Embed everything anew.")
@with_session
def reindex(session: Session, *, is_all: bool) -> None:
    """Embed the notes of this machine's database.

    Those that are not embedded yet, or all. A server that runs takes part in the change at once.
    """
    with reported(), closing(factory.build(store.load())) as application:
        batches = application.batches
        note_ids = batches.everything() if is_all else batches.unembedded()
        with session.output.progress("Embedding", len(note_ids)) as advance:
            report = batches.embed_many(note_ids, advance)
        lacking = len(application.companions.missing())
        with session.output.progress("Whole notes", lacking) as advance:
            application.companions.fill(advance)
    left = len(note_ids) - report.embedded
    data = {
        "embedded": report.embedded,
        "chunks": report.chunks,
        "failed": [{"note_id": note, "error": why} for note, why in report.reasons.items()],
        "left": left - len(report.reasons),
    }
    line = f"{report.embedded} notes are embedded, in {report.chunks} chunks."
    session.output.show(data, lambda console: show_line(console, line))
    if left:
        reason = next(iter(report.reasons.values()), "the provider cannot be reached")
        raise Failure(f"{left} of {len(note_ids)} notes are not embedded: {reason}", "not_embedded")
