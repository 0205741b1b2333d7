"""Threads that live as long as the process, and end when it is told to stop.

Owns the race between beginning and ending: a server may be told to stop while it still starts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class LastingThread:
    """A thread that begins once, and not after it was told to end."""

    def __init__(self, name: str) -> None:
        """Name the thread; nothing runs yet."""
        self._name = name
        self._begins = threading.Lock()
        self._ends = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def is_ending(self) -> bool:
        """Tell whether it was told to end."""
        return self._ends.is_set()

    def start(self, work: Callable[[], None]) -> None:
        """Begin with the work, unless it was told to end already."""
        with self._begins:
            if not self.is_ending:
                self._thread = threading.Thread(target=work, name=self._name, daemon=True)
                self._thread.start()

    def rest(self, seconds: float) -> None:
        """Wait for so long, or until it is told to end; for the work itself."""
        self._ends.wait(seconds)

    def stop(self) -> None:
        """Tell it to end."""
        self._ends.set()

    def close(self, seconds: float) -> bool:
        """Tell it to end and wait for that; tell whether it did in time."""
        self.stop()
        with self._begins:
            thread = self._thread
        if thread is None:
            return True
        thread.join(seconds)
        return not thread.is_alive()
