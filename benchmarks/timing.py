"""Times of short pieces of work, taken side by side.

Owns the interleaving: machines are noisy, so alternatives are measured in turn.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping


def milliseconds(pieces: Mapping[str, Callable[[], object]], runs: int) -> dict[str, list[float]]:
    """Run every piece in turn, ``runs`` times, and return all times of each."""
    times: dict[str, list[float]] = {name: [] for name in pieces}
    gc.collect()
    gc.disable()
    try:
        for _ in range(runs):
            for name, piece in pieces.items():
                start = time.perf_counter()
                piece()
                times[name].append((time.perf_counter() - start) * 1000)
    finally:
        gc.enable()
    return times


def best_milliseconds(pieces: Mapping[str, Callable[[], object]], runs: int) -> dict[str, float]:
    """Run every piece in turn, ``runs`` times, and return the best time of each."""
    return {name: min(found) for name, found in milliseconds(pieces, runs).items()}
