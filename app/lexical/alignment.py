"""Where the characters of a normalised text stand in the text as it was given.

Owns the cutting of a text into pieces that normalise one by one. Must not know tokens.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from app.lexical.scripts import normalised

_ZERO_WIDTH_JOINER = "\u200d"
_FIRST_MARK = "\u0300"

_ATTACHED = re.compile(
    "[\u1160-\u11ff\u3131-\u318e\uff9e-\uffdc"
    "\U00016d67\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\u200d]"
)
"""What joins the character before and is no mark: vowels and last consonants of Hangul, the
half-width marks of Kana, a vowel of Kirat Rai; skin tones, tags and the joiner of emoji."""

_UNUSUAL = re.compile(
    "[^\x00-\x7f\u00c0-\u00ff\u0410-\u044f\u2018-\u201d\u3001\u3002"
    "\u3041-\u3096\u30a1-\u30fa\u30fc-\u30fe\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]+"
)
"""All but frequent characters that normalising leaves alone and that join none; for speed only."""


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """A normalised text, and the stretches that it came from, in order.

    ``places`` has where each stretch begins in ``text``, ``starts`` and ``ends`` its extent in the
    given text. A stretch is taken character by character if ``is_straight``, else as one.
    """

    text: str
    places: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    is_straight: tuple[bool, ...]

    @classmethod
    def of(cls, text: str) -> Alignment:
        """Normalise a text as ``scripts.normalised`` does."""
        parts: list[str] = []
        known: dict[str, str] = {}
        place = 0
        places, starts, ends, straight = [0], [0], [0], [True]
        for start, end in _pieces(text):
            piece = text[start:end]
            part = known.get(piece)
            if part is None:
                part = known[piece] = normalised(piece)
            is_unmarked = len(piece) == 1 or not is_attached(text, end - 1)
            is_straight = len(part) == len(piece) and is_unmarked
            if not (is_straight and straight[-1]):
                places.append(place)
                starts.append(start)
                ends.append(end)
                straight.append(is_straight)
            ends[-1] = end
            parts.append(part)
            place += len(part)
        return cls("".join(parts), tuple(places), tuple(starts), tuple(ends), tuple(straight))

    def extent(self, start: int, end: int) -> tuple[int, int]:
        """Return the extent in the given text of a part of ``text`` that is not empty.

        It never parts a character from its marks, nor one that became several.
        """
        first = bisect_right(self.places, start) - 1
        last = bisect_right(self.places, end - 1) - 1
        given_start, given_end = self.starts[first], self.ends[last]
        if self.is_straight[first]:
            given_start += start - self.places[first]
        if self.is_straight[last]:
            given_end = self.starts[last] + end - self.places[last]
        return given_start, given_end


def is_attached(text: str, place: int) -> bool:
    """Tell whether the character at a place belongs to the one before it."""
    character = text[place]
    if not place or character < _FIRST_MARK:
        return False
    category = unicodedata.category(character)
    return (
        category[0] == "M"
        or _ATTACHED.match(character) is not None
        or (category == "So" and text[place - 1] == _ZERO_WIDTH_JOINER)
    )


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Yield runs of frequent characters, and every other character with what belongs to it."""
    start = 0
    for match in _UNUSUAL.finditer(text):
        first, last = match.span()
        if is_attached(text, first):
            first -= 1
        if first > start:
            yield start, first
        start = first
        for place in range(first + 1, last + 1):
            if place == len(text) or not is_attached(text, place):
                yield start, place
                start = place
    if start < len(text):
        yield start, len(text)
