"""Threads that live as long as the process, and end when it is told to stop.

Owns the race between beginning and ending: a server may be told to stop while it still starts.
Owns too in how many places threads allocate.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

HEAPS: Final = 2
_M_ARENA_MAX: Final = -8
"""The parameter's number in glibc's malloc.h."""


def share_heaps() -> None:
    """Let the threads of a process allocate from a few heaps, where the C library is glibc.

    By itself it makes one for almost every thread, and each keeps what the largest request that
    the thread ever served has taken. Call it before there are threads.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, HEAPS)


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
