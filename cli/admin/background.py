"""Servers in processes of their own: started in the background, watched until they answer.

Owns the promise that none is left behind when its start fails.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from app.settings import store
from cli.addresses import DEFAULT_PORT
from cli.admin.faults import reported
from cli.admin.log_files import LOG_NAME, open_log, put_aside
from cli.client import Client
from cli.failures import NOT_STARTED, Failure

Found = TypeVar("Found")

START_SECONDS = 20.0
STOP_SECONDS = 10.0
PROBE_SECONDS = 2.0
POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Started:
    """A server process; its part of the log begins at ``log_start``."""

    process: subprocess.Popen[bytes]
    log: Path
    log_start: int


def start(url: str) -> None:
    """Start a server of this machine's data that answers at a URL.

    Raises:
        Failure: It does not answer in time; it is ended then.
    """
    with reported():
        folder = store.load().data_dir
    port = urlsplit(url).port or DEFAULT_PORT
    with ExitStack() as undo:
        started = launch(folder, ["--port", str(port)])
        undo.callback(end, started.process)
        wait_for(lambda: _is_alive(url), started, START_SECONDS)
        undo.pop_all()


def launch(
    folder: Path, options: Sequence[str], environment: Mapping[str, str] | None = None
) -> Started:
    """Start ``crystal serve`` in a process of its own, its output in the log of a data folder.

    Raises:
        Failure: The log cannot be written.
    """
    log = folder / LOG_NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        put_aside(log)
        with open(open_log(log), "ab") as sink:
            log_start = sink.tell()
            process = subprocess.Popen(
                # -P: the folder of whoever calls may hold packages of the same names.
                [sys.executable, "-P", "-m", "cli.main", "serve", "--json", *options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=sink,
                start_new_session=True,
                env=environment,
            )
    except OSError as error:
        raise Failure(f"{log} cannot be written: {error.strerror}", NOT_STARTED) from error
    # Whoever outlives the server takes note of its end; else it would stay as a zombie.
    threading.Thread(target=process.wait, name="server-end", daemon=True).start()
    return Started(process, log, log_start)


def wait_for(probe: Callable[[], Found | None], started: Started, seconds: float) -> Found:
    """Wait until a server is up, which a probe shows by finding something, and return that.

    Raises:
        Failure: It ended, or was not up in time; it is not ended here.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        has_ended = started.process.poll() is not None
        # Another process may have been faster in starting the same server.
        found = probe()
        if found is not None:
            return found
        if has_ended:
            reason = _last_words(started) or f"see {started.log}"
            raise Failure(f"The server did not start: {reason}", NOT_STARTED)
        time.sleep(POLL_SECONDS)
    raise Failure(f"The server did not answer within {seconds:g} s; see {started.log}", NOT_STARTED)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process that this one started, by force if it must be."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _is_alive(url: str) -> bool | None:
    try:
        with Client(url) as client:
            client.call("GET", "/api/health", seconds=PROBE_SECONDS)
    except Failure as failure:
        # Whoever answers with an error is up.
        return None if failure.status is None else True
    return True


def _last_words(started: Started) -> str:
    """Return the last thing that a server wrote: its error, or the message of its log."""
    with started.log.open("rb") as log:
        log.seek(started.log_start)
        lines = log.read().decode("utf-8", "replace").split("\n")
    line = next((each for each in reversed(lines) if each.strip()), "")
    try:
        entry = json.loads(line)
        return str(entry.get("error") or entry["message"])
    except (ValueError, KeyError, AttributeError):
        return line
