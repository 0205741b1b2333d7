"""The web page of the package at ``/``, and its files under ``/web/``.

Owns their addresses and the headers that let nothing else run in it. A front end folder of the
user's own takes its place (``app.api.frontend``).
"""

from __future__ import annotations

from pathlib import Path

from flask import Flask, Response, send_from_directory

FOLDER = Path(__file__).parent.parent / "web"
PAGE = "index.html"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def register(app: Flask) -> None:
    """Serve the page and its files to GET and HEAD."""

    @app.get("/")
    def _page() -> Response:
        return _file(PAGE)

    @app.get("/web/<path:name>")
    def _asset(name: str) -> Response:
        return _file(name)


def _file(name: str) -> Response:
    answer = send_from_directory(FOLDER, name, conditional=True)
    answer.headers["Content-Security-Policy"] = POLICY
    answer.headers["Referrer-Policy"] = "no-referrer"
    # A newer package has other files under the same names.
    answer.cache_control.no_cache = True
    return answer
