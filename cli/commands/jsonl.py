"""``crystal import jsonl``: sends a file of records to the server, in batches."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import click
from rich.console import Console

from cli.commands.embed import embed_all
from cli.failures import Failure
from cli.options import with_session
from cli.session import Session
from cli.tables import Column, show_heading, show_line, show_table

STDIN = "-"
LARGEST_BATCH = 2 * 1024 * 1024
"""Bytes sent at once, unless one line has more; the server takes 16 MB."""

BATCH_SECONDS = 600.0
TOO_LARGE = 413
SHOWN_REFUSALS = 20

_COUNTS = (Column("Record"), Column("Added", is_number=True), Column("Known", is_number=True))
_REFUSALS = (Column("Line", is_number=True), Column("Why it was refused"))


@dataclass(slots=True)
class Tally:
    """What the server took in so far, and what it refused as (line number from 1, reason)."""

    added: Counter[str] = field(default_factory=Counter)
    unchanged: Counter[str] = field(default_factory=Counter)
    refused: list[tuple[int, str]] = field(default_factory=list)


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--no-embed", is_flag=True, help="Leave the new notes to be embedded later.")
@with_session
def jsonl(session: Session, *, file: str, no_embed: bool) -> None:
    """Send conversations, messages, notes, relations and links of a JSON Lines file.

    FILE has one JSON object a line; - reads stdin. Records that are known by their external id
    change nothing, so a file can be sent again.
    """
    tally = Tally()
    size = 0 if file == STDIN else _size(file)
    with _opened(file) as source, session.output.progress("Sending", size) as advance:
        sent = 0
        for first, lines in _batches(source):
            _send(session, first, lines, tally)
            sent += sum(map(len, lines))
            advance(sent)
    queue = {} if no_embed or not tally.added["note"] else embed_all(session)
    data = {
        "added": dict(tally.added),
        "unchanged": dict(tally.unchanged),
        "refused": [{"line": line, "error": reason} for line, reason in tally.refused],
        "embedded": queue.get("completed", 0),
        "not_embedded": queue.get("failed", 0),
    }
    session.output.show(data, lambda console: _draw(console, data))
    if tally.refused or data["not_embedded"]:
        raise Failure(_problem(data), "import_incomplete")


def _size(file: str) -> int:
    try:
        return Path(file).stat().st_size
    except OSError as error:
        raise click.BadParameter(
            f"{file} cannot be read: {error.strerror}.", param_hint="'FILE'"
        ) from error


def _opened(file: str) -> AbstractContextManager[IO[bytes]]:
    try:
        return nullcontext(sys.stdin.buffer) if file == STDIN else Path(file).open("rb")
    except OSError as error:
        raise click.BadParameter(
            f"{file} cannot be read: {error.strerror}.", param_hint="'FILE'"
        ) from error


def _batches(source: Iterable[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield groups of lines with the number of the first, from 1."""
    batch: list[bytes] = []
    first, size = 1, 0
    for line in source:
        # A carriage return inside a line would count as the end of one.
        clean = line.rstrip(b"\r\n").replace(b"\r", b" ") + b"\n"
        if batch and size + len(clean) > LARGEST_BATCH:
            yield first, batch
            first, size, batch = first + len(batch), 0, []
        batch.append(clean)
        size += len(clean)
    if batch:
        yield first, batch


def _send(session: Session, first: int, lines: list[bytes], tally: Tally) -> None:
    content = b"".join(lines)
    if first == 1:
        content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        answer = session.call("POST", "/api/import", lines=content, seconds=BATCH_SECONDS)
    except Failure as failure:
        if failure.status != TOO_LARGE or len(lines) > 1:
            raise
        tally.refused.append((first, failure.text))
        return
    report: dict[str, Any] = answer.data
    tally.added.update(report["added"])
    tally.unchanged.update(report["unchanged"])
    tally.refused += [(first - 1 + each["line"], each["error"]) for each in report["refused"]]


def _draw(console: Console, data: dict[str, Any]) -> None:
    names = [name for name in data["added"] if data["added"][name] or data["unchanged"][name]]
    show_heading(console, "Imported")
    rows = [[name, str(data["added"][name]), str(data["unchanged"][name])] for name in names]
    show_table(console, _COUNTS, rows)
    if data["refused"]:
        show_line(console)
        shown = data["refused"][:SHOWN_REFUSALS]
        show_table(console, _REFUSALS, [[str(each["line"]), each["error"]] for each in shown])
    show_line(console)


def _problem(data: dict[str, Any]) -> str:
    parts = []
    if data["refused"]:
        first = data["refused"][0]
        parts.append(f"{len(data['refused'])} lines were refused, the first of them line "
                     f"{first['line']}: {first['error']}")  # fmt: skip
    if data["not_embedded"]:
        parts.append(f"{data['not_embedded']} notes could not be embedded")
    return "; ".join(parts)
