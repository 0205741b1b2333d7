"""Routes of embedding work and its progress."""

from __future__ import annotations

from typing import Any

from app.api import answers, shapes, streams
from app.api.routing import Route
from app.api.services import services
from app.api.streams import most_listeners, progress_stream
from app.db import notes
from app.sync.batches import UNEMBEDDED


def embed_note(note_id: int) -> Any:
    """Embed one note anew."""
    return {"noteId": note_id, "chunks": services().batches.embed_one(note_id)}


def embed_batch() -> Any:
    """Queue every note that is not embedded."""
    parts = services()
    with parts.database.read() as connection:
        titles = notes.titles_with_status(connection, UNEMBEDDED)
    if not titles:
        return {"queued": 0}
    queued = parts.queue.submit(titles)
    return {"queued": queued, "queue": shapes.queue(parts.queue.progress())}


def queue_status() -> Any:
    """Show the embedding queue."""
    return shapes.queue(services().queue.progress())


def follow_queue() -> Any:
    """Stream the state of the embedding queue as server-sent events."""
    parts = services()
    most = most_listeners(parts.settings.server.threads)
    return progress_stream(parts.queue, parts.listeners, most)


def cancel_queue() -> Any:
    """Drop what waits in the embedding queue."""
    return {"cancelled": services().queue.cancel()}


ROUTES = (
    Route("POST", "/api/notes/<id:note_id>/embed", embed_note, answer=answers.EMBEDDED),
    Route("POST", "/api/embeddings/batch", embed_batch, answer=answers.QUEUED),
    Route("GET", "/api/queue/status", queue_status, answer=answers.QUEUE),
    Route("GET", "/api/queue/stream", follow_queue, media_type=streams.MEDIA_TYPE,
          is_enveloped=False),
    Route("POST", "/api/queue/cancel", cancel_queue, answer=answers.CANCELLED),
)  # fmt: skip
