"""Scans of several segments side by side; faiss lets go of the interpreter meanwhile.

Owns the threads. Must not know what is scanned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from app.index.work import PROCESSORS, aside, processors

Found = TypeVar("Found")

_SCANS = ThreadPoolExecutor(PROCESSORS, thread_name_prefix="faiss")


def side_by_side(scans: Sequence[Callable[[], Found]], *, threaded: bool) -> list[Found]:
    """Run scans and return what they find in their order; others may compute meanwhile.

    Long ones are shared with as many threads as are not at work: beside another search they would
    only make one another wait.
    """
    with aside(), processors(min(PROCESSORS, len(scans)) - 1 if threaded else 0) as helpers:
        return _shared(scans, helpers) if helpers else [scan() for scan in scans]


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
