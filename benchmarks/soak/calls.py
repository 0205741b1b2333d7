"""Requests to a server, each counted.

Owns the connection and the count of what was answered. What an answer should be, others know.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

SECONDS = 60.0
JSON = "application/json"
LINES = "application/x-ndjson"


class Gone(Exception):
    """The server ended before it had answered."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A status with the parsed body, and how long it took in seconds."""

    status: int
    body: Any
    seconds: float

    @property
    def data(self) -> Any:
        """What a success carries."""
        return self.body.get("data") if isinstance(self.body, dict) else None

    @property
    def code(self) -> str:
        """The code of an error."""
        return str(self.body.get("code", "")) if isinstance(self.body, dict) else ""


class Tally:
    """Counts requests and statuses over all threads; keeps the first answers that were faults."""

    def __init__(self) -> None:
        self.statuses: Counter[int] = Counter()
        self.faults: list[str] = []
        self.longest = 0.0
        self._bad_ends = 0
        self._lock = threading.Lock()

    @property
    def requests(self) -> int:
        """How many were answered."""
        return self.statuses.total()

    @property
    def server_errors(self) -> int:
        """Answers that said that the fault is the server's own, and ends that were none."""
        answers = [
            count for status, count in self.statuses.items() if status >= 500 and status != 503
        ]
        return sum(answers) + self._bad_ends

    def ended_badly(self, code: int | None, printed: str) -> None:
        """Count a server that was told to stop and did not do so in order."""
        with self._lock:
            self._bad_ends += 1
            self.faults.append(f"a stop ended with {code}: {printed[-500:]}")

    def add(self, target: str, answer: Answer) -> None:
        """Count an answer."""
        with self._lock:
            self.statuses[answer.status] += 1
            self.longest = max(self.longest, answer.seconds)
            if answer.status >= 500 and answer.status != 503:
                self.faults.append(f"{answer.status} {target}: {answer.body}")


class Caller:
    """One connection, for one thread."""

    def __init__(self, port: int, tally: Tally) -> None:
        self._port = port
        self._tally = tally
        self._connection: http.client.HTTPConnection | None = None

    def get(self, path: str, **parameters: object) -> Answer:
        """Ask for a path."""
        return self.call("GET", path, None, JSON, **parameters)

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        media_type: str = JSON,
        **parameters: object,
    ) -> Answer:
        """Send a request; bytes go as they are, anything else as JSON.

        Raises:
            Gone: no answer came.
        """
        pairs = [f"{name}={quote(str(value), safe='')}" for name, value in parameters.items()]
        target = "?".join([path, *(["&".join(pairs)] if pairs else [])])
        headers = {} if body is None else {"Content-Type": media_type}
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        start = time.perf_counter()
        try:
            status, text = self._exchange(method, target, content, headers)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Gone(target) from error
        answer = Answer(status, _parsed(text), time.perf_counter() - start)
        self._tally.add(f"{method} {target[:200]}", answer)
        return answer

    def _exchange(
        self, method: str, target: str, content: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=SECONDS)
        self._connection.request(method, target, content, headers)
        response = self._connection.getresponse()
        return response.status, response.read()

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text[:200].decode("utf-8", "replace")
