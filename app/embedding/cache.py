"""Query vectors kept in memory, the least recently used leaving first.

Owns the cache of one process. Must not embed.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class QueryVector:
    """An embedded query: ``vector`` (d,) float32, unit length, read-only."""

    vector: NDArray[np.float32]
    warnings: tuple[str, ...] = ()


class QueryCache:
    """Up to ``size`` query vectors by text; none when the size is 0. Safe among threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[str, QueryVector] = OrderedDict()
        self._lock = Lock()

    def get(self, text: str) -> QueryVector | None:
        """Return the text's vector, if it is kept, and count it as used."""
        with self._lock:
            entry = self._entries.get(text)
            if entry is not None:
                self._entries.move_to_end(text)
            return entry

    def put(self, text: str, entry: QueryVector) -> None:
        """Keep a vector; the one unused for longest leaves when there are too many."""
        with self._lock:
            self._entries[text] = entry
            self._entries.move_to_end(text)
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)
