"""Serves a built single-page app beside the API.

Owns the fallback: a GET outside ``/api`` that names no file answers the app's own page. Never
for other methods, never for the API, whose addresses answer as they do without a front end,
never a file outside the folder.
"""

from __future__ import annotations

from pathlib import Path

from flask import Flask, Response, send_from_directory
from werkzeug.routing import PathConverter
from werkzeug.security import safe_join

from app.errors import ConfigurationError

PAGE = "index.html"
HASHED_FOLDER = "assets"
"""Build tools put files here whose names change with their content."""

ONE_YEAR_SECONDS = 31_536_000


class PageConverter(PathConverter):
    """A path outside the API, whose name counts in whatever case."""

    regex = f"(?![aA][pP][iI](?:/|$)){PathConverter.regex}"


def register(app: Flask, folder: Path) -> None:
    """Serve the folder's files to GET and HEAD.

    Raises:
        ConfigurationError: the folder holds no page.
    """
    root = folder.resolve()
    if not (root / PAGE).is_file():
        raise ConfigurationError(f"The front end folder {folder} holds no {PAGE}")

    app.url_map.converters |= {"page": PageConverter}

    @app.get("/", defaults={"path": ""})
    @app.get("/<page:path>")
    def _serve(path: str) -> Response:
        target = safe_join(str(root), path)
        name = path if target is not None and _is_inside(root, Path(target)) else PAGE
        response = send_from_directory(root, name, conditional=True)
        response.cache_control.no_cache = None
        if name.startswith(f"{HASHED_FOLDER}/"):
            response.cache_control.max_age = ONE_YEAR_SECONDS
            response.cache_control.immutable = True
        else:
            response.cache_control.no_cache = True
        return response


def _is_inside(root: Path, target: Path) -> bool:
    resolved = target.resolve()
    return resolved.is_file() and resolved.is_relative_to(root)
