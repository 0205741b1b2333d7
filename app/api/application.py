"""Builds the Flask application: guards, routes, errors, logs.

Owns the order in which they wrap a request.
"""

from __future__ import annotations

from pathlib import Path

from flask import Flask

from app.api import (
    config,
    conversations,
    documentation,
    embeddings,
    errors,
    finder,
    frontend,
    graph,
    logs,
    memory,
    metrics,
    notes,
    references,
    relations,
    routing,
    scans,
    search,
    status,
    summaries,
    tags,
    transfer,
    web,
)
from app.api.guards import Guards
from app.api.services import EXTENSION, Services
from app.maintenance.tokens import TokenKeeper

LARGEST_BODY = 16 * 1024 * 1024

ROUTES: tuple[routing.Route, ...] = (
    *status.ROUTES,
    *config.ROUTES,
    *search.ROUTES,
    *notes.ROUTES,
    *references.ROUTES,
    *graph.ROUTES,
    *finder.ROUTES,
    *relations.ROUTES,
    *tags.ROUTES,
    *conversations.ROUTES,
    *embeddings.ROUTES,
    *transfer.ROUTES,
    *summaries.ROUTES,
    *memory.ROUTES,
    *scans.ROUTES,
    *documentation.ROUTES,
    *metrics.ROUTES,
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
    Guards(services.settings.server, TokenKeeper(services.database).scope_of).register(app)
    routing.register(app, ROUTES)
    documentation.register(app, ROUTES)
    metrics.register(app, services)
    if services.settings.server.frontend:
        frontend.register(app, Path(services.settings.server.frontend).expanduser())
    else:
        web.register(app)
    errors.register(app)
    return app
