"""A local server is started where nothing answers at this machine's default address, only there."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from cli.admin import pidfile
from cli.admin.background import start
from cli.session import Wiring
from tests.cli.conftest import free_port, run_with

STARTED = ["Starting server in background...", "Server started."]


@pytest.fixture
def wiring() -> Wiring:
    """What the command is given, but with a free port for the default one."""
    return Wiring(start=start, local_url=f"http://localhost:{free_port()}")


def test_a_server_is_started_and_answers(own_data: Path, wiring: Wiring) -> None:
    address = wiring.local_url.removeprefix("http://") + "/"
    ran = run_with(wiring, ("-b", address, "status"))
    assert ran.code == 0
    assert ran.data["implementation"] == "chatcrystal-search"
    assert ran.err.splitlines() == STARTED
    (running,) = pidfile.running(own_data)
    assert str(running.port) == wiring.local_url.rpartition(":")[2]
    again = run_with(wiring, ("tags",))
    assert (again.code, again.err) == (0, "")
    assert run_with(wiring, ("serve", "stop")).data == {"stopped": [running.pid]}


def test_programs_are_told_nothing_but_errors(own_data: Path, wiring: Wiring) -> None:
    ran = run_with(wiring, ("tags", "--json"))
    assert (ran.code, ran.out, ran.err) == (0, "[]\n", "")


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:{port}", "http://[::1]:{port}", "https://localhost:{port}",
     "http://localhost:{port}/path"],
)  # fmt: skip
def test_no_server_is_started_for_another_address(
    own_data: Path, wiring: Wiring, address: str
) -> None:
    url = address.format(port=wiring.local_url.rpartition(":")[2])
    ran = run_with(wiring, ("-b", url, "tags"))
    assert (ran.code, ran.out) == (1, "")
    assert ran.error.startswith(f"Error: Cannot reach {url}: ")
    assert not own_data.exists()


FAILING = {
    "setting": ({"CRYSTAL_LOG_LEVEL": "LOUD"}, "log.level"),
    "database": ({"CRYSTAL_DATABASE_URL": "sqlite:////proc/none/crystal.db"}, "/proc/none"),
    "host": ({"CRYSTAL_HOST": "0.0.0.0"}, "server.api_token"),
}


@pytest.mark.parametrize(("settings", "reason"), FAILING.values(), ids=FAILING)
def test_a_start_that_fails_leaves_nothing_behind(
    own_data: Path,
    wiring: Wiring,
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, str],
    reason: str,
) -> None:
    for name, text in settings.items():
        monkeypatch.setenv(name, text)
    ran = run_with(wiring, ("status",))
    assert (ran.code, ran.out) == (1, "")
    began, error = ran.err.splitlines()
    assert began == STARTED[0]
    assert error.startswith("Error: ")
    assert reason in error
    assert pidfile.running(own_data) == ()


def test_two_that_start_at_once_get_one_server(own_data: Path, wiring: Wiring) -> None:
    failures: list[BaseException] = []

    def begin() -> None:
        try:
            start(wiring.local_url)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=begin) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(pidfile.running(own_data)) == 1
    assert run_with(wiring, ("tags",)).code == 0
