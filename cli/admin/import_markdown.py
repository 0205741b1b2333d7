"""``crystal import markdown``: takes in a folder of Markdown and other files, and keeps up."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from app import factory
from app.domain.notes import NO_TEXT
from app.domain.vaults import LeftOut, VaultProgress, VaultReport, VaultRequest
from app.factory import Application
from app.settings import store
from cli.admin.faults import reported
from cli.failures import Failure
from cli.options import with_session
from cli.output import Advance, Output
from cli.session import Session
from cli.tables import Column, show_heading, show_line, show_table

SHOWN_PATHS = 20


@click.command("markdown")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--prune", is_flag=True, help="Remove the notes of files that are gone.")
@click.option("--overwrite", is_flag=True, help="Let files win over what was edited here.")
@click.option("--watch", is_flag=True, help="Stay and keep up with changes, until Ctrl-C.")
@click.option("--no-embed", is_flag=True, help="Leave the notes to be embedded later.")
@click.option("--dry-run", is_flag=True, help="Count what would be taken in, change nothing.")
@with_session
def markdown(
    session: Session,
    folder: Path,
    *,
    prune: bool,
    overwrite: bool,
    watch: bool,
    no_embed: bool,
    dry_run: bool,
) -> None:
    """Take in a folder of Markdown and other files as notes.

    DIR is an Obsidian vault or any other folder; it is only read. Run it again after changes: files
    that are unchanged cost nothing, those that were moved keep their notes. Notes of files that are
    gone stay unless --prune is given; notes that were edited here stay unless --overwrite is.
    """
    if watch and dry_run:
        raise click.UsageError("--watch and --dry-run exclude each other.")
    request = VaultRequest(folder, prune, overwrite, dry_run)
    output = session.output
    with reported():
        settings = store.load()
        if dry_run:
            with factory.vault_rehearsal(settings) as vaults, _bar(output) as on_progress:
                report = vaults.import_folder(request, on_progress)
            _show(output, report, None)
            return
        with closing(factory.build(settings)) as application:
            keeper = _Keeper(output, application, request, embeds=not no_embed)
            failure = keeper.take_in()
            if watch:
                keeper.keep_up()
    if failure is not None and not watch:
        raise failure


class _Keeper:
    """Brings the notes of a folder up to its files, once or again and again."""

    def __init__(
        self, output: Output, application: Application, request: VaultRequest, *, embeds: bool
    ) -> None:
        self._output = output
        self._application = application
        self._request = request
        self._embeds = embeds
        self._last: VaultReport | None = None

    def take_in(self) -> Failure | None:
        """Import once and show what is new; return what is to be reported as a failure of it."""
        with _bar(self._output) as on_progress:
            report = self._application.vaults.import_folder(self._request, on_progress)
        if not _is_news(report, self._last):
            return None
        self._last = report
        embedded = _embed(self._output, self._application) if self._embeds else None
        _show(self._output, report, embedded)
        return _failure(embedded)

    def keep_up(self) -> None:
        """Import again after every change that the folder tells of, until Ctrl-C."""
        self._output.say(f"Watching {self._request.folder}; Ctrl-C ends it.")
        with suppress(KeyboardInterrupt):
            for _ in self._application.vaults.watch(self._request, threading.Event()):
                failure = self.take_in()
                if failure is not None:
                    self._output.warn(failure.text)
        self._output.say("Stopped watching.")


def _is_news(report: VaultReport, last: VaultReport | None) -> bool:
    if last is None or report.new or report.changed or report.moved:
        return True
    told = (last.deleted, last.kept, last.refused)
    return (report.deleted, report.kept, report.refused) != told


@contextmanager
def _bar(output: Output) -> Iterator[VaultProgress]:
    """Give a function that shows a bar, once it is known how many files are to be read."""
    with ExitStack() as shown:
        bars: list[Advance] = []

        def advance(done: int, total: int) -> None:
            if not bars:
                bars.append(shown.enter_context(output.progress("Files", total)))
            bars[0](done)

        yield advance


def _embed(output: Output, application: Application) -> dict[str, Any]:
    """Embed what is not embedded yet, and what is made of whole notes."""
    batches = application.batches
    note_ids = batches.unembedded()
    with output.progress("Embedding", len(note_ids)) as advance:
        report = batches.embed_many(note_ids, advance)
    if not report.reasons:
        lacking = len(application.companions.missing())
        with output.progress("Whole notes", lacking) as advance:
            application.companions.fill(advance)
    return {
        "notes": report.embedded,
        "chunks": report.chunks,
        "failed": [{"note_id": note, "error": why} for note, why in report.reasons.items()],
        "left": len(note_ids) - report.embedded - len(report.reasons),
    }


def _failure(embedded: Mapping[str, Any] | None) -> Failure | None:
    """Return a failure when the provider failed; a note without text is no fault of it."""
    if embedded is None:
        return None
    reasons = [failed["error"] for failed in embedded["failed"] if failed["error"] != NO_TEXT]
    count = len(reasons) + embedded["left"]
    if not count:
        return None
    reason = next(iter(reasons), "the provider cannot be reached")
    return Failure(
        f"All is taken in, but {count} notes are not embedded ({reason}); when that is mended, "
        'run "crystal reindex"',
        "not_embedded",
    )


def _show(output: Output, report: VaultReport, embedded: Mapping[str, Any] | None) -> None:
    for each in report.refused:
        output.warn(f"{each.path} is refused: {each.reason}")
    for each in report.warnings:
        output.warn(f"{each.path}: {each.reason}")
    data = asdict(report) | {"embedded": embedded}
    output.show(data, lambda console: _draw(console, report, embedded))


def _draw(console: Console, report: VaultReport, embedded: Mapping[str, Any] | None) -> None:
    verb = "Would be taken" if report.is_dry_run else "Taken"
    show_heading(console, f"{verb} in from {report.folder}")
    rows = [[name, str(count)] for name, count in _counts(report)]
    show_table(console, (Column("Files"), Column("Count", is_number=True)), rows)
    show_line(console)
    for line in (*_places(report), *_hints(report), *_state(report, embedded)):
        show_line(console, line)
    show_line(console)


def _counts(report: VaultReport) -> Iterator[tuple[str, int]]:
    yield "new", len(report.new)
    yield "changed", len(report.changed)
    yield "moved", len(report.moved)
    yield "unchanged", report.unchanged
    yield "removed" if report.is_pruned else "gone", len(report.deleted)
    yield "kept, edited here", len(report.kept)
    yield "refused", len(report.refused)
    yield "without text", len(report.without_text)


def _places(report: VaultReport) -> Iterator[str]:
    """Name what a reader may want to look at: moved, gone, kept and left out files."""
    lists = (
        ("Moved", [f"{each.source} to {each.target}" for each in report.moved]),
        ("Removed" if report.is_pruned else "Gone", report.deleted),
        ("Kept as edited here", report.kept),
        ("Left out", [_line(each) for each in report.left_out]),
    )
    for head, lines in lists:
        for line in lines[:SHOWN_PATHS]:
            yield f"{head}: {line}"
        if len(lines) > SHOWN_PATHS:
            yield f"{head}: {len(lines) - SHOWN_PATHS} more"


def _line(each: LeftOut) -> str:
    return f"{each.path} ({each.reason})"


def _hints(report: VaultReport) -> Iterator[str]:
    if report.deleted and not report.is_pruned:
        yield "Notes of files that are gone stay; --prune removes them."
    if report.kept:
        yield "What was edited here stays; --overwrite lets the files win."


def _state(report: VaultReport, embedded: Mapping[str, Any] | None) -> Iterator[str]:
    if not report.is_dry_run:
        yield f"Links: {report.links}, of which {report.unresolved} lead to no note yet."
    if embedded is not None:
        yield f"Embedded now: {embedded['notes']} notes, in {embedded['chunks']} chunks."
