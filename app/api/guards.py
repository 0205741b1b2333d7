"""Who may call: host names, origins, tokens, and the headers that browsers want.

Owns the checks before any handler. CORS alone does not stop a plain-text POST from another
page, so foreign requests are refused, reads and writes alike.
"""

from __future__ import annotations

import hmac
import ipaddress
import math
import re
from collections.abc import Callable

from flask import Flask, Response, current_app, request

from app.api.limits import RateLimit
from app.domain.tokens import SCOPE_READ
from app.errors import (
    ForeignHost,
    ForeignOrigin,
    InsufficientScope,
    MissingToken,
    TooManyRequests,
)
from app.settings.values import ServerSettings

ALLOWED_METHODS = "GET,HEAD,POST,PATCH,DELETE"
PREFLIGHT_SECONDS = "600"
OPEN_PATHS = ("/api/health",)
READING_METHODS = ("GET", "HEAD")
READING_POSTS = ("/api/memory/recall",)
"""Requests that only read, though their question does not fit an address."""

POLICY = "default-src 'none'; frame-ancestors 'none'"
"""What a browser may do with an answer of the API: show it, nothing else."""

ScopeOf = Callable[[str], str | None]
"""Tells what a token may do, None for one that nobody made."""

_PORT = re.compile(r":[0-9]*$")


class Guards:
    """The checks of one server's settings."""

    def __init__(self, settings: ServerSettings, scope_of: ScopeOf) -> None:
        self._settings = settings
        self._scope_of = scope_of
        self._limit = RateLimit(settings.requests_per_minute)
        self._needs_token = bool(settings.api_token) or not _is_loopback(settings.host)
        self._hosts = {host.lower() for host in settings.allowed_hosts}
        self._origins = tuple(_origin_pattern(origin) for origin in settings.allowed_origins)

    def register(self, app: Flask) -> None:
        """Put the checks before every request, and the headers on every answer."""
        app.before_request(self._check)
        app.after_request(self._mark)

    def _check(self) -> Response | None:
        self._check_host()
        self._check_origin()
        if request.method == "OPTIONS":
            return _options()
        self._check_rate()
        self._check_token()
        return None

    def _check_host(self) -> None:
        host = _PORT.sub("", request.headers.get("Host", "")).lower()
        if host not in self._hosts:
            raise ForeignHost(
                "The Host header is not a name of this server; "
                "add it to the setting server.allowed_hosts"
            )

    def _check_origin(self) -> None:
        origin = request.headers.get("Origin")
        is_foreign = origin is not None and not self._is_known(origin)
        is_cross_site = origin is None and request.headers.get("Sec-Fetch-Site") == "cross-site"
        if is_foreign or is_cross_site:
            raise ForeignOrigin(
                "Pages of other sites may not call this server; "
                "add the origin to the setting server.allowed_origins"
            )

    def _is_known(self, origin: str) -> bool:
        return any(pattern.fullmatch(origin) for pattern in self._origins)

    def _check_rate(self) -> None:
        seconds = self._limit.wait_for(request.remote_addr or "")
        if seconds > 0:
            raise TooManyRequests(math.ceil(seconds))

    def _check_token(self) -> None:
        if not self._needs_token or request.path in OPEN_PATHS:
            return
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        # Header bytes arrive as Latin-1, whatever they stand for.
        given = given.strip().encode("latin-1", "replace").decode("utf-8", "replace")
        if scheme.lower() != "bearer" or not given:
            raise MissingToken
        if self._is_owners(given):
            return
        scope = self._scope_of(given)
        if scope is None:
            raise MissingToken
        is_read = request.method in READING_METHODS or request.path in READING_POSTS
        if scope == SCOPE_READ and not is_read:
            raise InsufficientScope

    def _is_owners(self, given: str) -> bool:
        token = self._settings.api_token.reveal()
        return bool(token) and hmac.compare_digest(given.encode("utf-8"), token.encode("utf-8"))

    def _mark(self, response: Response) -> Response:
        response.headers["Vary"] = "Origin"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers.setdefault("Content-Security-Policy", POLICY)
        response.headers.setdefault("Referrer-Policy", "no-referrer")
        if response.status_code == MissingToken.status:
            response.headers["WWW-Authenticate"] = "Bearer"
        origin = request.headers.get("Origin")
        if origin is not None and self._is_known(origin):
            response.headers["Access-Control-Allow-Origin"] = origin
            if "Access-Control-Request-Method" in request.headers:
                response.headers["Vary"] = "Origin, Access-Control-Request-Headers"
                response.headers["Access-Control-Allow-Methods"] = ALLOWED_METHODS
                response.headers["Access-Control-Max-Age"] = PREFLIGHT_SECONDS
                wanted = request.headers.get("Access-Control-Request-Headers")
                if wanted:
                    response.headers["Access-Control-Allow-Headers"] = wanted
        return response


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _options() -> Response:
    """Answer what may be done at an address, empty; the headers of a preflight come later."""
    answer = Response(status=204)
    del answer.headers["Content-Type"]
    adapter = current_app.create_url_adapter(request)
    allowed = adapter.allowed_methods() if adapter else ()
    if allowed:
        answer.headers["Allow"] = ", ".join(sorted(allowed))
    return answer


def _origin_pattern(origin: str) -> re.Pattern[str]:
    if origin.endswith(":*"):
        return re.compile(re.escape(origin.removesuffix(":*")) + r"(:[0-9]+)?", re.IGNORECASE)
    return re.compile(re.escape(origin), re.IGNORECASE)
