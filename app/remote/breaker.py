"""A circuit breaker: a provider that keeps its callers waiting in vain is left alone for a while.

Owns the counting; safe among threads. While it is open, who needs the provider hears at once what
was wrong, so that searches by words stay as fast as they are. A provider that fails at once costs
nobody anything and is asked every time.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Final

from app.domain.health import Health
from app.errors import ProviderError

FAILURES: Final = 3
WASTED_SECONDS: Final = 10.0
"""So many calls in a row that failed, and so long waited for them together, open the breaker."""

FIRST_REST: Final = 5.0
LONGEST_REST: Final = 60.0
"""Seconds that it stays open: twice as long after each further failure, up to the longest."""


class Breaker:
    """Lets calls through, until too many have failed; then one now and again, to see."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Count by a clock in seconds."""
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._wasted = 0.0
        self._opens_at = 0.0
        self._last: ProviderError | None = None

    def check(self) -> None:
        """Return when a call may be made; while the breaker is open one caller may, after a rest.

        Raises:
            ProviderError: what the last call met, and when the next will be tried.
        """
        with self._lock:
            is_closed = self._failures < FAILURES or self._wasted < WASTED_SECONDS
            if is_closed or self._last is None:
                return
            left = self._opens_at - self._clock()
            if left <= 0:
                # Whoever comes next waits until this one is back.
                self._opens_at = self._clock() + self._rest()
                return
            error = self._last
        raise type(error)(
            f"{error.message} (it failed again and again and is left alone for {math.ceil(left)} s)"
        )

    def health(self) -> Health:
        """Tell how the provider does."""
        with self._lock:
            is_open = self._failures >= FAILURES and self._wasted >= WASTED_SECONDS
            rest = max(self._opens_at - self._clock(), 0.0) if is_open else 0.0
            return Health(self._failures, rest)

    def succeeded(self) -> None:
        """Close the breaker."""
        with self._lock:
            self._failures = 0
            self._wasted = 0.0
            self._last = None

    def failed(self, error: ProviderError, seconds: float) -> None:
        """Count a failed call that somebody waited so long for."""
        with self._lock:
            self._failures += 1
            self._wasted += seconds
            self._last = error
            self._opens_at = self._clock() + self._rest()

    def _rest(self) -> float:
        doublings = min(max(self._failures - FAILURES, 0), 10)
        return min(FIRST_REST * 2.0**doublings, LONGEST_REST)
