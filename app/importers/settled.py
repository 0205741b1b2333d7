"""Reading files that another program may be writing at this moment.

Owns the decision whether what was read is what the file holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from app.errors import ImportFailed

ATTEMPTS = 10
PAUSE_SECONDS = 0.2

Result = TypeVar("Result")


def read_settled(path: Path, read: Callable[[], Result]) -> Result:
    """Read a file, again if need be, until it kept still meanwhile.

    Raises:
        ImportFailed: it cannot be read, or ``read`` says so of a file that kept still, or it never
            does.
    """
    try:
        for _ in range(ATTEMPTS):
            before = _state(path)
            try:
                found = read()
            except ImportFailed:
                # Half written, a file looks damaged.
                time.sleep(PAUSE_SECONDS)
                if _state(path) == before:
                    raise
                continue
            if _state(path) == before:
                return found
            time.sleep(PAUSE_SECONDS)
    except OSError as error:
        raise ImportFailed(f"{path} cannot be read: {error.strerror}") from error
    raise ImportFailed(f"{path} is being written all the time: stop ChatCrystal, then try again")


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size
