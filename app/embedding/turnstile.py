"""One at a time, in the order of asking: how threads share a bundled model.

Owns two locks. Must not know what they keep.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock


class Turnstile:
    """A lock that a loop cannot retake before another thread that waits has had its turn."""

    def __init__(self) -> None:
        self._entrance = Lock()
        self._lock = Lock()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn and hold it for the block."""
        # Whoever waits holds the entrance, so that who leaves cannot come back first.
        with self._entrance:
            self._lock.acquire()
        try:
            yield
        finally:
            self._lock.release()
