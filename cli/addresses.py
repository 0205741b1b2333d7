"""Base URLs as people write them, and as requests need them.

Owns the rules. Pure.
"""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

DEFAULT_PORT = 3721
DEFAULT_URL = f"http://localhost:{DEFAULT_PORT}"

_LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
_EVERY_ADDRESS = "0.0.0.0"
_IMPOSSIBLE = re.compile(r"[\s\x00-\x1f\x7f<>\"{}|\\^`%]")


def normalise(text: str) -> str:
    """Return a base URL with scheme and, on this machine, port; without a slash at its end.

    ``0.0.0.0`` is a place to listen, not one to call: it becomes ``127.0.0.1``.

    Raises:
        ValueError: the text is no http or https URL; its message never holds a password.
    """
    trimmed = text.strip()
    parts = _split(trimmed if "://" in trimmed else f"http://{trimmed}")
    host = parts.hostname or ""
    if host == _EVERY_ADDRESS:
        host = "127.0.0.1"
    port = parts.port
    if port is None and parts.scheme == "http" and host in _LOCAL_HOSTS:
        port = DEFAULT_PORT
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}"


def is_of_this_machine(url: str) -> bool:
    """Tell whether a normalised URL names this machine."""
    return urlsplit(url).hostname in _LOCAL_HOSTS


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        is_possible = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise ValueError("is not a valid URL") from None
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"must be an http or https URL, not {parts.scheme}")
    if parts.username is not None:
        raise ValueError("must not hold a name or password; the token is CRYSTAL_API_TOKEN")
    if not is_possible or _IMPOSSIBLE.search(url):
        raise ValueError("is not a valid URL")
    if parts.query or parts.fragment:
        raise ValueError("must not hold a query or fragment")
    return parts
