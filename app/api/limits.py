"""How often one caller may ask: a bucket of requests each, filled at a steady rate.

Owns the counting; safe among threads. Callers that went quiet are forgotten.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

MOST_CALLERS = 4_096
SECONDS = 60.0


class RateLimit:
    """Lets each caller make so many requests a minute, as many of them at once."""

    def __init__(
        self, requests_per_minute: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Count by a clock in seconds; no limit when ``requests_per_minute`` is 0."""
        self._size = float(requests_per_minute)
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait_for(self, caller: str) -> float:
        """Count a request; return the seconds after which it may be made, 0 for now."""
        if not self._size:
            return 0.0
        moment = self._clock()
        with self._lock:
            left, seen = self._left.pop(caller, (self._size, moment))
            left = min(self._size, left + (moment - seen) * self._size / SECONDS)
            is_allowed = left >= 1
            self._left[caller] = (left - 1 if is_allowed else left, moment)
            if len(self._left) > MOST_CALLERS:
                self._left.popitem(last=False)
        return 0.0 if is_allowed else (1 - left) * SECONDS / self._size
