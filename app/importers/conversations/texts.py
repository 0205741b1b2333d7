"""Texts as they are kept: cleaned, cut where they are very long, and without secrets.

Owns how much of a text is kept, and the form of what tools were given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from app.importers.conversations.secrets import masked
from app.importers.conversations.values import Losses
from app.text import clean

LONGEST_MESSAGE = 200_000
LONGEST_THINKING = 50_000
LONGEST_TOOL_TEXT = 4_000
"""Characters of what a tool was given, and of what it answered: twice half of it."""

_BREAK = re.compile(r"\s")
_SLACK = 200
"""Characters by which a cut may move, so that no secret is cut in two and missed."""


def kept(text: str, most: int, losses: Losses) -> str:
    """Return a text as it is stored; of one that is too long, the middle is left out."""
    cleaned = clean(text)
    if len(cleaned) <= most:
        result, count = masked(cleaned)
        losses.masked_secrets += count
        return result
    head, tail = _cut(cleaned, most)
    left_out = len(cleaned) - len(head) - len(tail)
    (first, in_first), (last, in_last) = masked(head), masked(tail)
    losses.masked_secrets += in_first + in_last
    return f"{first}\n[… {left_out:,} characters left out …]\n{last}"


def _cut(text: str, most: int) -> tuple[str, str]:
    head = text[: most // 2]
    near = [match.start() for match in _BREAK.finditer(head, len(head) - _SLACK)]
    tail = text[-(most // 2) :]
    far = _BREAK.search(tail, 0, _SLACK)
    return head[: near[-1]] if near else head, tail[far.end() :] if far else tail


def shown(value: Any) -> str:
    """Return what a tool was given, or answered, as text: fields as lines of ``name: value``."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {_value(each)}" for name, each in value.items())
    return _value(value)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value).decode("utf-8")
    except orjson.JSONEncodeError:
        return repr(value)
