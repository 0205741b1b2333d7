"""What one search spent its time on, stage by stage.

Owns the clock of the read path. The ranker's own record tells everything else.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Trace:
    """Milliseconds by stage, in the order in which the stages first ran."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the block to a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - start
            self._seconds[name] = self._seconds.get(name, 0.0) + spent

    def milliseconds(self) -> dict[str, float]:
        """Return the time of each stage, rounded to microseconds."""
        return {name: round(seconds * 1000, 3) for name, seconds in self._seconds.items()}
