"""Lines of JSON, read in bounded memory; what is no JSON object is skipped and counted.

Owns how far broken text is understood. Must not know what an object means.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import orjson

from app.importers.conversations.values import Losses

LONGEST_LINE = 32 * 1024 * 1024
"""Bytes; a longer line is counted as broken."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def objects(path: Path, losses: Losses) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a file of JSON Lines.

    A file that vanished, or that may not be read, has none.
    """
    try:
        with path.open("rb") as stream:
            for line in _lines(stream, losses):
                found = parsed(line)
                if isinstance(found, dict):
                    yield found
                else:
                    losses.broken_lines += 1
    except OSError:
        losses.broken_lines += 1


def _lines(stream: IO[bytes], losses: Losses) -> Iterator[bytes]:
    is_first = True
    while line := stream.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            losses.broken_lines += 1
            _skip_line(stream)
            continue
        if is_first:
            line = line.removeprefix(_BYTE_ORDER_MARK)
            is_first = False
        if not line.isspace():
            yield line


def _skip_line(stream: IO[bytes]) -> None:
    while (rest := stream.readline(1024 * 1024)) and not rest.endswith(b"\n"):
        pass


def parsed(text: bytes | str) -> Any:
    """Parse JSON; None when it is none.

    Bytes that are no UTF-8 are read as GB 18030, or with replacements; halves of surrogate pairs,
    which JavaScript writes, are let through for ``clean`` to replace.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(text if isinstance(text, str) else _decoded(text))
    except (ValueError, RecursionError):
        return None


def _decoded(raw: bytes) -> str:
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("utf-8", "replace")
