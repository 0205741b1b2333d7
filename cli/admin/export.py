"""``crystal export``: writes everything of this machine's database to a file, folder or stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import click

from app import factory
from app.maintenance.export.formats import (
    DEFAULT_FORMAT,
    FORMATS,
    ExportReport,
    FileFormat,
    export_to_path,
    export_to_stream,
    size,
)
from app.maintenance.export.source import Source, opened, reading
from app.settings import store
from cli.admin.faults import reported
from cli.options import with_session
from cli.output import Advance, Output
from cli.session import Session
from cli.tables import show_line

STDOUT = "-"
_FORMATS_HELP = "; ".join(f"{name}: {each.help}" for name, each in FORMATS.items())


@click.command()
@click.argument("path", metavar="[PATH]", default=STDOUT)
@click.option(
    "--format",
    "name",
    type=click.Choice(list(FORMATS)),
    default=DEFAULT_FORMAT,
    show_default=True,
    help=f"{_FORMATS_HELP}.",
)
@with_session
def export(session: Session, *, path: str, name: str) -> None:
    """Write everything to a file or folder.

    Reads this machine's database. PATH is a file for jsonl, stdout when it is - or absent. For
    the others it is a folder that is new, empty, or of an earlier export, whose files are then
    brought up to date.

    A server may run meanwhile: what it changes is in the export whole or not at all.
    """
    output = session.output
    chosen = FORMATS[name]
    if path != STDOUT:
        with _reading(output, name) as (source, advance):
            report = export_to_path(source, name, Path(path), advance)
        _show(output, report)
    elif isinstance(chosen, FileFormat):
        with _reading(output, name) as (source, advance):
            export_to_stream(source, chosen, sys.stdout.buffer, advance)
    else:
        raise click.UsageError(f"Name the folder that --format {name} writes.")


@contextmanager
def _reading(output: Output, name: str) -> Iterator[tuple[Source, Advance]]:
    """Open one snapshot, with a bar of how much of it is written."""
    with reported():
        settings = store.load()
        with (
            opened(factory.database_url(settings)) as database,
            reading(database, settings.embedding) as source,
            output.progress("Exporting", size(source, name)) as advance,
        ):
            yield source, advance


def _show(output: Output, report: ExportReport) -> None:
    for warning in report.warnings:
        output.warn(warning)
    listed = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in report.counts.items())
    output.show(
        asdict(report), lambda console: show_line(console, f"{listed} written to {report.path}.")
    )
