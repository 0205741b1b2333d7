"""Routes about the server itself."""

from __future__ import annotations

import math
from typing import Any

import app as package
from app.api import answers, shapes
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
        "secondSpace": _second_space(),
        "changeover": _changeover(),
    }


def _changeover() -> dict[str, Any] | None:
    """Show how far a change of the model is; None where there is none."""
    progress = services().changeover.progress()
    if progress is None:
        return None
    searching, filling = progress.searching.spec, progress.filling.spec
    return {
        "searching": f"{searching.provider}/{searching.model}",
        "filling": f"{filling.provider}/{filling.model}",
        "notes_done": progress.done,
        "notes": progress.notes,
        "notes_failed": progress.failed,
    }


def _second_space() -> dict[str, Any] | None:
    """Show how far the second model is; None where there is none."""
    second, companions = services().second, services().second_companions
    if second is None or companions is None:
        return None
    coverage = companions.coverage()
    return {
        "space": f"{second.embedder.spec.provider}/{second.embedder.spec.model}",
        "notes_done": coverage.done,
        "notes": coverage.total,
        "complete": coverage.is_complete,
    }


def _provider() -> dict[str, Any]:
    """Show whether the provider answers, and for how long it is left alone if it does not."""
    found = services().active.current.embedder.health()
    return {"up": found.is_up, "failures": found.failures, "left_alone_for": math.ceil(found.rest)}


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
        checks["entities_without_vectors"] = len(parts.entities.missing())
        checks["second_space"] = _second_space()
        checks["changeover"] = _changeover()
        # A passage, since the vectors of queries are kept and would hide a provider that is gone.
        parts.active.current.embedder.embed_passages([PROBE])
        checks["embedder"] = "ok"
        checks["provider"] = _provider()
    except CrystalError as error:
        failed = "embedder" if "index" in checks else "database"
        checks[failed] = error.message
        checks["provider"] = _provider()
        answer = failure(error, {"data": {"ready": False, **checks}})
        answer.status_code = Unavailable.status
        return answer
    return {"ready": True, **checks}


ROUTES = (
    Route("GET", "/api/status", status, answer=answers.STATUS),
    Route("GET", "/api/health", health, answer=answers.HEALTH),
    Route("GET", "/api/ready", ready, answer=answers.READY),
)
