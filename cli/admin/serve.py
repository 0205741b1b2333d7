"""``crystal serve``, ``crystal serve stop`` and ``crystal serve status``."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from app.settings import store
from app.settings.values import Settings
from cli.admin import pidfile
from cli.admin.background import end, launch, wait_for
from cli.admin.faults import reported
from cli.admin.pidfile import Running
from cli.client import Client
from cli.failures import Failure
from cli.loading import loaded
from cli.options import Whole, with_session
from cli.output import print_json
from cli.session import Session
from cli.tables import show_line

Run = Callable[[Settings, Callable[[str], None]], None]

READY_SECONDS = 120.0
"""A large index takes its time to load."""

STOP_SECONDS = 45.0
"""A group of notes that is being embedded is finished first."""

PROBE_SECONDS = 10.0
UNAUTHORIZED = 401
POLL_SECONDS = 0.05


@click.group(invoke_without_command=True)
@click.option(
    "-p",
    "--port",
    type=Whole(0, 65535),
    help="Port to listen on, 3721 by default; 0 takes a free one.",
)
@click.option("--host", help="Address to listen on; any but this machine's own needs a token.")
@click.option("--frontend", metavar="DIR", help="Folder of a built single-page app to serve too.")
@click.option("-d", "--detach", is_flag=True, help="Return once the server answers.")
@with_session
def serve(
    session: Session, *, port: int | None, host: str | None, frontend: str | None, detach: bool
) -> None:
    """Run the server; stop it, or see whether it runs.

    Without a command: run it until Ctrl+C. Settings are read from the environment and from
    config.json in the data folder, which also takes the log of a detached server.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    given = {"port": port, "host": host, "frontend": frontend}
    texts = {name: str(value) for name, value in given.items() if value is not None}
    settings = _settings({f"server.{name}": text for name, text in texts.items()})
    if detach:
        options = [part for name, text in texts.items() for part in (f"--{name}", text)]
        _serve_detached(session, settings, options)
    else:
        run: Run = loaded("cli.admin.server:run")
        run(settings, lambda url: _announce(session, url))


def _settings(overrides: dict[str, str] | None = None) -> Settings:
    with reported():
        return store.load(overrides)


def _announce(session: Session, url: str) -> None:
    if session.output.is_json:
        print_json({"pid": os.getpid(), "url": url})
    else:
        session.output.say(f"Listening at {url}; Ctrl+C stops it.")


def _serve_detached(session: Session, settings: Settings, options: list[str]) -> None:
    with ExitStack() as undo:
        started = launch(settings.data_dir, options)
        undo.callback(end, started.process)
        pid = started.process.pid
        found, problem = wait_for(lambda: _readiness(settings, pid), started, READY_SECONDS)
        undo.pop_all()
    if problem:
        session.output.warn(f"The server runs but is not ready: {problem}")
    session.output.show(
        {"pid": found.pid, "url": found.url},
        lambda console: show_line(console, f"Listening at {found.url} (pid {found.pid})."),
    )


def _readiness(settings: Settings, pid: int) -> tuple[Running, str] | None:
    """Return a server once it answers, with what keeps it from being ready."""
    found = pidfile.find(settings.data_dir, pid)
    if found is None:
        return None
    try:
        state = _get(settings, found, "/api/ready")
    except Failure as failure:
        if failure.status == UNAUTHORIZED:
            # It answers; who may ask is for the holders of its tokens to find out.
            return found, ""
        return None if failure.status is None else (found, failure.text)
    parts = [f"{part}: {text}" for part, text in state.items() if isinstance(text, str)]
    return found, "" if state.get("ready") else ", ".join(parts)


def _get(settings: Settings, running: Running, path: str) -> dict[str, Any]:
    with Client(running.url, settings.server.api_token.reveal()) as client:
        data: dict[str, Any] = client.call("GET", path, seconds=PROBE_SECONDS).data
    return data


@serve.command()
@with_session
def stop(session: Session) -> None:
    """Stop the servers of this machine's data folder."""
    folder = _settings().data_dir
    pids = [each.pid for each in pidfile.running(folder)]
    for pid in pids:
        _end(folder, pid)
    lines = [f"The server (pid {pid}) is stopped." for pid in pids] or ["No server is running."]
    _show(session, {"stopped": pids}, lines)


def _end(folder: Path, pid: int) -> None:
    """End a server, which its lock on its file proves to be one.

    Raises:
        Failure: it may not be ended, or does not end.
    """
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    except PermissionError as error:
        raise Failure(f"Process {pid} belongs to another user", "not_stopped") from error
    deadline = time.monotonic() + STOP_SECONDS
    while pidfile.find(folder, pid) is not None:
        if time.monotonic() > deadline:
            raise Failure(f"Process {pid} did not end within {STOP_SECONDS:g} s", "not_stopped")
        time.sleep(POLL_SECONDS)


@serve.command()
@with_session
def status(session: Session) -> None:
    """Tell whether a server runs; exit 1 when none does, or one does not answer."""
    settings = _settings()
    servers = [_state(settings, each) for each in pidfile.running(settings.data_dir)]
    answers = bool(servers) and all(each["version"] for each in servers)
    lines = [_sentence(each) for each in servers] or ["No server is running."]
    _show(session, {"running": bool(servers), "answers": answers, "servers": servers}, lines)
    if not answers:
        click.get_current_context().exit(1)


def _state(settings: Settings, running: Running) -> dict[str, Any]:
    """Return what a server says of itself; its version is None when it does not answer."""
    version = None
    with suppress(Failure):
        version = _get(settings, running, "/api/status").get("version")
    return {"pid": running.pid, "url": running.url, "version": version}


def _sentence(server: dict[str, Any]) -> str:
    where = f"{server['url']} (pid {server['pid']})"
    if server["version"] is None:
        return f"A server holds {where} but does not answer."
    return f"Version {server['version']} runs at {where}."


def _show(session: Session, data: dict[str, Any], lines: list[str]) -> None:
    def draw(console: Console) -> None:
        for line in lines:
            show_line(console, line)

    session.output.show(data, draw)
