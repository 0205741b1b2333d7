"""Routes of the server's own import of conversations.

The folders are those of the settings: no path ever comes over HTTP.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from flask import Response, request

from app.api.envelope import encode
from app.api.routing import Route
from app.api.schemas import TEXT, WHOLE, many, of, record
from app.api.services import services
from app.api.streams import CONTENT_TYPE, HEARTBEAT, HEARTBEAT_SECONDS, MEDIA_TYPE, most_listeners
from app.domain.imports import ImportProgress, ImportReport, SourceReport
from app.errors import CrystalError, Unavailable
from app.sync.conversations.scanner import Scan, ScanState

PAUSE_SECONDS = 0.05
"""Between events: one a file would be a thousand a second."""

_TOTALS = {"total": WHOLE, "imported": WHOLE, "skipped": WHOLE, "errors": WHOLE}
SCANNED = record({**_TOTALS, "sources": many(of(SourceReport))})

EVENT = record({"event": {"enum": ["progress", "done", "error"]}, "data": TEXT})


def scan() -> Any:
    """Import conversations from the folders of the settings, and wait for the end."""
    return shape_of(services().scanner.scan().result())


def start_scan() -> Any:
    """Import conversations as the GET of the same address does."""
    return follow_scan()


def follow_scan() -> Any:
    """Import conversations from the folders of the settings, and stream how far that is.

    Server-sent events: ``progress``, then ``done`` or ``error``. One that runs already is followed.
    """
    parts = services()
    # A stream, so that it has no length, also where nothing but that is asked for.
    answer = Response(iter(()), content_type=CONTENT_TYPE)
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["X-Accel-Buffering"] = "no"
    if request.method != "HEAD":
        leave = parts.listeners.enter(most_listeners(parts.settings.server.threads))
        answer.response = events(parts.scanner.scan())
        answer.call_on_close(leave)
    return answer


def events(scan: Scan, heartbeat: float = HEARTBEAT_SECONDS) -> Iterator[bytes]:
    """Yield the progress of a scan until its end, and a comment after a silence."""
    seen = 0
    while True:
        state = scan.wait(seen, heartbeat)
        if state.version == seen:
            yield HEARTBEAT
            continue
        seen = state.version
        if state.progress is not None:
            yield _event("progress", _progress(state.progress))
        if state.is_over:
            yield _last(state)
            return
        time.sleep(PAUSE_SECONDS)


def _last(state: ScanState) -> bytes:
    if state.report is not None:
        return _event("done", shape_of(state.report))
    known = state.error if isinstance(state.error, CrystalError) else CrystalError()
    return _event("error", {"error": known.message})


def _event(name: str, data: Any) -> bytes:
    return b"event: " + name.encode("ascii") + b"\ndata: " + encode(data) + b"\n\n"


def _progress(progress: ImportProgress) -> dict[str, Any]:
    return {
        "total": progress.total,
        "current": progress.current,
        "currentFile": progress.file,
        "imported": progress.imported,
        "skipped": progress.skipped,
        "errors": progress.broken,
    }


def shape_of(report: ImportReport) -> dict[str, Any]:
    """Return a report as the original answers it, with what was found at each source behind."""
    sources = report.sources
    return {
        "total": sum(source.found for source in sources),
        "imported": sum(source.new + source.grown for source in sources),
        "skipped": sum(source.unchanged + source.left_out for source in sources),
        "errors": sum(source.broken_lines for source in sources),
        "sources": [asdict(source) for source in sources],
    }


ROUTES = (
    Route("POST", "/api/import/scan", scan, answer=SCANNED),
    Route(
        "GET",
        "/api/import/scan/stream",
        follow_scan,
        answer=EVENT,
        media_type=MEDIA_TYPE,
        is_enveloped=False,
        errors=(Unavailable,),
    ),
    Route(
        "POST",
        "/api/import/scan/stream",
        start_scan,
        answer=EVENT,
        media_type=MEDIA_TYPE,
        is_enveloped=False,
        errors=(Unavailable,),
    ),
)
