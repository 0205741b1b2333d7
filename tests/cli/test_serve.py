"""The server in a process of its own: starting, answering, refusing, stopping."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from cli.admin import pidfile
from cli.admin.background import end, launch, wait_for
from cli.admin.listening import is_loopback, url_of
from cli.admin.log_files import KEPT_LOGS, LARGEST_LOG
from cli.admin.server import REQUEST_SECONDS, WORK_SECONDS
from cli.failures import Failure
from tests.cli.conftest import Served, environment_of, here, run_process
from tests.support.application import planted_vector
from tests.support.provider import StubProvider, delayed, fine, refused_address, status

TOKEN = "hush-hush"
PATIENCE = 20.0
"""Less than a stop would take that waited for the provider, on a machine however busy."""


@contextmanager
def foreground(environment: Mapping[str, str], *options: str) -> Iterator[tuple[Any, str]]:
    """A server that runs in the foreground, with the URL that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-m", "cli.main", "serve", "-p", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    assert process.stdout is not None
    try:
        text = b""
        while not text.endswith(b"}\n"):
            line = process.stdout.readline()
            assert line, process.communicate()[1].decode()
            text += line
        yield process, json.loads(text)["url"]
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


PAGE = "<!doctype html><title>Notes</title>"


@pytest.fixture
def front_end(tmp_path: Path) -> Path:
    """A built single-page app."""
    folder = tmp_path / "dist"
    folder.mkdir()
    (folder / "index.html").write_text(PAGE, encoding="utf-8")
    return folder


def test_a_front_end_is_served_beside_the_api(
    data_folder: Path, provider: StubProvider, front_end: Path
) -> None:
    environment = environment_of(data_folder, provider)
    with foreground(environment, "--frontend", str(front_end)) as (_, url):
        assert httpx.get(f"{url}/notes/7").text == PAGE
        assert httpx.get(f"{url}/api/health").json()["success"] is True


def test_a_detached_server_has_the_front_end_too(
    own_data: Path, front_end: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(front_end.parent)
    started = here("serve", "-d", "-p", "0", "--frontend", front_end.name)
    assert started.code == 0, started.err
    assert httpx.get(f"{started.data['url']}/notes/7").text == PAGE
    assert here("serve", "stop").code == 0


@pytest.mark.parametrize("flags", [(), ("-d",)], ids=["foreground", "detached"])
def test_a_front_end_without_a_page_is_one_line(
    data_folder: Path, provider: StubProvider, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    environment = environment_of(data_folder, provider)
    ran = run_process(environment, "serve", "-p", "0", "--frontend", str(tmp_path), *flags)
    assert (ran.code, ran.out) == (1, "")
    assert ran.error.endswith(f"The front end folder {tmp_path} holds no index.html")
    assert list(data_folder.glob("*.pid")) == []


def test_a_server_that_runs_is_told(served: Served) -> None:
    ran = served.run("serve", "status")
    assert ran.code == 0
    (shown,) = ran.data["servers"]
    assert (ran.data["running"], ran.data["answers"], shown["url"]) == (True, True, served.url)
    assert shown["version"]
    path = served.folder / pidfile.FILE_NAME
    assert json.loads(path.read_bytes()) == {
        "pid": shown["pid"],
        "port": urlsplit(served.url).port,
        "url": served.url,
    }
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("flags", [(), ("-d",)], ids=["foreground", "detached"])
def test_a_second_server_at_the_same_port_names_the_first(
    own_data: Path, flags: tuple[str, ...]
) -> None:
    with pidfile.held(own_data) as file:
        file.record(4711, "http://127.0.0.1:4711")
        ran = here("serve", "-p", "4711", *flags)
    assert (ran.code, ran.out) == (1, "")
    assert f"is running already at http://127.0.0.1:4711 (pid {os.getpid()})" in ran.error


def test_several_servers_serve_the_same_data(own_data: Path) -> None:
    first, second = (here("serve", "-d", "-p", "0").data for _ in range(2))
    assert {path.name for path in own_data.glob("*.pid")} == {
        "crystal.pid",
        f"crystal-{second['pid']}.pid",
    }
    added = here("-b", first["url"], "notes", "add", "--title", "x", "--summary", "cos=0.9")
    found = here("-b", second["url"], "search", "x")
    assert [row["note_id"] for row in found.data] == [added.data["id"]]
    shown = here("serve", "status")
    assert shown.code == 0
    assert [each["pid"] for each in shown.data["servers"]] == [first["pid"], second["pid"]]
    assert here("serve", "stop").data == {"stopped": [first["pid"], second["pid"]]}
    assert list(own_data.glob("*.pid")) == []


@pytest.mark.parametrize("flags", [(), ("-d",)], ids=["foreground", "detached"])
def test_a_busy_port_is_one_line_and_touches_nothing(
    own_data: Path, flags: tuple[str, ...]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = str(busy.getsockname()[1])
        ran = here("serve", "-p", port, *flags)
    assert (ran.code, ran.out) == (1, "")
    assert ran.error.endswith(f"Port {port} is in use; choose another one with --port")
    left = [path.name for path in own_data.iterdir()]
    assert left == (["server.log"] if flags else [])


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_other_machines_need_a_token(own_data: Path, host: str) -> None:
    ran = here("serve", "-p", "0", "--host", host)
    assert (ran.code, ran.out) == (1, "")
    assert "CRYSTAL_API_TOKEN" in ran.error
    assert list(own_data.iterdir()) == []


def test_a_token_is_asked_for_and_never_shown(
    own_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRYSTAL_API_TOKEN", TOKEN)
    started = here("serve", "-d", "-p", "0", "--host", "0.0.0.0")
    assert started.code == 0, started.err
    url = started.data["url"]
    assert urlsplit(url).hostname == "127.0.0.1"
    assert here("serve", "status").code == 0
    assert here("-b", url, "tags").code == 0
    monkeypatch.setenv("CRYSTAL_API_TOKEN", "another")
    refused = here("-b", url, "tags")
    assert refused.code == 1
    assert "token" in refused.error
    assert "another" not in refused.error
    assert here("serve", "status").code == 1
    assert here("serve", "stop").code == 0
    assert TOKEN not in (own_data / "server.log").read_text()


def test_nothing_runs(own_data: Path) -> None:
    down = here("serve", "status")
    assert (down.code, down.data) == (1, {"running": False, "answers": False, "servers": []})
    stop = here("serve", "stop")
    assert (stop.code, stop.data) == (0, {"stopped": []})
    assert not own_data.exists()


def test_a_server_that_does_not_answer_is_told(own_data: Path) -> None:
    with refused_address() as url, pidfile.held(own_data) as file:
        file.record(1, url)
        ran = here("serve", "status")
    assert ran.code == 1
    assert (ran.data["running"], ran.data["answers"]) == (True, False)
    assert ran.data["servers"] == [{"pid": os.getpid(), "url": url, "version": None}]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"pid": os.getpid(), "port": 1, "url": "http://127.0.0.1:1"}),
        str(os.getpid()),
        "",
        "[]",
    ],
    ids=["ours-once", "original", "empty", "other"],
)
def test_a_file_that_nobody_holds_proves_nothing(own_data: Path, content: str) -> None:
    """The process it names is this one, which must live on."""
    own_data.mkdir()
    (own_data / pidfile.FILE_NAME).write_text(content)
    stop = here("serve", "stop")
    assert (stop.code, stop.data) == (0, {"stopped": []})


def test_a_file_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    ours = pidfile.Running(os.getpid(), 1, "http://127.0.0.1:1")
    with pidfile.held(tmp_path) as file:
        file.record(ours.port, ours.url)
        with pidfile.held(tmp_path) as further:
            further.record(2, "http://127.0.0.1:2")
            assert [each.port for each in pidfile.running(tmp_path)] == [1, 2]
            with pytest.raises(Failure, match="held by another"), pidfile.held(tmp_path):
                pass
        assert pidfile.running(tmp_path) == (ours,)
        assert pidfile.find(tmp_path, os.getpid()) == ours
    assert pidfile.running(tmp_path) == ()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("flags", [(), ("-d",)], ids=["foreground", "detached"])
def test_a_folder_that_cannot_be_written_is_one_line(
    own_data: Path, flags: tuple[str, ...]
) -> None:
    own_data.touch()
    ran = here("serve", "-p", "0", *flags)
    assert (ran.code, ran.out) == (1, "")
    assert f"{own_data}/" in ran.error


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
def test_a_request_at_work_is_finished_before_the_end(
    data_folder: Path, number: signal.Signals
) -> None:
    with StubProvider(vector=planted_vector) as slow:
        with foreground(environment_of(data_folder, slow)) as (process, url):
            httpx.post(f"{url}/api/notes", json={"title": "锁"})
            slow.behave(delayed(0.5))
            answers: list[httpx.Response] = []
            client = threading.Thread(
                target=lambda: answers.append(httpx.get(f"{url}/api/search?q=lock"))
            )
            client.start()
            # The server asks for more than the query: companions of the note are made beside.
            while ["lock"] not in [asked.texts for asked in slow.requests]:
                threading.Event().wait(0.01)
            process.send_signal(number)
            client.join()
            assert process.wait(30) == 0
        assert answers[0].status_code == 200
        assert answers[0].json()["data"][0]["title"] == "锁"
    assert not (data_folder / pidfile.FILE_NAME).exists()


def test_a_server_that_is_not_ready_says_why(
    own_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StubProvider(usual=status(401)) as broken:
        monkeypatch.setenv("CRYSTAL_EMBEDDING_BASE_URL", broken.base_url)
        ran = here("serve", "-d", "-p", "0")
        assert ran.code == 0
        assert ran.error.startswith("Warning: The server runs but is not ready: ")
        assert here("serve", "stop").code == 0


def test_the_log_is_json_without_queries(served: Served) -> None:
    assert served.run("search", "zebra crossing").code == 0
    lines = (served.folder / "server.log").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    assert {"timestamp", "level", "logger", "message"} <= set(entries[-1])
    assert "/api/search" in [entry.get("route") for entry in entries]
    assert "zebra" not in "".join(lines)


def test_a_long_query_of_han_characters_is_served(served: Served) -> None:
    query = "锁" * 4000
    answer = httpx.get(f"{served.url}/api/search", params={"q": query}, timeout=60)
    assert answer.status_code == 200


def refused_head(url: str) -> httpx.Response:
    return httpx.get(f"{url}/api/tags", headers={"X-Filling": "x" * 300_000})


def refused_body(url: str) -> httpx.Response:
    body = b" " * (17 * 1024 * 1024)
    head = {"Content-Type": "application/x-ndjson"}
    return httpx.post(f"{url}/api/import", headers=head, content=body, timeout=60)


@pytest.mark.parametrize(
    ("ask", "code", "name"),
    [
        (refused_head, 431, "bad_request"),
        (refused_body, 413, "body_too_large"),
    ],
    ids=["head", "body"],
)
def test_what_is_too_large_is_refused_in_the_envelope(
    served: Served, ask: Callable[[str], httpx.Response], code: int, name: str
) -> None:
    answer = ask(served.url)
    assert answer.status_code == code
    assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
    body = answer.json()
    assert list(body) == ["success", "error", "code"]
    assert (body["success"], body["code"]) == (False, name)


LENGTH = b"POST /api/import HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8589934592\r\n\r\n"


@pytest.mark.parametrize(
    ("sent", "code", "text"),
    [
        (b"GET / HTTP/1.1\r\nbroken header\r\n\r\n", b"400", "The request cannot be read"),
        (LENGTH, b"413", "The body is larger than 16 MB; send it in parts"),
    ],
    ids=["no-http", "announced-length"],
)
def test_what_is_not_read_at_all_is_refused_in_the_envelope(
    served: Served, sent: bytes, code: bytes, text: str
) -> None:
    host, port = urlsplit(served.url).hostname, urlsplit(served.url).port
    with socket.create_connection((host, port)) as connection:
        connection.sendall(sent)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.split()[1] == code
    envelope = json.loads(body)
    assert (envelope["success"], envelope["error"]) == (False, text)


def test_a_server_that_does_not_come_up_is_ended(own_data: Path) -> None:
    started = launch(own_data, ["--port", "0"])
    with pytest.raises(Failure, match=r"did not answer within 0\.3 s"):
        wait_for(lambda: None, started, 0.3)
    end(started.process)
    assert started.process.poll() is not None
    assert pidfile.running(own_data) == ()


def test_a_large_log_is_put_aside(own_data: Path) -> None:
    own_data.mkdir()
    with (own_data / "server.log").open("wb") as log:
        log.truncate(LARGEST_LOG + 1)
    started = launch(own_data, ["--port", "nonsense"])
    started.process.wait(30)
    assert (own_data / "server.old.log").stat().st_size == LARGEST_LOG + 1
    assert "--port" in json.loads((own_data / "server.log").read_bytes())["error"]


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("example.org", False),
        ("localhost.example.org", False),
    ],
)
def test_only_this_machine_is_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("0.0.0.0", "http://127.0.0.1:80"),
        ("::", "http://[::1]:80"),
        ("::1", "http://[::1]:80"),
        ("localhost", "http://localhost:80"),
    ],
)
def test_a_server_is_reached_at_its_own_address(host: str, url: str) -> None:
    assert url_of(host, 80) == url


@pytest.mark.parametrize("port", ["-1", "65536", "x"])
def test_a_wrong_port_is_a_usage_error(own_data: Path, port: str) -> None:
    ran = here("serve", "-p", port)
    assert (ran.code, ran.out) == (2, "")
    assert "'-p' / '--port'" in ran.error


def test_a_stop_leaves_what_is_not_embedded_pending(own_data: Path, data_folder: Path) -> None:
    """The provider keeps the queue waiting far longer than a stop may take."""
    with StubProvider(vector=planted_vector) as slow:
        environment = environment_of(data_folder, slow)
        with foreground(environment) as (process, url):
            lines = [
                json.dumps(line)
                for number in range(40)
                for line in (
                    {"type": "conversation", "external_id": f"c{number}"},
                    {"type": "note", "external_id": f"n{number}", "title": f"note {number}",
                     "conversation": f"c{number}"},
                )
            ]  # fmt: skip
            httpx.post(
                f"{url}/api/import",
                content="\n".join(lines),
                headers={"Content-Type": "application/x-ndjson"},
            ).raise_for_status()
            slow.behave(delayed(60))
            before = len(slow.requests)
            assert httpx.post(f"{url}/api/embeddings/batch").json()["data"]["queued"] == 40
            while len(slow.requests) == before:
                threading.Event().wait(0.01)
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
            assert REQUEST_SECONDS + WORK_SECONDS < 5
        slow.behave(fine)
        with foreground(environment) as (_, url):
            notes = httpx.get(f"{url}/api/status").json()["data"]["embedding"]["notes"]
            assert notes == {"pending": 40}


def test_the_log_of_a_server_is_bounded_while_it_runs(
    own_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every full log is put aside, and no more than a few are kept."""
    server = here("serve", "-d", "-p", "0").data
    log = own_data / "server.log"
    for number in range(KEPT_LOGS + 2):
        with log.open("ab") as sink:
            sink.truncate(LARGEST_LOG + number)
        # The one that fills it up, and the first of the next.
        for _ in range(2):
            httpx.get(f"{server['url']}/api/health")
    sizes = [own_data.joinpath(name).stat().st_size for name in (
        "server.old.log", "server.old2.log", "server.old3.log")]  # fmt: skip
    assert all(size > LARGEST_LOG for size in sizes)
    assert sorted(path.name for path in own_data.glob("server*.log")) == [
        "server.log", "server.old.log", "server.old2.log", "server.old3.log",
    ]  # fmt: skip
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert entries[-1]["route"] == "/api/health"
    assert log.stat().st_size < LARGEST_LOG
    assert log.stat().st_mode & 0o777 == 0o600
    assert here("serve", "stop").code == 0


def test_the_callers_id_of_a_request_is_in_the_answer_and_the_log(served: Served) -> None:
    answer = httpx.get(f"{served.url}/api/health", headers={"X-Request-Id": "trace-7.a:b_c"})
    assert answer.headers["X-Request-Id"] == "trace-7.a:b_c"
    assert '"request_id": "trace-7.a:b_c"' in (served.folder / "server.log").read_text()


@pytest.mark.parametrize(
    "given",
    ["a b", 'x"}{"level":"ERROR', "é", "x" * 129, ""],
    ids=["blank", "json", "not-ascii", "long", "empty"],
)
def test_an_id_that_could_deceive_is_replaced(served: Served, given: str) -> None:
    headers = {b"X-Request-Id": given.encode()}
    found = httpx.get(f"{served.url}/api/health", headers=headers).headers["X-Request-Id"]
    assert found != given
    assert len(found) == 32
