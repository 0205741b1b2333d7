"""The HTTP API as commands call it.

Owns requests, time limits, the bearer token and the reading of envelopes, those of the original
included. Must not print or ask; must not show a token.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpx

from cli.addresses import is_of_this_machine
from cli.failures import (
    CONNECTION_FAILED,
    INVALID_ANSWER,
    INVALID_TOKEN,
    TIMEOUT,
    UNREACHABLE,
    Failure,
)

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 60.0

Query = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a success envelope held; ``data`` is None when it had none."""

    data: Any
    explanation: Any = None
    warnings: tuple[str, ...] = ()


class Client:
    """Calls one server; a context manager."""

    def __init__(
        self, base_url: str, token: str = "", transport: httpx.BaseTransport | None = None
    ) -> None:
        """Set up without connecting.

        Args:
            base_url: Normalised (``cli.addresses``).

        Raises:
            Failure: The token cannot be sent in a header.
        """
        self.base_url = base_url
        self._http = httpx.Client(
            headers={"Accept": "application/json", **_authorization(token)},
            transport=transport,
            # Certificates take a tenth of a second to load; plain HTTP has none.
            verify=base_url.startswith("https:"),
            # A proxy is of no use on the way to this machine.
            trust_env=not is_of_this_machine(base_url),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back connections."""
        self._http.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        body: Mapping[str, Any] | None = None,
        lines: bytes | None = None,
        seconds: float = ANSWER_SECONDS,
    ) -> Answer:
        """Make one request and return what its envelope holds.

        Args:
            path: From ``/api`` on, parts already percent-encoded.
            body: Sent as JSON.
            lines: Sent as JSON Lines, instead of a body.

        Raises:
            Failure: Nothing answered, or not with success.
        """
        content, kind = lines, "application/x-ndjson"
        if body is not None:
            content, kind = json.dumps(body).encode("ascii"), "application/json"
        try:
            response = self._http.request(
                method,
                f"{self.base_url}{path}",
                params=[(name, _encodable(value)) for name, value in query],
                content=content,
                headers={} if content is None else {"Content-Type": kind},
                timeout=httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._unanswered(error, seconds) from error
        return self._read(response)

    def _unanswered(self, error: Exception, seconds: float) -> Failure:
        if isinstance(error, httpx.ConnectError):
            reason = str(error).rpartition("] ")[2] or "no connection"
            return Failure(f"Cannot reach {self.base_url}: {reason}", UNREACHABLE)
        if isinstance(error, httpx.TimeoutException):
            return Failure(f"{self.base_url} did not answer within {seconds:g} s", TIMEOUT)
        return Failure(f"The connection to {self.base_url} broke", CONNECTION_FAILED)

    def _read(self, response: httpx.Response) -> Answer:
        try:
            content = json.loads(response.content)
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict):
            raise Failure(
                f"{self.base_url} answered {response.status_code} without the JSON of this API",
                INVALID_ANSWER,
                response.status_code,
            )
        if content.get("success") is True:
            warnings = content.get("warnings") or ()
            return Answer(
                content.get("data"),
                content.get("explain"),
                tuple(str(warning) for warning in warnings),
            )
        raise self._failure(response.status_code, content)

    def _failure(self, status: int, content: Mapping[str, Any]) -> Failure:
        """Read our error envelope, or one of the original's, which has no ``success``."""
        texts = [content.get("error")]
        if "success" not in content:
            texts.append(content.get("message"))
        said = [text for text in texts if isinstance(text, str) and text]
        code = content.get("code")
        return Failure(
            ": ".join(said) or f"{self.base_url} answered {status} without saying why",
            code if isinstance(code, str) and code else f"http_{status}",
            status,
        )


def _authorization(token: str) -> dict[str, str]:
    trimmed = token.strip()
    if not (trimmed.isascii() and trimmed.isprintable()):
        raise Failure(
            "CRYSTAL_API_TOKEN holds a character that cannot be sent in a header", INVALID_TOKEN
        )
    return {"Authorization": f"Bearer {trimmed}"} if trimmed else {}


def _encodable(text: str) -> str:
    """Replace what the shell handed over as bytes that are no UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")
