"""Which threads are at work, and which of them has its turn to compute.

Threads that compute in Python side by side hand the interpreter to one another at every step of
numpy that lets go of it, and wait to be woken for the next one. So of those at work one computes
at a time, and gives its turn away while it scans or waits.

Owns the turn and the count of processors in use. Must not know what the work is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Semaphore, local

PROCESSORS = min(max(os.cpu_count() or 1, 2), 8)
"""So many threads scan at once, those of all searches together; more would wait for the memory."""


class _Own(local):
    """What a thread knows of itself."""

    has_turn = False


_FREE = Semaphore(PROCESSORS)
_TURN = Lock()
_OWN = _Own()


@contextmanager
def at_work() -> Iterator[None]:
    """Compute when the turn comes; others do not share their scans with this thread meanwhile.

    Nobody may be at work twice.
    """
    with processors(1), _TURN:
        _OWN.has_turn = True
        try:
            yield
        finally:
            _OWN.has_turn = False


@contextmanager
def aside() -> Iterator[None]:
    """Let another one compute meanwhile; does nothing in a thread that is not at work."""
    if not _OWN.has_turn:
        yield
        return
    _OWN.has_turn = False
    _TURN.release()
    try:
        yield
    finally:
        _TURN.acquire()
        _OWN.has_turn = True


@contextmanager
def processors(wanted: int) -> Iterator[int]:
    """Take as many processors as are free, no more than wanted; gives their number."""
    taken = 0
    while taken < wanted and _FREE.acquire(blocking=False):
        taken += 1
    try:
        yield taken
    finally:
        for _ in range(taken):
            _FREE.release()
