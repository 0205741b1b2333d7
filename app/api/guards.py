"""Who may call: host names, origins, tokens, and the headers that browsers want.

Owns the checks before any handler. CORS alone does not stop a plain-text POST from another
page, so foreign requests are refused, reads and writes alike.
"""

from __future__ import annotations

import hmac
import re

from flask import Flask, Response, current_app, request

from app.errors import ForeignHost, ForeignOrigin, MissingToken
from app.settings.values import ServerSettings

ALLOWED_METHODS = "GET,HEAD,POST,PATCH,DELETE"
PREFLIGHT_SECONDS = "600"
OPEN_PATHS = ("/api/health",)

_PORT = re.compile(r":[0-9]*$")


class Guards:
    """The checks of one server's settings."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
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

    def _check_token(self) -> None:
        token = self._settings.api_token.reveal()
        if not token or request.path in OPEN_PATHS:
            return
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        # Header bytes arrive as Latin-1, whatever they stand for.
        is_right = hmac.compare_digest(
            given.strip().encode("latin-1", "replace"), token.encode("utf-8")
        )
        if scheme.lower() != "bearer" or not is_right:
            raise MissingToken

    def _mark(self, response: Response) -> Response:
        response.headers["Vary"] = "Origin"
        response.headers["X-Content-Type-Options"] = "nosniff"
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
