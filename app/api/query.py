"""Reads a raw query string as the original does.

Owns decoding: ``&`` separates, ``+`` is a blank, a key alone has the value "", and a value whose
percent-encoding is malformed or no UTF-8 is kept as it came.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from app.text import clean

_MALFORMED = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def read_query(raw: bytes) -> dict[str, list[str]]:
    """Return the values of each key, in order."""
    values: dict[str, list[str]] = {}
    for pair in raw.split(b"&"):
        if pair:
            key, _, value = pair.partition(b"=")
            values.setdefault(_decode(key), []).append(_decode(value))
    return values


def _decode(raw: bytes) -> str:
    spaced = raw.replace(b"+", b" ")
    decoded = spaced if _MALFORMED.search(spaced) else unquote_to_bytes(spaced)
    try:
        return clean(decoded.decode("utf-8"))
    except UnicodeDecodeError:
        return clean(spaced.decode("utf-8", "replace"))
