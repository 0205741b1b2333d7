"""Where a text that is too long may be cut.

Owns sentence ends and safe cuts. Must not know notes, chunks or providers.
"""

from __future__ import annotations

import re
import unicodedata

from app.text import is_blank

# The look-behind and the possessive repeats keep long runs of dots linear.
_SENTENCE_END = re.compile(
    r"""(?<![.!?])[.!?]++["')\]”’]*+\s++"""
    r"""|[。！？；]++["')\]”’」』）】]*+\s*+"""
    r"""|\n++"""
)

_PART_BREAKS = " \n\t。！？；，、"
_ZERO_WIDTH_JOINER = "\u200d"
_LONGEST_CLUSTER = 32


def split_sentences(text: str, max_chars: int) -> list[str]:
    """Split at English and Chinese sentence ends and at line ends.

    Returns:
        Non-blank pieces of at most ``max_chars`` characters, without the white space between
        them; a longer sentence is cut.
    """
    pieces: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        pieces += _cut(text[start : match.end()].rstrip(), max_chars)
        start = match.end()
    pieces += _cut(text[start:].rstrip(), max_chars)
    return [piece for piece in pieces if not is_blank(piece)]


def even_parts(text: str, max_chars: int) -> list[str]:
    """Cut a text into few parts of about equal length, at a word or clause end where possible.

    Equal lengths, because the parts weigh the same when their vectors are averaged.

    Returns:
        Non-blank parts of at most ``max_chars`` characters.
    """
    parts: list[str] = []
    rest = text
    while len(rest) > max_chars:
        size = -(-len(rest) // -(-len(rest) // max_chars))
        end = max(rest.rfind(mark, size // 2, size) for mark in _PART_BREAKS) + 1
        cut = end or cut_point(rest, size)
        parts.append(rest[:cut])
        rest = rest[cut:]
    parts.append(rest)
    return [part for part in parts if not is_blank(part)]


def cut_point(text: str, limit: int) -> int:
    """Return the last place up to ``limit`` that parts no character from its marks.

    A cluster of more than 32 code points is cut all the same.
    """
    for cut in range(limit, max(limit - _LONGEST_CLUSTER, 0), -1):
        if cut >= len(text) or not _belongs_together(text[cut - 1], text[cut]):
            return cut
    return limit


def _cut(sentence: str, max_chars: int) -> list[str]:
    pieces: list[str] = []
    start = 0
    while len(sentence) - start > max_chars:
        end = start + cut_point(sentence[start : start + max_chars + 1], max_chars)
        pieces.append(sentence[start:end])
        start = end
    pieces.append(sentence[start:])
    return pieces


def _belongs_together(before: str, after: str) -> bool:
    return (
        _ZERO_WIDTH_JOINER in (before, after)
        or unicodedata.category(after).startswith("M")
        or "\U0001f3fb" <= after <= "\U0001f3ff"
    )
