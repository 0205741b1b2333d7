"""The API behind its real server: framing, limits and connections that stay usable."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import pytest
from flask import Flask
from waitress.server import create_server

from app.api.application import LARGEST_BODY
from app.api.streams import MOST_LISTENERS
from app.factory import Application

Address = tuple[str, int]

JSON = "application/json; charset=utf-8"


@contextmanager
def served(app: Flask) -> Iterator[Address]:
    """Serve an application at a free port."""
    listening = socket.create_server(("127.0.0.1", 0))
    port: int = listening.getsockname()[1]
    server = create_server(app, sockets=[listening], threads=16)

    def run() -> None:
        # Closing from another thread takes the sockets from under waitress's loop.
        with suppress(OSError):
            server.run()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield "127.0.0.1", port
    finally:
        server.close()
        thread.join(30)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def address(library: Application) -> Iterator[Address]:
    """Where the library is served, to be read only."""
    with served(library.flask()) as found:
        yield found


def connected(address: Address) -> closing[http.client.HTTPConnection]:
    return closing(http.client.HTTPConnection(*address, timeout=30))


def ask(
    connection: http.client.HTTPConnection, method: str, target: str, **more: Any
) -> tuple[int, dict[str, Any]]:
    """Send a request and return the status and the envelope of its answer."""
    connection.request(method, target, **more)
    response = connection.getresponse()
    content = response.read()
    assert response.headers["Content-Type"] == JSON, content
    return response.status, json.loads(content)


def exchanged(address: Address, request: bytes) -> bytes:
    """Send bytes as they are, and return all that comes back until the server closes."""
    with closing(socket.create_connection(address, 30)) as connection:
        connection.sendall(request)
        parts = []
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def test_one_connection_serves_many_requests(address: Address) -> None:
    with connected(address) as connection:
        statuses = []
        for target in (
            "/api/health",
            "/api/notes/1",
            "/api/nope",
            "/api/notes?limit=x",
            "/api/tags",
        ):
            statuses.append(ask(connection, "GET", target)[0])
        assert statuses == [200, 200, 404, 400, 200]


def test_text_arrives_unescaped(address: Address) -> None:
    with connected(address) as connection:
        connection.request("GET", "/api/notes/5")
        assert "数据库连接池耗尽".encode() in connection.getresponse().read()


def test_a_body_that_is_too_large_leaves_the_connection_sane(address: Address) -> None:
    headers = {"Content-Type": "application/json"}
    with connected(address) as connection:
        for _ in range(2):
            body = b" " * (LARGEST_BODY + 1)
            status, envelope = ask(connection, "POST", "/api/notes", body=body, headers=headers)
            assert (status, envelope["code"]) == (413, "body_too_large")
            assert ask(connection, "GET", "/api/health")[0] == 200


def test_a_body_in_pieces_is_too_large_as_well(address: Address) -> None:
    pieces = [b" " * 65_536] * (LARGEST_BODY // 65_536) + [b" "]
    headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
    with connected(address) as connection:
        status, envelope = ask(
            connection,
            "POST",
            "/api/notes",
            body=iter(pieces),
            headers=headers,
            encode_chunked=True,
        )
        assert (status, envelope["code"]) == (413, "body_too_large")
        assert ask(connection, "GET", "/api/health")[0] == 200


def test_a_body_in_pieces_is_read(address: Address) -> None:
    headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
    with connected(address) as connection:
        pieces = iter([b'{"title":', b'""}'])
        status, envelope = ask(
            connection, "POST", "/api/notes", body=pieces, headers=headers, encode_chunked=True
        )
        assert (status, envelope["code"]) == (400, "invalid_parameter")
        assert ask(connection, "GET", "/api/health")[0] == 200


def test_a_body_that_no_route_reads(address: Address) -> None:
    with connected(address) as connection:
        for method, target, status in (
            ("POST", "/api/queue/cancel", 200),
            ("DELETE", "/api/notes/999", 404),
            ("POST", "/api/nope", 404),
            ("PUT", "/api/notes", 405),
            ("POST", "/api/notes", 415),
        ):
            assert ask(connection, method, target, body=b"x" * 100_000)[0] == status


def test_head_and_options_carry_no_body(address: Address) -> None:
    request = (
        b"HEAD /api/notes HTTP/1.1\r\nHost: localhost\r\n\r\n"
        b"HEAD /api/nope HTTP/1.1\r\nHost: localhost\r\n\r\n"
        b"OPTIONS /api/notes HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    answer = exchanged(address, request)
    statuses = [line.split()[1] for line in answer.split(b"\r\n") if line.startswith(b"HTTP/1.1")]
    assert statuses == [b"200", b"404", b"204"]
    assert b"{" not in answer


@pytest.mark.parametrize(
    ("target", "status"),
    [
        (b"//api/notes", b"404"),
        (b"/api//notes", b"404"),
        (b"/api/%E4%BD", b"400"),
        (b"/api/notes/%31", b"200"),
        (b"/api/notes/1%2Frelations", b"200"),
        (b"/api/notes/%EF%BC%91", b"404"),
        (b"/api/notes?search=%E4%BD&x=%", b"200"),
    ],
)
def test_targets(address: Address, target: bytes, status: bytes) -> None:
    answer = exchanged(
        address, b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    assert answer.split(b" ", 2)[1] == status
    assert f"Content-Type: {JSON}".encode() in answer


@pytest.mark.parametrize(
    "request_line",
    [b"GET /api/notes HTTP/1.0\r\n\r\n", b"GET http://evil.example/api/notes HTTP/1.1\r\n"],
    ids=["no host", "absolute"],
)
def test_host_is_asked_for(address: Address, request_line: bytes) -> None:
    if not request_line.endswith(b"\r\n\r\n"):
        request_line += b"Host: evil.example\r\nConnection: close\r\n\r\n"
    answer = exchanged(address, request_line)
    assert answer.split(b" ", 2)[1] == b"403"
    assert b"foreign_host" in answer


def open_stream(address: Address) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(*address, timeout=30)
    connection.request("GET", "/api/queue/stream")
    return connection


def test_stream(filled: Application) -> None:
    with served(filled.flask()) as address, closing(open_stream(address)) as connection:
        response = connection.getresponse()
        assert response.status == 200
        assert response.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        first = response.readline()
        assert json.loads(first.removeprefix(b"data: "))["total"] == 0
        assert response.readline() == b"\n"
        with connected(address) as other:
            assert ask(other, "POST", "/api/embeddings/batch")[1]["data"] == {"queued": 0}
        filled.queue.submit({1: "一"})
        state: dict[str, Any] = {"active": 1}
        while state["active"]:
            line = response.readline()
            if line.startswith(b"data: "):
                state = json.loads(line.removeprefix(b"data: "))
        assert (state["completed"], state["tasks"][0]["title"]) == (1, "一")
        filled.queue.close()
        rest = response.read().splitlines()
        assert all(line[:6] in (b"", b"data: ", b": stil") for line in rest)


def test_streams_leave_threads_for_others_and_places_behind(filled: Application) -> None:
    with served(filled.flask()) as address:
        streams = [open_stream(address) for _ in range(MOST_LISTENERS)]
        for stream in streams:
            assert stream.getresponse().readline().startswith(b"data: ")
        with connected(address) as other:
            assert ask(other, "GET", "/api/queue/stream")[0] == 503
            assert ask(other, "GET", "/api/search?q=redis")[0] == 200
        for stream in streams:
            stream.close()
        # A client that left is noticed when something is sent to it.
        progress = filled.queue.progress()
        while not is_room(address):
            filled.queue.submit({1: "x"})
            progress = filled.queue.wait(progress.version, 30)
        filled.queue.close()


def is_room(address: Address) -> bool:
    with closing(open_stream(address)) as stream:
        return stream.getresponse().status == 200
