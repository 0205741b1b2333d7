"""A command line over a real application, without a socket, and one in processes of its own."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from rich.console import Console

from cli.admin import pidfile
from cli.main import crystal
from cli.session import Wiring
from tests.cli.library import fill, records
from tests.support.application import opened, planted_vector, stub_values
from tests.support.provider import StubProvider

WIDTH = 120


@dataclass(frozen=True)
class Ran:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The JSON on stdout."""
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line on stderr."""
        assert self.err.endswith("\n")
        assert self.err.count("\n") == 1, self.err
        return self.err.strip()


Runner = Callable[..., Ran]


def run_with(
    wiring: Wiring,
    arguments: tuple[str, ...],
    *,
    given: str | bytes = "",
    env: Mapping[str, str] | None = None,
) -> Ran:
    """Run a command in this process."""
    result = CliRunner().invoke(crystal, arguments, input=given, env=env, obj=wiring)
    return Ran(result.exit_code, result.stdout, result.stderr)


def run_on_terminal(
    transport: httpx.BaseTransport, *arguments: str, width: int = WIDTH, colours: bool = False
) -> Ran:
    """Run a command as on a terminal of some width; what the tables look like is in ``out``."""
    screen = io.StringIO()
    console = Console(
        file=screen,
        force_terminal=True,
        width=width,
        color_system="standard" if colours else None,
        legacy_windows=False,
    )
    ran = run_with(Wiring(transport=transport, console=console), arguments)
    assert ran.out == "", "a table was printed past the console"
    return Ran(ran.code, screen.getvalue(), ran.err)


def without_trailing_blanks(text: str) -> str:
    """Return a text whose lines end with what can be seen."""
    return "\n".join(line.rstrip() for line in text.split("\n"))


def runner_over(transport: httpx.BaseTransport) -> Runner:
    """A function that runs commands over a transport."""

    def run(*arguments: str, **more: Any) -> Ran:
        return run_with(Wiring(transport=transport), arguments, **more)

    return run


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what changes how consoles of whoever runs the tests look."""
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.WSGITransport]:
    """The way to a server with some notes, for tests that change nothing."""
    folder = tmp_path_factory.mktemp("library")
    with (
        StubProvider(vector=planted_vector) as provider,
        opened(folder, stub_values(provider)) as application,
    ):
        fill(application)
        yield httpx.WSGITransport(app=application.flask())


@pytest.fixture
def read(library: httpx.WSGITransport) -> Runner:
    """Runs commands over the library, their output in a pipe."""
    return runner_over(library)


@pytest.fixture
def own_library(tmp_path: Path) -> Iterator[httpx.WSGITransport]:
    """The way to a server with the same notes, of the test's own."""
    with (
        StubProvider(vector=planted_vector) as provider,
        opened(tmp_path, stub_values(provider)) as application,
    ):
        fill(application)
        yield httpx.WSGITransport(app=application.flask())


@pytest.fixture
def write(own_library: httpx.WSGITransport) -> Runner:
    """Runs commands over the library of the test's own, their output in a pipe."""
    return runner_over(own_library)


@pytest.fixture(scope="session")
def provider() -> Iterator[StubProvider]:
    """A provider for servers in processes of their own."""
    with StubProvider(vector=planted_vector) as running:
        yield running


def environment_of(folder: Path, provider: StubProvider, **more: str) -> dict[str, str]:
    """The environment of a process whose data are in a folder and whose vectors are the stub's."""
    foreign = ("CRYSTAL_", "EMBEDDING_", "LLM_", "DATA_DIR", "PORT", "NO_COLOR", "FORCE_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return kept | {
        "CRYSTAL_DATA_DIR": str(folder),
        "CRYSTAL_EMBEDDING_PROVIDER": "openai",
        "CRYSTAL_EMBEDDING_BASE_URL": provider.base_url,
        "CRYSTAL_EMBEDDING_RETRIES": "0",
        "CRYSTAL_SEARCH_SECOND_SPACE": "false",
        **more,
    }


def run_process(environment: Mapping[str, str], *arguments: str, given: bytes = b"") -> Ran:
    """Run a command in a process of its own, its streams in pipes."""
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", *arguments],
        input=given,
        capture_output=True,
        env=environment,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
    return port


@pytest.fixture
def data_folder(tmp_path: Path) -> Iterator[Path]:
    """A data folder whose server, if the test leaves one, is ended."""
    folder = tmp_path / "data"
    yield folder
    for left in pidfile.running(folder):
        os.kill(left.pid, signal.SIGKILL)


@pytest.fixture
def own_data(data_folder: Path, provider: StubProvider, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of this process, by its environment, and of those that it starts."""
    for name, text in environment_of(data_folder, provider).items():
        if name.startswith("CRYSTAL_"):
            monkeypatch.setenv(name, text)
    return data_folder


def here(*arguments: str) -> Ran:
    """Run a command in this process, with the settings of its environment."""
    return run_with(Wiring(), arguments)


@dataclass(frozen=True)
class Served:
    """A server in a process of its own."""

    folder: Path
    url: str
    environment: dict[str, str]

    def run(self, *arguments: str, given: bytes = b"") -> Ran:
        """Run a command on it, in a process of its own."""
        return run_process(self.environment, *arguments, given=given)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, provider: StubProvider) -> Iterator[Served]:
    """A server that holds the notes, for tests that change nothing."""
    folder = tmp_path_factory.mktemp("served")
    environment = environment_of(folder, provider)
    started = run_process(environment, "serve", "-d", "-p", "0")
    assert started.code == 0, started.err
    url = started.data["url"]
    try:
        content = "\n".join(json.dumps(record) for record in records()).encode()
        filled = run_process(environment, "-b", url, "import", "jsonl", "-", given=content)
        assert filled.code == 0, filled.err
        yield Served(folder, url, environment | {"CRYSTAL_BASE_URL": url})
    finally:
        stopped = run_process(environment, "serve", "stop")
    assert stopped.data == {"stopped": [started.data["pid"]]}
