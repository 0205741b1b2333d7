"""``DATA_DIR/crystal.pid``: which processes serve this data folder.

Owns the file, and those that further servers of the same folder write beside it. A running server
holds a lock on its file, which the system takes away with the process: that is what proves that
the recorded process is a server of ours and still lives.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from cli.failures import Failure

FILE_NAME = "crystal.pid"
PATTERN = "crystal*.pid"
SETTLING_SECONDS = 2.0
POLL_SECONDS = 0.02
LONGEST_RECORD = 4096


@dataclass(frozen=True, slots=True)
class Running:
    """A server that runs: its process and where it listens, as this machine reaches it."""

    pid: int
    port: int
    url: str


class PidFile:
    """The file while this process holds it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def record(self, port: int, url: str) -> None:
        """Write where this process listens."""
        text = json.dumps(asdict(Running(os.getpid(), port, url))).encode("ascii") + b"\n"
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text, 0)


@contextmanager
def held(folder: Path) -> Iterator[PidFile]:
    """Hold a file in a data folder for as long as a block runs, then remove it.

    Raises:
        Failure: the folder cannot be written.
    """
    path = folder / FILE_NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = _locked(path)
        if descriptor is None:
            path = folder / f"crystal-{os.getpid()}.pid"
            descriptor = _locked(path)
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror}", "data_folder") from error
    if descriptor is None:
        raise Failure(f"{path} is held by another process", "data_folder")
    try:
        yield PidFile(descriptor)
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _locked(path: Path) -> int | None:
    """Open and lock the file; None when another process has the lock."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        if not _lock(descriptor):
            os.close(descriptor)
            return None
        if _is_at(descriptor, path):
            return descriptor
        # Its holder removed it between the opening and the lock.
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def running(folder: Path) -> tuple[Running, ...]:
    """Return the servers of a data folder, the one of ``crystal.pid`` first.

    One that is just starting has not written its record yet; it is waited for.

    Raises:
        Failure: one does not say where it listens.
    """
    paths = sorted(folder.glob(PATTERN), key=lambda path: (path.name != FILE_NAME, path.name))
    found = [_running_by(path) for path in paths]
    return tuple(each for each in found if each is not None)


def find(folder: Path, pid: int) -> Running | None:
    """Return the server of a data folder that a process is, None while it is none."""
    return next((each for each in running(folder) if each.pid == pid), None)


def _running_by(path: Path) -> Running | None:
    deadline = time.monotonic() + SETTLING_SECONDS
    while True:
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Failure(f"{path} cannot be read: {error.strerror}", "data_folder") from error
        try:
            if _lock(descriptor):
                return None
            found = _parsed(os.pread(descriptor, LONGEST_RECORD, 0))
        finally:
            os.close(descriptor)
        if found is not None:
            return found
        if time.monotonic() > deadline:
            raise Failure(f"{path} is held by a server that is starting", "starting")
        time.sleep(POLL_SECONDS)


def _parsed(content: bytes) -> Running | None:
    try:
        found = json.loads(content)
        return Running(int(found["pid"]), int(found["port"]), str(found["url"]))
    except (ValueError, KeyError, TypeError):
        return None
