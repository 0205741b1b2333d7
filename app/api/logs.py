"""One log line per request: id, route, status, milliseconds. Never a query or a note's text."""

from __future__ import annotations

import logging
import re
import time
import uuid

from flask import Flask, Response, g, request

_log = logging.getLogger("crystal.access")


_GIVEN_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)
"""What a caller's id may be; nothing in it could end a header or a line of the log."""


def _request_id() -> str:
    """Return the caller's id of the request, or one of ours where it gave none that is sound."""
    given = request.headers.get("X-Request-Id", "")
    return given if _GIVEN_ID.fullmatch(given) else uuid.uuid4().hex


def register(app: Flask) -> None:
    """Time every request, give it an id, and log it."""

    @app.before_request
    def _start() -> None:
        g.started = time.perf_counter()
        g.request_id = _request_id()

    @app.after_request
    def _finish(response: Response) -> Response:
        response.headers["X-Request-Id"] = g.request_id
        _log.info(
            "request",
            extra={
                "request_id": g.request_id,
                "method": request.method,
                "route": request.url_rule.rule if request.url_rule else None,
                "status": response.status_code,
                "milliseconds": round((time.perf_counter() - g.started) * 1000, 3),
                "bytes": response.content_length,
            },
        )
        return response
