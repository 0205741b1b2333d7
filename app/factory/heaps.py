"""In how many places the threads of a process allocate.

Owns one setting of the C library. Must be called before there are threads.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Final

HEAPS: Final = 2
_M_ARENA_MAX: Final = -8
"""The parameter's number in glibc's malloc.h."""


def share_heaps() -> None:
    """Let the threads of this process allocate from a few heaps, where the C library is glibc.

    By itself it makes one for almost every thread, and each keeps what the largest request that
    the thread ever served has taken.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, HEAPS)
