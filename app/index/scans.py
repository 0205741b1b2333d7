"""Scans of several segments side by side; faiss lets go of the interpreter meanwhile.

Owns the threads. Must not know what is scanned.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

SCAN_THREADS = min(max(os.cpu_count() or 1, 2), 8)
"""Segments are scanned side by side by so many; more would wait for the memory."""

Found = TypeVar("Found")

_SCANS = ThreadPoolExecutor(SCAN_THREADS, thread_name_prefix="faiss")


def side_by_side(scans: Sequence[Callable[[], Found]], *, threaded: bool) -> list[Found]:
    """Run scans, in threads when they are long, and return what they find in their order.

    Whoever is free takes the next one, this thread too: another may take as long to wake up as
    half of the work takes.
    """
    if not threaded or len(scans) == 1:
        return [scan() for scan in scans]
    found: dict[int, Found] = {}
    # Taking the next place is one step of the interpreter.
    places = iter(range(len(scans)))

    def work() -> None:
        for place in places:
            found[place] = scans[place]()

    helpers = [_SCANS.submit(work) for _ in range(min(SCAN_THREADS, len(scans)) - 1)]
    work()
    for helper in helpers:
        if not helper.cancel():
            helper.result()
    return [found[place] for place in range(len(scans))]
