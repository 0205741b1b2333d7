"""Scans of several segments side by side; faiss lets go of the interpreter meanwhile.

Owns the threads. Must not know what is scanned.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Semaphore
from typing import TypeVar

SCAN_THREADS = min(max(os.cpu_count() or 1, 2), 8)
"""So many scan at once, those of all searches together; more would wait for the memory."""

Found = TypeVar("Found")

_SCANS = ThreadPoolExecutor(SCAN_THREADS, thread_name_prefix="faiss")
_FREE = Semaphore(SCAN_THREADS)


def side_by_side(scans: Sequence[Callable[[], Found]], *, threaded: bool) -> list[Found]:
    """Run scans and return what they find in their order.

    Long ones are shared with threads that no other search has: beside it they would only make one
    another wait.
    """
    taken = _take(min(SCAN_THREADS, len(scans)) if threaded else 1)
    try:
        return _shared(scans, taken - 1) if taken > 1 else [scan() for scan in scans]
    finally:
        for _ in range(taken):
            _FREE.release()


def _take(wanted: int) -> int:
    """Take threads for a search, its own among them, as far as there are."""
    taken = 0
    while taken < wanted and _FREE.acquire(blocking=False):
        taken += 1
    return taken


def _shared(scans: Sequence[Callable[[], Found]], helpers: int) -> list[Found]:
    """Run scans in this thread and some helpers.

    Whoever is free takes the next one: a helper may take as long to wake up as half of the work
    takes.
    """
    found: dict[int, Found] = {}
    # Taking the next place is one step of the interpreter.
    places = iter(range(len(scans)))

    def work() -> None:
        for place in places:
            found[place] = scans[place]()

    begun = [_SCANS.submit(work) for _ in range(helpers)]
    work()
    for helper in begun:
        if not helper.cancel():
            helper.result()
    return [found[place] for place in range(len(scans))]
