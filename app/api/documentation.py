"""Routes of the API's own description: the OpenAPI document, and a page of it.

Owns how they are served. The page is made here, without scripts, so that it works offline and in
any browser; its style sheet ships with the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from flask import Flask, Response, current_app, render_template

from app.api.envelope import encode
from app.api.openapi import document
from app.api.routing import JSON, Route

EXTENSION = "openapi"
HTML = "text/html"
CSS = "text/css"
POLICY = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


def register(app: Flask, routes: Sequence[Route]) -> None:
    """Make the document of the routes once."""
    app.extensions[EXTENSION] = document(routes)


def _document() -> dict[str, Any]:
    return cast("dict[str, Any]", current_app.extensions[EXTENSION])


def show_openapi() -> Any:
    """Return the OpenAPI document of this API."""
    return Response(encode(_document()), content_type=JSON)


def show_docs() -> Any:
    """Return a page that describes this API."""
    text = render_template("docs.html", api=_document())
    page = Response(text, content_type=f"{HTML}; charset=utf-8")
    page.headers["Content-Security-Policy"] = POLICY
    return page


def show_docs_style() -> Any:
    """Return the style sheet of the page that describes this API."""
    return Response(render_template("docs.css"), content_type=f"{CSS}; charset=utf-8")


ROUTES = (
    Route("GET", "/api/openapi.json", show_openapi, media_type=JSON, answer={"type": "object"},
          is_enveloped=False),
    Route("GET", "/api/docs", show_docs, media_type=HTML, is_enveloped=False),
    Route("GET", "/api/docs/style.css", show_docs_style, media_type=CSS, is_enveloped=False),
)  # fmt: skip
