"""How many searches of a process are ranked at once.

Owns the number. Waiting for a provider does not count: a search takes its turn afterwards.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from threading import BoundedSemaphore

AT_ONCE = max(2, os.cpu_count() or 1)
"""More would only take the interpreter from one another all the time."""


def turns(*, is_local: bool) -> AbstractContextManager[object]:
    """Return what a search holds while it is ranked.

    Args:
        is_local: Database and vectors are of this process; one that waits for a server meanwhile
            keeps nobody from working, and all may go on.
    """
    return BoundedSemaphore(AT_ONCE) if is_local else nullcontext()
