"""What runs inside a process that may be killed: the command line, under limits.

Owns the environment, limits and clock of such a process. It dies with whoever began it.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from multiprocessing import forkserver
from pathlib import Path
from typing import Self

# Loaded before the processes part, so that a server starts in a tenth of the time.
import cli.admin.import_chatcrystal
import cli.admin.import_markdown
import cli.admin.reindex
import cli.admin.serve
import cli.admin.server  # noqa: F401
from app.lexical.chinese import DICTIONARY
from cli.main import main

DICTIONARY.warm()

NOBODY = 65_534
_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux."""


@dataclass(frozen=True, slots=True)
class Order:
    """A command to run: its arguments, environment, and the file that takes all it prints.

    ``file_bytes`` limits the size of every file that it writes. ``as_nobody`` takes away root's
    right to write everywhere. ``clock`` is a file with the seconds by which its clock is wrong.
    """

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    output: Path
    file_bytes: int | None = None
    as_nobody: bool = False
    clock: Path | None = None


def run(order: Order) -> None:
    """Run a command in this process; never returns."""
    _die_with_parent()
    descriptor = os.open(order.output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for standard in (1, 2):
        os.dup2(descriptor, standard)
    os.environ.clear()
    os.environ.update(order.environment)
    if order.clock is not None:
        _wrong_clock(order.clock)
    if order.file_bytes is not None:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (order.file_bytes, hard))
    if order.as_nobody and os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    main(order.arguments)


def _die_with_parent() -> None:
    """End with the server of forks, and let that one end with the process that began it.

    It waits until nobody holds a pipe any more, an end of which every process is given.
    """
    server = vars(forkserver)["_forkserver"]
    os.close(vars(server)["_forkserver_alive_fd"])
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def _wrong_clock(path: Path) -> None:
    """Have the code of this process read a clock that is wrong by what a file says."""
    right = time.time

    def offset() -> float:
        return float(path.read_text("ascii"))

    class WrongDatetime(datetime):
        """The same class with another now."""

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            moment = datetime.fromtimestamp(right(), tz) + timedelta(seconds=offset())
            return cls.fromtimestamp(moment.timestamp(), tz)

    time.time = lambda: right() + offset()
    time.time_ns = lambda: int((right() + offset()) * 1e9)
    for name, module in list(sys.modules.items()):
        if name.startswith(("app.", "cli.")) and vars(module).get("datetime") is datetime:
            vars(module)["datetime"] = WrongDatetime
