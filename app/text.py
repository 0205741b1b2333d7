"""Rules about characters that several layers share: blankness, folding, cleaning, scripts.

Owns no state. Must not know notes, chunks or queries.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata

JS_WHITE_SPACE = (
    "\t\n\v\f\r \u00a0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What JavaScript's ``trim`` removes; Python's ``strip`` has another set (not U+FEFF)."""

VISIBLE = f"[^\x00{JS_WHITE_SPACE}]"
"""Pattern of a character that keeps a text from being blank once it is cleaned."""

HAN_RANGES = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
HAN_RUN = re.compile(f"[{HAN_RANGES}]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MARK_SUSPECTS = re.compile(r"[^\w\s\x00-\x7f]{31,}")
_MOST_MARKS = 30
"""Marks on one character; the bound of the Stream-Safe Text Format (UAX #15)."""


def js_trim(text: str) -> str:
    """Trim as JavaScript does, which is what the original's chunks were made with."""
    return text.strip(JS_WHITE_SPACE)


def is_blank(text: str) -> bool:
    """Tell whether the text holds nothing but JavaScript white space."""
    return not js_trim(text)


def fold(text: str) -> str:
    """Make texts comparable: NFKC, then lower case (full-width letters become ASCII)."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", with_few_marks(text)).lower()


def with_few_marks(text: str) -> str:
    """Drop the combining marks beyond 30 on one character.

    Normalising takes quadratic time in their number, an hour for a text of a megabyte.
    """
    return _MARK_SUSPECTS.sub(_without_excess, text)


def _without_excess(match: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for character in match.group():
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= _MOST_MARKS:
            kept.append(character)
    return "".join(kept)


def has_han(text: str) -> bool:
    """Tell whether the text holds a Han character."""
    return HAN_RUN.search(text) is not None


def clean(text: str) -> str:
    """Make a text storable and encodable: no NUL, lone surrogates become U+FFFD."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    return _SURROGATE.sub("\ufffd", text)


def utf16_length(text: str) -> int:
    """Length in UTF-16 code units, the unit of the original's chunk limit (an emoji is 2)."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def digest(*parts: str) -> str:
    """SHA-256 of the parts, hexadecimal; parts cannot run into each other."""
    state = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        state.update(str(len(encoded)).encode("ascii") + b":" + encoded)
    return state.hexdigest()


def round_half_up(value: float, decimals: int = 3) -> float:
    """Round as JavaScript's ``Math.round`` does: halves go towards plus infinity."""
    scale = 10.0**decimals
    return math.floor(value * scale + 0.5) / scale
