"""Commands of ours in processes of their own, which can be killed at any moment.

Owns their life: what was started here is ended here, by its own handle, and nothing else is. They
part from a process that has loaded the code already.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.soak import child
from benchmarks.soak.calls import Caller, Tally
from benchmarks.soak.child import Order

START_SECONDS = 120.0
STOP_SECONDS = 30.0
"""A stop takes five at most; more where others keep the processors busy."""

POLL_SECONDS = 0.02
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([child.__name__])


class NotStarted(Exception):
    """A server ended before it answered; its text is what it printed."""


@dataclass(frozen=True, slots=True)
class Place:
    """A data folder, and the settings of whatever works on it, as environment variables."""

    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.folder / "crystal.db"

    def make(self) -> None:
        """Make the folder, for its owner only."""
        self.folder.mkdir(mode=0o700)

    @property
    def environment(self) -> dict[str, str]:
        """Everything that a process is told."""
        return {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self.folder),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "CRYSTAL_DATA_DIR": str(self.folder),
            "CRYSTAL_SEARCH_SECOND_SPACE": "false",
            **self.settings,
        }


class Command:
    """A command that runs, or has run."""

    def __init__(self, place: Place, *arguments: str, **limits: object) -> None:
        """Start it; ``limits`` are those of ``Order``."""
        self.output = place.folder.parent / f"{place.folder.name}.output"
        self._worked = 0.0
        self.output.unlink(missing_ok=True)
        order = Order(arguments, place.environment, self.output, **limits)  # type: ignore[arg-type]
        self._process: ForkServerProcess = _CONTEXT.Process(
            target=child.run, args=[order], daemon=True
        )
        self._process.start()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid or 0

    @property
    def has_ended(self) -> bool:
        """Tell whether it is over."""
        return self._process.exitcode is not None

    @property
    def printed(self) -> str:
        """What it has printed so far."""
        return self.output.read_text("utf-8", "replace") if self.output.exists() else ""

    def kill(self) -> bool:
        """End it by SIGKILL; tell whether it still ran."""
        ran = not self.has_ended
        self._process.kill()
        self._process.join()
        return ran

    def terminate(self) -> None:
        """Ask it to end, and do not wait."""
        self._process.terminate()

    def wait(self, seconds: float) -> int | None:
        """Wait for its end and return its exit code; None when it still runs."""
        self._process.join(seconds)
        return self._process.exitcode

    def memory(self) -> int:
        """Return the bytes of memory that it holds; 0 where the system does not tell."""
        if sys.platform != "linux":
            return 0
        pages = Path(f"/proc/{self.pid}/statm").read_text("ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def worked(self) -> float:
        """Return the seconds that processors have worked for it; all time where nobody tells."""
        if sys.platform != "linux":
            return time.monotonic()
        with suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(f"/proc/{self.pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()
            self._worked = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return self._worked


class Server(Command):
    """``crystal serve``; a context manager that ends it."""

    def __init__(self, place: Place, tally: Tally, port: int = 0, **limits: object) -> None:
        super().__init__(place, "serve", "--json", "--port", str(port), **limits)
        self._tally = tally
        self.port = 0

    def caller(self) -> Caller:
        """Return a connection of its own to the server."""
        return Caller(self.port, self._tally)

    def started(self, seconds: float = START_SECONDS) -> Self:
        """Wait until it answers.

        Raises:
            NotStarted: it ended, or did not answer in time.
        """
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            has_ended = self.has_ended
            url = _announced(self.printed)
            if url:
                self.port = int(url.rsplit(":", 1)[1])
                return self
            if has_ended:
                break
            time.sleep(POLL_SECONDS)
        raise NotStarted(self.printed)

    def __enter__(self) -> Self:
        return self.started()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.terminate()
        code = self.wait(STOP_SECONDS)
        if code != 0 and kind is None:
            self._tally.ended_badly(code, self.printed)
        self.kill()


def _announced(text: str) -> str:
    """Return the URL in what a server printed, between the lines of its log."""
    start = text.find("{\n")
    end = text.find("\n}", start)
    if start < 0 or end < 0:
        return ""
    return str(json.loads(text[start : end + 2]).get("url", ""))


@contextmanager
def running(command: Command) -> Iterator[Command]:
    """End a command at the end, by force if it still runs."""
    try:
        yield command
    finally:
        command.kill()


def until(condition: Callable[[], bool], seconds: float, pause: float = POLL_SECONDS) -> bool:
    """Wait until a condition holds; tell whether it came to hold in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True


def some_time(chance: random.Random, longest: float) -> None:
    """Wait for a random time."""
    time.sleep(chance.uniform(0.0, longest))
