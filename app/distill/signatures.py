"""Error signatures: what of an error message stays the same at its next occurrence.

Owns what in a message is replaced. Where messages stand, ``error_messages`` says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from app.distill.error_messages import messages_in, told_in

MOST_SIGNATURES = 6
LONGEST_SIGNATURE = 160
LEAST_SIGNATURE = 5
_EMPTY = ("error", "errors", "warning", "exception", "failed")

_REPLACED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b[a-z][\w+.-]*://[^\s'\"`,)]+", re.IGNORECASE), "<url>"),
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b0x[0-9a-f]+\b", re.IGNORECASE), "<address>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"), "<address>"),
    (re.compile(r"(?:\[[0-9a-f:]{3,}\]|\blocalhost)(?::\d+)", re.IGNORECASE), "<address>"),
    (re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.]+\b"), "<id>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?Z?)?"), "<time>"),
    (re.compile(r"(?:\b[A-Za-z]:\\|(?<![\w<./])\.{0,2}/)[\w.@+~\\/-]*[\w@+~]"), "<path>"),
    (re.compile(r"(?<![\w<./])[\w@.-]+(?:/[\w@.-]+)+\.\w{1,6}\b"), "<path>"),
    (re.compile(r"(?<![\w.#$-])#?(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b"), "<id>"),
)
_NUMBER = re.compile(
    r"(?<![\w.$<-])[-+]?\d[\d,]*(?:\.\d+)*(?:ms|s|m|h|kb|mb|gb|kib|mib|gib|b|%)?(?![\w>])",
    re.IGNORECASE,
)
_CODE_BEFORE = re.compile(
    r"(?:code|status|errno|exit|http(?:/<n>)?|error|sqlstate|signal|退出码|状态码|错误码)\W{0,3}$",
    re.IGNORECASE,
)
_STATUS_TEXT = re.compile(r"\s[A-Z][a-z]")


def normalised(message: str) -> str:
    """Replace what changes from one occurrence to the next; codes that name a fault stay.

    Paths become ``<path>``, addresses ``<address>``, numbers ``<n>``, ids ``<id>``, times
    ``<time>`` and URLs ``<url>``.
    """
    text = re.sub(r"\s+", " ", message).strip()
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    text = _NUMBER.sub(lambda match: _number(match, text), text)
    text = _balanced(text[:LONGEST_SIGNATURE].rstrip(" ,;:.-–，。：；"))
    return text


def _number(match: re.Match[str], text: str) -> str:
    digits = match.group()
    before, after = text[: match.start()], text[match.end() :]
    if _CODE_BEFORE.search(before) and len(digits) <= 5:
        return digits
    is_status = len(digits) == 3 and digits[0] in "45" and _STATUS_TEXT.match(after)
    return digits if is_status else "<n>"


def _balanced(text: str) -> str:
    for opening, closing in (("(", ")"), ("[", "]"), ("（", "）")):
        if text.count(closing) > text.count(opening) and text.endswith(closing):
            text = text[:-1]
    if text.count('"') % 2 and text.endswith('"'):
        text = text[:-1]
    return text.strip()


def signatures_of(texts: Iterable[str], asked: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the error signatures that texts name, in their order.

    One that another contains is left out: the longer says more.

    Args:
        asked: What users wrote, in which unusual messages are sought as well.
    """
    spelled: dict[str, str] = {}
    told = (message for text in asked for message in told_in(text))
    for message in (*told, *(message for text in texts for message in messages_in(text))):
        signature = normalised(message)
        if _is_telling(signature):
            spelled.setdefault(signature.lower(), signature)
    whole = [
        signature
        for key, signature in spelled.items()
        if not any(key != other and key in other for other in spelled)
    ]
    return tuple(whole[:MOST_SIGNATURES])


def _is_telling(signature: str) -> bool:
    bare = re.sub(r"<\w+>", "", signature).strip(" :,.-")
    return len(bare) >= LEAST_SIGNATURE and bare.lower() not in _EMPTY
