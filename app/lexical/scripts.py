"""Classes of characters that segmentation tells apart.

Owns the patterns and the cleaning before them. Must not know tokens' meaning.
"""

from __future__ import annotations

import re
import unicodedata

from app.text import HAN_RANGES, with_few_marks

_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\U0001b000-\U0001b16f"
_BOPOMOFO = "\u3105-\u312f\u31a0-\u31bf"
_HANGUL = "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"
_UNSPACED = f"{HAN_RANGES}\u3005-\u3007{_KANA}{_BOPOMOFO}{_HANGUL}"
"""Scripts found by pairs of characters: Han with its repetition marks, Kana, Bopomofo, Hangul."""

_LAST_MARK = 0x1F000
"""No combining mark stands beyond, but for variation selectors."""


def _mark_ranges() -> str:
    """Return every combining mark as a character class (3 ms)."""
    ranges: list[list[int]] = []
    for code in range(0x300, _LAST_MARK):
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


_IGNORED = re.compile(
    "[\u00ad\u034f\u200c-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
"""Soft hyphens, joiners, direction marks, variation selectors: not seen, so not searched for."""

_LETTER = rf"[^\W_{_UNSPACED}]"
_LETTER_OR_MARK = rf"(?:{_LETTER}|[{_mark_ranges()}])"

_EMOJI = (
    "\u2600-\u2767\u2776-\u27bf\u2b50\u2b55"
    "\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
)
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"

UNSPACED = "unspaced"
WORD = "word"
EMOJI = "emoji"

RUN = re.compile(
    rf"(?P<{UNSPACED}>[{_UNSPACED}]+)"
    rf"|(?P<{WORD}>{_LETTER}{_LETTER_OR_MARK}*(?:[_+#./:-]+{_LETTER}{_LETTER_OR_MARK}*)*(?:\+\+?|\#)?)"
    rf"|(?P<{EMOJI}>[{_EMOJI}]|{_FLAG})"
)
"""A run of an unspaced script; a word, with `_ + # . / : -` inside and `+`, `++`, `#` behind it;
or one emoji. Everything else separates and is nothing by itself."""

ASCII_RUN = re.compile(rf"(?P<{WORD}>[a-zA-Z0-9]+(?:[_+#./:-]+[a-zA-Z0-9]+)*(?:\+\+?|\#)?)")
"""The same for ASCII text, some times faster."""

_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")


def is_unspaced(term: str) -> bool:
    """Tell whether a term is of a script that is found by pairs of characters."""
    return _UNSPACED_CHARACTER.match(term) is not None


def normalised(text: str) -> str:
    """Bring a text to NFKC without what nobody sees; case stays."""
    if text.isascii():
        return text
    return _IGNORED.sub("", unicodedata.normalize("NFKC", with_few_marks(text)))
