"""One run of a command: its options, its output, its server.

Owns when a local server is started: only at this machine's default address, only when nothing
answers there. Must not know how one is started; ``cli.main`` hands that in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import click
import httpx
from rich.console import Console

from cli.addresses import DEFAULT_URL, normalise
from cli.client import ANSWER_SECONDS, Answer, Client, Query
from cli.failures import UNREACHABLE, Failure
from cli.output import Output, streams

GREETING_SECONDS = 2.0

Starter = Callable[[str], None]
"""Starts a server that answers at a URL and returns once it does; raises ``Failure``."""


@dataclass(frozen=True, slots=True)
class Wiring:
    """What a command is given from outside; a transport and consoles stand in for real ones."""

    start: Starter | None = None
    local_url: str = DEFAULT_URL
    transport: httpx.BaseTransport | None = None
    console: Console | None = None
    errors: Console | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Given:
    """The options that every command takes."""

    base_url: str | None = None
    token: str = ""
    asked_json: bool = False
    max_chars: int | None = None
    may_ask: bool = True


class Session:
    """What a command works with."""

    def __init__(self, wiring: Wiring, given: Given) -> None:
        self.output: Output = streams(
            asked_json=given.asked_json,
            console=wiring.console,
            errors=wiring.errors,
            max_chars=given.max_chars,
        )
        self.may_ask = given.may_ask and not given.asked_json
        self._wiring = wiring
        self._given = given
        self._is_greeted = False

    @cached_property
    def client(self) -> Client:
        """The client of the address that was given.

        Raises:
            click.UsageError: The address is no http or https URL.
            Failure: The token cannot be sent.
        """
        url = self._wiring.local_url
        if self._given.base_url is not None:
            try:
                url = normalise(self._given.base_url)
            except ValueError as error:
                raise click.UsageError(
                    f"Invalid value for '-b' / '--base-url' (CRYSTAL_BASE_URL): {error}."
                ) from error
        return Client(url, self._given.token, self._wiring.transport)

    def close(self) -> None:
        """Give back connections, if there are any."""
        if "client" in self.__dict__:
            self.client.close()

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
        """Call the server as ``Client.call`` does, started first where that is allowed.

        Warnings of the answer are told on stderr.

        Raises:
            Failure: Nothing answered, or not with success.
        """
        if not self._is_greeted and not self.output.is_json:
            self._greet()
        self._is_greeted = True
        answer = self._reach(method, path, query=query, body=body, lines=lines, seconds=seconds)
        for warning in answer.warnings:
            self.output.warn(warning)
        return answer

    def get(self, path: str, query: Query = ()) -> Any:
        """Return the data of a GET."""
        return self.call("GET", path, query=query).data

    def _greet(self) -> None:
        """Look who answers, and say so when it is the original."""
        try:
            status = self._reach("GET", "/api/status", seconds=GREETING_SECONDS).data
        except Failure as failure:
            if failure.code == UNREACHABLE:
                raise
            return
        if isinstance(status, dict) and "implementation" not in status:
            self.output.say(
                f"The original ChatCrystal answers at {self.client.base_url}; "
                "what only chatcrystal-search can do will fail."
            )

    def _reach(self, method: str, path: str, **request: Any) -> Answer:
        try:
            return self.client.call(method, path, **request)
        except Failure as failure:
            start = self._wiring.start
            is_local_default = self.client.base_url == self._wiring.local_url
            if failure.code != UNREACHABLE or start is None or not is_local_default:
                raise
        self.output.say("Starting server in background...")
        start(self.client.base_url)
        self.output.say("Server started.")
        return self.client.call(method, path, **request)
