"""How a process that serves manages its memory: the heaps of its threads, and the collector.

Owns two settings, one of the C library and one of the interpreter. Must be called before there are
threads.
"""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress
from typing import Final

HEAPS: Final = 2
_M_ARENA_MAX: Final = -8
"""The parameter's number in glibc's malloc.h."""

YOUNG_OBJECTS: Final = 10_000
"""So many new objects make the collector look for cycles among them; a search makes thousands."""


def tune_memory() -> None:
    """Let threads share heaps, and collect cycles seldom.

    Where the C library is glibc, it makes a heap for almost every thread, and each keeps what the
    largest request that the thread ever served has taken. The interpreter, left to itself, looks
    for cycles many times during one search, which leaves next to none.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, HEAPS)
    gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
