"""A small embedding provider on 127.0.0.1 that answers as OpenAI and Ollama do, or misbehaves.

Owns the far end of the network in tests. Must not import anything of ours.

    with StubProvider(script=[status(500), delayed(0.2)]) as provider:
        embedder = create(settings(base_url=provider.base_url))

A behaviour turns what was asked into a reply. Those of ``script`` answer one request each, in
order; then ``usual`` answers, which gives right vectors unless told otherwise.
"""

from __future__ import annotations

import importlib.util
import json
import os
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Self

VectorFunction = Callable[[str], Sequence[float]]

DIMENSION = 64
GOLDEN_DIR = Path(__file__).parents[2] / "fixtures" / "golden"


@dataclass(frozen=True)
class Asked:
    """One request as it arrived; header names in lower case."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        """The texts to be embedded; a single one may come bare."""
        given = self.body.get("input", [])
        return [given] if isinstance(given, str) else list(given)


@dataclass(frozen=True)
class Reply:
    """What goes back, after ``delay`` seconds, at one byte every ``drip`` seconds."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drip: float = 0.0


Behaviour = Callable[[Asked, VectorFunction], Reply]


@cache
def golden_vector_function() -> Callable[[str, int], list[float]]:
    """The function that the golden vectors were made with: GOLDEN_DIR/chatcrystal/stubvec.py."""
    folder = Path(os.environ.get("GOLDEN_DIR") or GOLDEN_DIR)
    path = folder / "chatcrystal" / "stubvec.py"
    specification = importlib.util.spec_from_file_location("stubvec", path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    function: Callable[[str, int], list[float]] = module.vec
    return function


def golden_vector(text: str) -> list[float]:
    """The golden vector of a text, 64 numbers."""
    return golden_vector_function()(text, DIMENSION)


def fine(asked: Asked, vector: VectorFunction) -> Reply:
    """Right vectors, in the form of the path that was asked."""
    return _answer(asked, [vector(text) for text in asked.texts])


def vectors(values: Any) -> Behaviour:
    """These vectors, whatever was asked."""
    return lambda asked, _: _answer(asked, values)


def of_dimension(dimension: int) -> Behaviour:
    """Golden vectors of another dimension."""
    function = golden_vector_function()
    return lambda asked, _: _answer(asked, [function(text, dimension) for text in asked.texts])


def status(code: int, headers: dict[str, str] | None = None, words: str = "no") -> Behaviour:
    """An error status, with ``words`` as the provider's own message."""
    body = json.dumps({"error": {"message": words}}).encode()
    return lambda _asked, _vector: Reply(body, code, headers or {})


def delayed(seconds: float, then: Behaviour = fine) -> Behaviour:
    """The reply of ``then``, late."""
    return lambda asked, vector: replace(then(asked, vector), delay=seconds)


def dripping(seconds: float) -> Behaviour:
    """A right answer, one byte every so many seconds."""
    return lambda asked, vector: replace(fine(asked, vector), drip=seconds)


def raw(body: bytes, headers: dict[str, str] | None = None) -> Behaviour:
    """These bytes with status 200."""
    return lambda _asked, _vector: Reply(body, 200, headers or {})


def _answer(asked: Asked, values: Any) -> Reply:
    content: dict[str, Any]
    if asked.path.endswith("/api/embed"):
        content = {"model": asked.body.get("model"), "embeddings": values}
    else:
        items = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(values)]
        content = {"object": "list", "model": asked.body.get("model"), "data": items}
    return Reply(json.dumps(content).encode())


class StubProvider:
    """The server; a context manager. ``base_url`` has no path, ``requests`` is what arrived."""

    def __init__(
        self,
        script: Iterable[Behaviour] = (),
        usual: Behaviour = fine,
        vector: VectorFunction = golden_vector,
    ) -> None:
        self._script = list(script)
        self._usual = usual
        self._vector = vector
        self._requests: list[Asked] = []
        self._lock = Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.provider = self
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self.closing = Event()

    @property
    def base_url(self) -> str:
        """Address of the server, ``http://127.0.0.1:PORT``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def requests(self) -> list[Asked]:
        """Copy of the requests so far, in order of arrival."""
        with self._lock:
            return list(self._requests)

    def behave(self, usual: Behaviour, script: Iterable[Behaviour] = ()) -> None:
        """Answer from now on in another way."""
        with self._lock:
            self._usual = usual
            self._script = list(script)

    def answer(self, asked: Asked) -> Reply:
        """Record a request and make the reply that is due."""
        with self._lock:
            self._requests.append(asked)
            behaviour = self._script.pop(0) if self._script else self._usual
        return behaviour(asked, self._vector)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def refused_address() -> Iterator[str]:
    """An address where nobody listens, kept from others until the end."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    # The usual five are fewer than the clients of some tests, and who finds no place waits seconds.
    request_queue_size = 128
    provider: StubProvider

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that gave up is part of many tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body go out apart; without this the second waits 40 ms for the first's receipt.
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        provider = self.server.provider
        reply = provider.answer(Asked(self.path, headers, json.loads(content or b"{}")))
        if reply.delay and provider.closing.wait(reply.delay):
            return
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self._write(reply)

    def _write(self, reply: Reply) -> None:
        if not reply.drip:
            self.wfile.write(reply.body)
            return
        for position in range(len(reply.body)):
            self.wfile.write(reply.body[position : position + 1])
            self.wfile.flush()
            if self.server.provider.closing.wait(reply.drip):
                return

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the output of the tests clean."""
