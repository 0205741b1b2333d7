"""Builds the Flask application: guards, routes, errors, logs.

Owns the order in which they wrap a request.
"""

from __future__ import annotations

from pathlib import Path

from flask import Flask

from app.api import (
    config,
    conversations,
    embeddings,
    errors,
    frontend,
    logs,
    notes,
    relations,
    routing,
    search,
    status,
    tags,
    transfer,
)
from app.api.guards import Guards
from app.api.services import EXTENSION, Services

LARGEST_BODY = 16 * 1024 * 1024

ROUTES: tuple[routing.Route, ...] = (
    *status.ROUTES,
    *config.ROUTES,
    *search.ROUTES,
    *notes.ROUTES,
    *relations.ROUTES,
    *tags.ROUTES,
    *conversations.ROUTES,
    *embeddings.ROUTES,
    *transfer.ROUTES,
)


def create_flask(services: Services) -> Flask:
    """Return the WSGI application over the given parts."""
    app = Flask("app.api", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    app.extensions[EXTENSION] = services
    # Addresses are exact: no redirects from other spellings, as in the original.
    app.url_map.strict_slashes = True
    app.url_map.merge_slashes = False
    logs.register(app)
    Guards(services.settings.server).register(app)
    routing.register(app, ROUTES)
    if services.settings.server.frontend:
        frontend.register(app, Path(services.settings.server.frontend).expanduser())
    errors.register(app)
    return app
