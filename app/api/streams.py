"""Server-sent events: the embedding queue's progress, pushed to whoever listens.

Owns the form of an event, the pulse between events, and how many may listen at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

from flask import Response, request

from app.api import shapes
from app.api.envelope import encode
from app.errors import Unavailable
from app.sync.queue import WorkQueue

MEDIA_TYPE = "text/event-stream"
CONTENT_TYPE = f"{MEDIA_TYPE}; charset=utf-8"

MOST_LISTENERS = 8

HEARTBEAT_SECONDS = 15.0
"""Silence after which a comment is sent; it is also how a client that left is noticed."""

LONGEST_SECONDS = 600.0
"""How long one stream lasts; browsers connect again by themselves."""

HEARTBEAT = b": still here\n\n"


class Listeners:
    """Counts who listens; safe among threads."""

    def __init__(self) -> None:
        self._places: set[object] = set()
        self._lock = threading.Lock()

    def enter(self, most: int) -> Callable[[], None]:
        """Take one of ``most`` places; return what gives it back, once however often called.

        Raises:
            Unavailable: all places are taken.
        """
        place = object()
        with self._lock:
            if len(self._places) >= most:
                raise Unavailable(
                    f"No more than {most} clients may follow the queue at once: close one of "
                    "them, or ask /api/queue/status"
                )
            self._places.add(place)

        def leave() -> None:
            with self._lock:
                self._places.discard(place)

        return leave


def most_listeners(threads: int) -> int:
    """Return how many may listen: each keeps a thread of the server, the rest serve requests."""
    return min(MOST_LISTENERS, threads // 2)


def progress_events(
    queue: WorkQueue,
    heartbeat: float = HEARTBEAT_SECONDS,
    longest: float = LONGEST_SECONDS,
) -> Iterator[bytes]:
    """Yield the queue's state now and at every change, and a comment after a silence.

    Ends after ``longest`` seconds, or when the queue closes.
    """
    end = time.monotonic() + longest
    seen = -1
    while not queue.is_closed and (left := end - time.monotonic()) > 0:
        progress = queue.wait(seen, min(heartbeat, left))
        if progress.version == seen:
            yield HEARTBEAT
        else:
            seen = progress.version
            yield b"data: " + encode(shapes.queue(progress)) + b"\n\n"


def progress_stream(queue: WorkQueue, listeners: Listeners, most: int) -> Response:
    """Answer with the queue's events until the client leaves; ``most`` may listen at once.

    Raises:
        Unavailable: too many listen already.
    """
    leave = listeners.enter(most)
    answer = Response(progress_events(queue), content_type=CONTENT_TYPE)
    answer.headers["Cache-Control"] = "no-store"
    # Proxies such as nginx would collect events until a buffer is full.
    answer.headers["X-Accel-Buffering"] = "no"
    answer.call_on_close(leave)
    if request.method == "HEAD":
        # Without a body nobody closes it.
        answer.close()
    return answer
