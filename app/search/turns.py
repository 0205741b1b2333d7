"""How many searches of a process are ranked at once.

Owns the number. Waiting for a provider does not count: a search takes its turn afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import BoundedSemaphore

from app.index.work import PROCESSORS, at_work

AT_ONCE = 1 + PROCESSORS
"""One computes while others scan, and another one waits to go on with what it has found."""

Turns = Callable[[], AbstractContextManager[object]]


def turns(*, is_local: bool) -> Turns:
    """Return what gives a search its turn, to be held while it is ranked.

    Args:
        is_local: Database and vectors are of this process; one that waits for a server meanwhile
            keeps nobody from working, and all may go on.
    """
    if not is_local:
        return nullcontext
    places = BoundedSemaphore(AT_ONCE)

    @contextmanager
    def turn() -> Iterator[None]:
        with places, at_work():
            yield

    return turn
