"""Scans of several segments side by side; faiss lets go of the interpreter meanwhile.

Owns the threads. Must not know what is scanned.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Semaphore
from typing import TypeVar

SCAN_THREADS = min(max(os.cpu_count() or 1, 2), 8)
"""So many scan at once, those of all searches together; more would wait for the memory."""

Found = TypeVar("Found")

_SCANS = ThreadPoolExecutor(SCAN_THREADS, thread_name_prefix="faiss")
_FREE = Semaphore(SCAN_THREADS)


@contextmanager
def at_work() -> Iterator[None]:
    """Count this thread among those at work, so that others do not share their scans with it."""
    taken = _take(1)
    try:
        yield
    finally:
        _give_back(taken)


def side_by_side(scans: Sequence[Callable[[], Found]], *, threaded: bool) -> list[Found]:
    """Run scans and return what they find in their order.

    Long ones are shared with as many threads as are not at work: beside another search they would
    only make one another wait.
    """
    helpers = _take(min(SCAN_THREADS, len(scans)) - 1) if threaded else 0
    try:
        return _shared(scans, helpers) if helpers else [scan() for scan in scans]
    finally:
        _give_back(helpers)


def _take(wanted: int) -> int:
    taken = 0
    while taken < wanted and _FREE.acquire(blocking=False):
        taken += 1
    return taken


def _give_back(taken: int) -> None:
    for _ in range(taken):
        _FREE.release()


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
