"""``crystal import``: brings in what tools keep on this machine, and distils it.

Owns the order: import, distil, embed, relate. A server that runs sees the result at once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

import click
from rich.console import Console

from app import factory
from app.domain.imports import ImportProgress, ImportReport, ImportRequest, SourceReport
from app.domain.notes import NO_TEXT
from app.factory import Application
from app.settings import store
from app.settings.values import Settings
from cli.admin.faults import reported
from cli.failures import Failure
from cli.output import Advance, Output
from cli.tables import Column, show_heading, show_line, show_table

_COLUMNS = (
    Column("Source"),
    *(
        Column(head, is_number=True)
        for head in ("Found", "New", "Grown", "Unchanged", "Left out", "Broken lines", "Secrets")
    ),
)


def settings_of(home: str | None) -> Settings:
    """Return this machine's settings, with the tools looked for below another home folder.

    Raises:
        Failure: the settings cannot be read.
    """
    with reported():
        return store.load({} if home is None else {"sources.home": home})


def moment_of(text: str | None) -> str | None:
    """Read a date, a time, or how long ago, as ISO 8601 text in UTC.

    Raises:
        click.BadParameter: it is none of these.
    """
    if text is None:
        return None
    try:
        if text[-1:] in ("d", "h") and text[:-1].isascii() and text[:-1].isdigit():
            unit = "days" if text[-1] == "d" else "hours"
            found = datetime.now(UTC) - timedelta(**{unit: int(text[:-1])})
        else:
            found = datetime.fromisoformat(text.strip())
            found = (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(
            "must be an ISO 8601 date or time, or how long ago, such as 30d or 12h.",
            param_hint="'--since'",
        ) from error
    return found.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def rehearse(output: Output, settings: Settings, request: ImportRequest) -> None:
    """Read and count, change nothing."""
    with (
        reported(),
        factory.conversation_rehearsal(settings) as importer,
        _bar(output) as on_progress,
    ):
        report = importer.run(request, on_progress)
    _show(output, report, None)


def bring_in(
    output: Output, settings: Settings, request: ImportRequest, *, distils: bool, watches: bool
) -> None:
    """Import, and make what follows from it; again after every change when watching.

    Raises:
        Failure: the notes could not all be embedded.
    """
    with reported(), closing(factory.build(settings)) as application:
        keeper = _Keeper(output, application, request, distils=distils)
        failure = keeper.take_in()
        if watches:
            keeper.keep_up()
    if failure is not None and not watches:
        raise failure


class _Keeper:
    """Brings the database up to what tools have written, once or again and again."""

    def __init__(
        self, output: Output, application: Application, request: ImportRequest, *, distils: bool
    ) -> None:
        self._output = output
        self._application = application
        self._request = request
        self._distils = distils
        self._has_shown = False

    def take_in(self) -> Failure | None:
        """Import once and show what is new; return what is to be reported as a failure of it."""
        with _bar(self._output) as on_progress:
            report = self._application.conversations.run(self._request, on_progress)
        if self._has_shown and not report.fresh:
            return None
        self._has_shown = True
        made = _made(self._output, self._application) if self._distils else None
        _show(self._output, report, made)
        return _failure(made)

    def keep_up(self) -> None:
        """Import again after every change that the folders tell of, until Ctrl-C."""
        self._output.say("Watching the folders of the tools; Ctrl-C ends it.")
        with suppress(KeyboardInterrupt):
            for _ in self._application.conversations.watch(self._request, threading.Event()):
                failure = self.take_in()
                if failure is not None:
                    self._output.warn(failure.text)
        self._output.say("Stopped watching.")


@contextmanager
def _bar(output: Output) -> Iterator[Any]:
    """Give a function that shows a bar, once it is known how many files there are."""
    with ExitStack() as shown:
        bars: list[Advance] = []

        def advance(progress: ImportProgress) -> None:
            if not bars:
                bars.append(shown.enter_context(output.progress("Files", progress.total)))
            bars[0](progress.current)

        yield advance


def _made(output: Output, application: Application) -> dict[str, Any]:
    """Distil what waits for it, embed the notes, and find their relations."""
    distiller = application.knowledge.distiller
    waiting = list(distiller.awaiting())
    with output.progress("Distilling", len(waiting)) as advance:
        distilled = distiller.distil(waiting, on_progress=advance)
    note_ids = application.batches.unembedded()
    with output.progress("Embedding", len(note_ids)) as advance:
        embedded = application.batches.embed_many(note_ids, advance)
    failed = [why for why in embedded.reasons.values() if why != NO_TEXT]
    left = len(note_ids) - embedded.embedded - len(embedded.reasons)
    related = 0
    if not failed and not left:
        # Those of an import that was killed before are among them.
        unrelated = application.knowledge.relater.awaiting()
        with output.progress("Relations", len(unrelated)) as advance:
            related = application.knowledge.relater.relate(unrelated, advance)
    return {
        "notes": len(distilled.noted),
        "filtered": len(distilled.filtered),
        "errors": [{"conversation_id": each, "error": why}
                   for each, why in distilled.reasons.items()],
        "embedded": embedded.embedded,
        "not_embedded": len(failed) + left,
        "reason": next(iter(failed), None),
        "relations": related,
    }  # fmt: skip


def _failure(made: dict[str, Any] | None) -> Failure | None:
    if not made or not made["not_embedded"]:
        return None
    reason = made["reason"] or "the provider cannot be reached"
    return Failure(
        f"All is brought in, but {made['not_embedded']} notes are not embedded ({reason}); when "
        'that is mended, run "crystal reindex"',
        "not_embedded",
    )


def _show(output: Output, report: ImportReport, made: dict[str, Any] | None) -> None:
    sources = [source for source in report.sources if source.found or source.broken_lines]
    data = {"sources": [asdict(source) for source in report.sources], "made": made}
    output.show(data, lambda console: _draw(console, sources, made))


def _draw(console: Console, sources: Sequence[SourceReport], made: dict[str, Any] | None) -> None:
    show_heading(console, "Conversations")
    if not sources:
        show_line(console, "No tool keeps conversations here.")
    else:
        show_table(console, _COLUMNS, [_row(source) for source in sources])
    if made is not None:
        show_line(console)
        show_line(
            console,
            f"Notes made: {made['notes']}; worth none: {made['filtered']}; relations found: "
            f"{made['relations']}.",
        )
        for each in made["errors"]:
            show_line(console, f"Not distilled: {each['conversation_id']}: {each['error']}")
    show_line(console)


def _row(source: SourceReport) -> list[str]:
    counts = (source.found, source.new, source.grown, source.unchanged, source.left_out,
              source.broken_lines, source.masked_secrets)  # fmt: skip
    return [source.title, *map(str, counts)]
