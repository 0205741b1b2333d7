"""Several worker processes of gunicorn over one database, with writers beside them."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.domain.notes import NoteDraft, NotePatch
from app.factory import Application, build
from app.settings import store
from tests.cli.conftest import environment_of, free_port
from tests.support.databases import sqlite_url
from tests.support.postgresql import Server
from tests.support.provider import StubProvider

ROOT = Path(__file__).parents[2]
WORKERS = 4
START_SECONDS = 120.0
STOP_SECONDS = 60.0
ROUNDS = 3
AT_ONCE = 12
MOST_ROUNDS = 40
WORKER = "X-Worker"
NOISE = "cos=0.1"
GUNICORN = ("-m", "gunicorn", "-c", "python:cli.admin.gunicorn_conf")


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def environment(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    provider: StubProvider,
) -> dict[str, str]:
    """The environment of workers over a database of each system."""
    folder = tmp_path_factory.mktemp("workers")
    url = sqlite_url(folder)
    if request.param == "postgresql":
        server: Server = request.getfixturevalue("postgresql")
        url = server.empty(folder / "database")
    more = {"CRYSTAL_DATABASE_URL": url, "CRYSTAL_PORT": str(free_port())}
    return environment_of(folder, provider, **more)


@pytest.fixture(scope="module")
def base_url(environment: dict[str, str]) -> Iterator[str]:
    """Where the workers answer."""
    url = f"http://127.0.0.1:{environment['CRYSTAL_PORT']}"
    arguments = [*GUNICORN, "-w", str(WORKERS), "tests.support.workers:labelled"]
    process = subprocess.Popen(
        [sys.executable, *arguments], env=environment, cwd=ROOT, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _answers(url):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        assert process.wait(STOP_SECONDS) == 0


def _answers(url: str) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(f"{url}/api/health").status_code == httpx.codes.OK
    return False


@pytest.fixture
def beside(environment: dict[str, str], base_url: str) -> Iterator[Application]:
    """A process beside the workers that writes to their database: this one."""
    with closing(build(store.load(environment=environment))) as application:
        yield application


def found(url: str) -> tuple[str, set[int]]:
    """Search over a fresh connection; return who answered, and the ids of what was found."""
    answer = httpx.get(f"{url}/api/search", params={"q": "anything", "limit": 50}, timeout=30)
    assert answer.status_code == httpx.codes.OK, answer.text
    return answer.headers[WORKER], {row["note_id"] for row in answer.json()["data"]}


def seen_by_all(url: str, wanted: set[int]) -> None:
    """Read until every worker has answered; each answer must hold exactly what is committed."""
    workers: set[str] = set()
    with ThreadPoolExecutor(AT_ONCE) as readers:
        for _ in range(MOST_ROUNDS):
            # Several at once, or the worker that is ready first would have them all.
            for worker, ids in readers.map(found, [url] * AT_ONCE):
                assert ids == wanted
                workers.add(worker)
            if len(workers) == WORKERS:
                return
    raise AssertionError(f"only {len(workers)} workers answered")


class Writer(threading.Thread):
    """A client that writes notes that searches do not find, and reads each one again at once."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        self._is_over = threading.Event()
        self.written = 0
        self.missed: list[Any] = []

    def run(self) -> None:
        """Write until told to end."""
        while not self._is_over.is_set():
            note = {"title": f"noise {self.written}", "summary": NOISE}
            made = httpx.post(f"{self._url}/api/notes", json=note, timeout=30)
            if made.status_code != httpx.codes.CREATED:
                self.missed.append(made.text)
                return
            self.written += 1
            note_id = made.json()["data"]["id"]
            read = httpx.get(f"{self._url}/api/notes/{note_id}", timeout=30)
            if read.status_code != httpx.codes.OK:
                self.missed.append(note_id)

    def end(self) -> None:
        """Finish the write at work."""
        self._is_over.set()
        self.join()


def test_every_worker_sees_what_was_committed(base_url: str, beside: Application) -> None:
    """Whoever writes: another process, or any worker."""
    writer = Writer(base_url)
    writer.start()
    try:
        wanted: set[int] = set()
        for number in range(ROUNDS):
            wanted.add(beside.writer.create_note(NoteDraft(f"own {number}", "cos=0.9")))
            seen_by_all(base_url, wanted)
            note = {"title": f"theirs {number}", "summary": "cos=0.8"}
            made = httpx.post(f"{base_url}/api/notes", json=note, timeout=30).json()["data"]["id"]
            seen_by_all(base_url, wanted | {made})
            beside.writer.edit_note(made, NotePatch({"summary": NOISE}))
            seen_by_all(base_url, wanted)
    finally:
        writer.end()
    assert writer.missed == []
    assert writer.written


def test_a_long_chinese_query_is_answered(base_url: str) -> None:
    """Its line is longer than gunicorn's own limit."""
    answer = httpx.get(f"{base_url}/api/search", params={"q": "搜索" * 1_000}, timeout=30)
    assert answer.status_code == httpx.codes.OK, answer.text
    answer = httpx.get(f"{base_url}/api/search", params={"q": "搜" * 4_001}, timeout=30)
    assert answer.json()["code"] == "invalid_parameter"


def test_an_address_for_other_machines_is_refused_while_the_settings_allow_none(
    tmp_path: Path, provider: StubProvider
) -> None:
    environment = environment_of(tmp_path, provider)
    ran = subprocess.run(
        [sys.executable, *GUNICORN, "-b", "0.0.0.0:0", "app.wsgi:app"],
        env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode != 0
    assert "set CRYSTAL_HOST" in ran.stderr
    assert not list(tmp_path.iterdir())
