"""Something that is held back until a test lets it go on."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TypeVar

PATIENCE = 9.0

Slow = TypeVar("Slow")
Quick = TypeVar("Quick")


class Held:
    """Whatever calls ``wait`` stands still there."""

    def __init__(self) -> None:
        self.is_held, self.may_go_on = Event(), Event()
        self.is_patient = True

    def wait(self) -> None:
        """Stand still."""
        self.is_held.set()
        self.is_patient &= self.may_go_on.wait(PATIENCE)

    def beside(self, slow: Callable[[], Slow], quick: Callable[[], Quick]) -> tuple[Slow, Quick]:
        """Return what a slow call gives at last, and a quick one while that stands still."""
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(slow)
            try:
                assert self.is_held.wait(PATIENCE)
                found = quick()
                assert self.is_patient, "the quick call waited for the slow one"
                assert not waiting.done()
            finally:
                self.may_go_on.set()
            return waiting.result(), found
