"""The log file of servers without a terminal: bounded in size and number, shared by processes.

Owns the names. The newest is ``server.log``, then ``server.old.log``, ``server.old2.log`` and so
on; what is older is deleted.
"""

from __future__ import annotations

import fcntl
import logging
import os
import stat
import sys
from pathlib import Path

LOG_NAME = "server.log"
LARGEST_LOG = 8 * 1024 * 1024
"""Bytes; a larger log is put aside."""

KEPT_LOGS = 3
"""Older logs that are kept."""

_STDERR = 2


def open_log(path: Path) -> int:
    """Open a log to be added to, made if need be, and return its descriptor.

    Raises:
        OSError: it cannot be written.
    """
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def put_aside(path: Path) -> None:
    """Rename a log that is too large, and the older ones behind it.

    Raises:
        OSError: it cannot be renamed.
    """
    if not path.exists() or path.stat().st_size <= LARGEST_LOG:
        return
    names = [path, *(_older(path, number) for number in range(1, KEPT_LOGS + 1))]
    for older, newer in reversed(list(zip(names[1:], names, strict=False))):
        if newer.exists():
            newer.replace(older)


def _older(path: Path, number: int) -> Path:
    return path.with_suffix(f".old{number if number > 1 else ''}{path.suffix}")


class LogFileHandler(logging.StreamHandler):  # type: ignore[type-arg]  # the class takes none
    """Writes to stderr, which is a log file, and moves on when it is full.

    Whatever else the process writes to stderr, such as a crash, goes along.
    """

    def __init__(self, path: Path) -> None:
        """Write to stderr; ``path`` is the name of the file that it is."""
        super().__init__(sys.stderr)
        self._path = path

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, in a new file when the old one is full or was put aside by others."""
        super().emit(record)
        try:
            if os.fstat(_STDERR).st_size > LARGEST_LOG or not is_stderr(self._path):
                self._move_on()
        except OSError:
            self.handleError(record)

    def _move_on(self) -> None:
        # Whoever has the lock of the full file renames it; who comes later finds that done.
        fcntl.flock(_STDERR, fcntl.LOCK_EX)
        try:
            if is_stderr(self._path):
                put_aside(self._path)
        finally:
            fcntl.flock(_STDERR, fcntl.LOCK_UN)
        fresh = open_log(self._path)
        os.dup2(fresh, _STDERR)
        os.close(fresh)


def is_stderr(path: Path) -> bool:
    """Tell whether stderr is this file."""
    try:
        mine, named = os.fstat(_STDERR), path.stat()
    except OSError:
        return False
    return stat.S_ISREG(mine.st_mode) and os.path.samestat(mine, named)
