"""One HTTP client for all remote providers: deadline, retries, errors that say what to check.

Owns the connection. Must not know any provider's API, and must not show keys, the texts that are
sent or the words of a provider in a message.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import ClassVar, Final

import httpx

from app.domain.health import Health
from app.errors import (
    ConfigurationError,
    ProviderAnswerInvalid,
    ProviderError,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnreachable,
)
from app.remote.breaker import Breaker
from app.settings.values import Secret

LARGEST_ANSWER: Final = 64 * 1024 * 1024
"""Bytes; 2,048 vectors of 1,536 numbers with all their digits come to about half of it."""

FIRST_PAUSE: Final = 0.25
"""Seconds before the second try; each further pause is twice as long, less up to half by chance."""

PASSING_STATUSES: Final = frozenset({408, 429, *range(500, 600)})

_ADVICE: Final[Mapping[int, str]] = {
    400: "check {group}.model and {group}.{size}",
    401: "check {group}.api_key",
    403: "check {group}.api_key",
    404: "check {group}.model and {group}.base_url",
    408: "try again",
    413: "lower {group}.{amount}",
    429: "it had too many requests, try again later",
}


@dataclass(frozen=True, slots=True)
class Remote:
    """A provider as the settings name it; ``timeout`` in seconds, for a whole call.

    ``noun`` and ``group`` are how messages call it and its settings; ``size`` and ``amount`` are
    the settings that bound one text and one call.
    """

    noun: str
    group: str
    size: str
    amount: str
    api_key: Secret
    timeout: float
    retries: int


class Deadline(Mapping[str, float]):
    """Seconds left for a whole call, in the shape of httpx's timeouts.

    The connection asks for a timeout before each of its steps, so every step gets what is left.
    """

    _STEPS: ClassVar = ("connect", "read", "write", "pool")

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds until the end, negative after it."""
        return self._end - time.monotonic()

    def __getitem__(self, step: str) -> float:
        # Zero would mean "do not wait at all" to a socket, and less is an error.
        return max(self.left(), 0.001)

    def __iter__(self) -> Iterator[str]:
        return iter(self._STEPS)

    def __len__(self) -> int:
        return len(self._STEPS)


class _PassingError(Exception):
    """Carries an error that another try may not meet, and the wait that the provider asked for."""

    def __init__(self, error: ProviderError, wait: float = 0.0) -> None:
        super().__init__(error.message)
        self.error = error
        self.wait = wait


class _BearerAuth(httpx.Auth):
    """Adds the key when a request leaves, so that no client or header table holds it."""

    def __init__(self, key: Secret) -> None:
        self._key = key

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._key.reveal()}"
        yield request


class RemoteClient:
    """Posts JSON to one provider; safe among threads."""

    def __init__(self, remote: Remote, address: str) -> None:
        """Set up without connecting.

        Args:
            address: URL that paths are appended to; it may carry a user, a password or a query.

        Raises:
            ConfigurationError: The address is no HTTP URL, or the key fits in no header.
        """
        url = _parse_address(address, remote.group)
        self._remote = remote
        self._breaker = Breaker()
        # Without its user and password, since httpx logs the address of every request.
        self._base = url.copy_with(userinfo=b"", fragment=None)
        self._shown = str(self._base.copy_with(query=None))
        self._client = httpx.Client(
            auth=_auth(remote, url),
            follow_redirects=False,
            # Loading the certificates takes a tenth of a second.
            verify=url.scheme == "https",
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._shown}>"

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def health(self) -> Health:
        """Tell how the provider does."""
        return self._breaker.health()

    def post(self, path: str, body: Mapping[str, object]) -> object:
        """Send a body and return the parsed answer, trying again within the timeout.

        Tried again: no connection, a lost one, a timeout, status 408, 429 and 5xx. When that
        fails for several calls in a row, further ones fail at once for a while.

        Raises:
            ProviderUnreachable: No connection.
            ProviderTimeout: No answer within the timeout.
            ProviderRejected: An answer with an error status or a redirect.
            ProviderAnswerInvalid: An answer that is no JSON or too large.
        """
        self._breaker.check()
        url = self._base.copy_with(path=self._base.path.rstrip("/") + path)
        content = json.dumps(body, ensure_ascii=False).encode("utf-8")
        deadline = Deadline(self._remote.timeout)
        attempt = 0
        while True:
            try:
                answer = self._send(url, content, deadline)
                self._breaker.succeeded()
                return answer
            except ProviderRejected:
                # It answers; what it says is for the caller to mend.
                self._breaker.succeeded()
                raise
            except _PassingError as failure:
                pause = max(failure.wait, _pause(attempt))
                if attempt >= self._remote.retries or pause >= deadline.left():
                    self._breaker.failed(failure.error, self._remote.timeout - deadline.left())
                    raise failure.error from failure.__cause__
            time.sleep(pause)
            attempt += 1

    def _send(self, url: httpx.URL, content: bytes, deadline: Deadline) -> object:
        try:
            with self._client.stream(
                "POST",
                url,
                content=content,
                headers={"Content-Type": "application/json", "Accept": "application/json"},
                extensions={"timeout": deadline},
            ) as response:
                self._check_status(response)
                answer = self._read(response, deadline)
        except httpx.TimeoutException as error:
            raise _PassingError(self._too_late()) from error
        except httpx.DecodingError as error:
            raise ProviderAnswerInvalid(
                f"{self._name} sent an answer that cannot be unpacked"
            ) from error
        except (httpx.RequestError, UnicodeError) as error:
            # UnicodeError is how the socket refuses a host name with a part that is too long.
            raise _PassingError(self._unreachable()) from error
        return self._parse(answer)

    def _check_status(self, response: httpx.Response) -> None:
        status = response.status_code
        if response.is_success:
            return
        address = f"{self._remote.group}.base_url"
        if response.is_redirect:
            advice = f"check {address}, redirects are not followed"
        else:
            fallback = "try again later" if status in PASSING_STATUSES else f"check {address}"
            advice = self._advice(_ADVICE.get(status, fallback))
        error = ProviderRejected(f"{self._name} answered with status {status}: {advice}")
        if status in PASSING_STATUSES:
            raise _PassingError(error, _retry_after(response.headers.get("Retry-After", "")))
        raise error

    def _read(self, response: httpx.Response, deadline: Deadline) -> bytes:
        answer = bytearray()
        for piece in response.iter_bytes():
            answer += piece
            if len(answer) > LARGEST_ANSWER:
                raise ProviderAnswerInvalid(
                    f"{self._name} answered with more than {LARGEST_ANSWER // 1024**2} MB: "
                    f"check {self._remote.group}.base_url"
                )
            if deadline.left() < 0:
                raise self._too_late()
        return bytes(answer)

    def _parse(self, answer: bytes) -> object:
        try:
            parsed: object = json.loads(answer)
        except (ValueError, RecursionError) as error:
            raise ProviderAnswerInvalid(
                f"{self._name} answered with something that is no JSON: "
                f"check {self._remote.group}.base_url"
            ) from error
        return parsed

    def _too_late(self) -> ProviderTimeout:
        return ProviderTimeout(
            f"{self._name} did not answer within {self._remote.timeout:g} s: "
            f"check that it runs, or raise {self._remote.group}.timeout"
        )

    def _unreachable(self) -> ProviderUnreachable:
        return ProviderUnreachable(
            f"{self._name} cannot be reached: check that it runs, "
            f"and check {self._remote.group}.base_url"
        )

    @property
    def _name(self) -> str:
        return f"The {self._remote.noun} at {self._shown}"

    def _advice(self, advice: str) -> str:
        remote = self._remote
        return advice.format(group=remote.group, size=remote.size, amount=remote.amount)


def _parse_address(address: str, group: str) -> httpx.URL:
    # The address is not repeated: where it cannot be read, its password cannot be left out.
    problem = f"Setting {group}.base_url must be an address such as http://localhost:11434/v1"
    try:
        url = httpx.URL(address.strip())
    except httpx.InvalidURL:
        raise ConfigurationError(problem) from None
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigurationError(problem)
    return url


def _auth(remote: Remote, url: httpx.URL) -> httpx.Auth | None:
    if remote.api_key:
        if not all("!" <= character <= "~" for character in remote.api_key.reveal()):
            raise ConfigurationError(
                f"Setting {remote.group}.api_key holds a character that no HTTP header can carry"
            )
        return _BearerAuth(remote.api_key)
    return httpx.BasicAuth(url.username, url.password) if url.userinfo else None


def _pause(attempt: int) -> float:
    return FIRST_PAUSE * 2.0**attempt * random.uniform(0.5, 1.0)


def _retry_after(value: str) -> float:
    """Seconds to wait by a Retry-After header, a number or a date; 0 when it is neither."""
    if value.isascii() and value.isdecimal():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - datetime.now(UTC)).total_seconds()
