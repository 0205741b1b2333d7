"""Times of short pieces of work, taken side by side.

Owns the interleaving: machines are noisy, so alternatives are measured in turn and the best run
of each counts.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping


def best_milliseconds(pieces: Mapping[str, Callable[[], object]], runs: int) -> dict[str, float]:
    """Run every piece in turn, ``runs`` times, and return the best time of each."""
    best = dict.fromkeys(pieces, float("inf"))
    gc.collect()
    gc.disable()
    try:
        for _ in range(runs):
            for name, piece in pieces.items():
                start = time.perf_counter()
                piece()
                best[name] = min(best[name], (time.perf_counter() - start) * 1000)
    finally:
        gc.enable()
    return best
