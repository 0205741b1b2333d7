"""Routes about the server itself."""

from __future__ import annotations

from typing import Any

import app as package
from app.api import shapes
from app.api.envelope import failure
from app.api.routing import Route
from app.api.services import services
from app.db import conversations, notes, spaces
from app.errors import CrystalError, Unavailable
from app.sync.batches import UNEMBEDDED

IMPLEMENTATION = "chatcrystal-search"
RECENT_NOTES = 5
DEMO_PREFIX = "demo-"
"""How the ids of the original's example conversations begin."""

PROBE = "ready?"


def status() -> Any:
    """Show what the server holds."""
    parts = services()
    with parts.database.read() as connection:
        counts = notes.counts(connection)
        recent = notes.recent(connection, RECENT_NOTES)
        statuses = spaces.status_counts(connection)
        is_seeded = conversations.all_begin_with(connection, DEMO_PREFIX)
    spec = parts.active.current.embedder.spec
    return {
        "server": True,
        "database": True,
        "isSeeded": is_seeded,
        "stats": counts,
        "recentNotes": [shapes.recent_note(note) for note in recent],
        "implementation": IMPLEMENTATION,
        "version": package.__version__,
        "embedding": {"provider": spec.provider, "model": spec.model, "notes": statuses},
    }


def health() -> Any:
    """Tell that the process lives."""
    return {"status": "ok"}


def ready() -> Any:
    """Tell whether database, index and embedder work."""
    parts = services()
    checks: dict[str, Any] = {}
    try:
        with parts.mirror.open() as (connection, view):
            checks["database"] = "ok"
            checks["index"] = {
                "vectors": view.index.count() if view.index else 0,
                "sequence": view.state.sequence,
            }
            counts = spaces.status_counts(connection)
            checks["notes_to_embed"] = sum(counts.get(name, 0) for name in UNEMBEDDED)
        checks["notes_without_companions"] = len(parts.companions.missing())
        # A passage, since the vectors of queries are kept and would hide a provider that is gone.
        parts.active.current.embedder.embed_passages([PROBE])
        checks["embedder"] = "ok"
    except CrystalError as error:
        failed = "embedder" if "index" in checks else "database"
        checks[failed] = error.message
        answer = failure(error, {"data": {"ready": False, **checks}})
        answer.status_code = Unavailable.status
        return answer
    return {"ready": True, **checks}


ROUTES = (
    Route("GET", "/api/status", status),
    Route("GET", "/api/health", health),
    Route("GET", "/api/ready", ready),
)
