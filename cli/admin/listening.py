"""The socket that a server listens on.

Owns binding, its errors, and the rule that other machines need a token.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager

from app.settings.values import ServerSettings
from cli.failures import Failure

_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}


@contextmanager
def listening(settings: ServerSettings, *, has_tokens: bool) -> Iterator[socket.socket]:
    """Listen for as long as a block runs; who connects early waits until it is served.

    ``has_tokens`` tells whether the database knows tokens that other machines could show.

    Raises:
        Failure: other machines could connect without a token, or the address cannot be had.
    """
    if not is_loopback(settings.host) and not settings.api_token and not has_tokens:
        raise Failure(
            f"Listening on {settings.host} lets other machines in: set server.api_token first "
            "(CRYSTAL_API_TOKEN), or make a token (crystal tokens create NAME)",
            "token_needed",
        )
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        found = socket.create_server((settings.host, settings.port), family=family)
    except OSError as error:
        raise Failure(_problem(error, settings), "cannot_listen") from error
    with closing(found):
        yield found


def _problem(error: OSError, settings: ServerSettings) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {settings.port} is in use; choose another one with --port"
    return f"Cannot listen on {settings.host}, port {settings.port}: {error.strerror or error}"


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can connect to an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def url_of(host: str, port: int) -> str:
    """Return where this machine reaches a server that listens on a host."""
    name = _EVERY_ADDRESS.get(host, host)
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
