"""The part of a text that shows best why a query found it.

Owns which part that is and how it is cut. Must not rank texts or mark up what it shows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.lexical.alignment import is_attached
from app.lexical.bm25 import inverse_frequency
from app.lexical.occurrences import Occurrence, occurrences
from app.lexical.query import LexicalQuery
from app.lexical.scripts import is_unspaced
from app.text import JS_WHITE_SPACE, is_blank

USUAL_WIDTH: Final = 240

_WEIGHT_UNIT = 1_000_000
"""Weights are whole numbers, so that what a window holds does not depend on the order of sums."""

_SENTENCE_END = re.compile(r"""[.!?]["')\]”’]*\s+|[。！？；]["')\]”’」』）】]*|\n""")
_CLOSING = frozenset("。！？；，、：）】」』》”’")

Extent = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a text.

    ``start`` is where it begins in the text; ``extents`` are the words of the query in it, start
    and end (exclusive) from its beginning, ascending and apart. All count code points.
    """

    text: str
    start: int
    extents: tuple[Extent, ...]


def best_passage(text: str, query: str, width: int = USUAL_WIDTH) -> Passage | None:
    """Return the part of a text that holds most of a query's distinct tokens.

    A token weighs the more, the rarer it is in the text among the others; function words do not
    count. Of equally good parts the earliest is taken. It is cut at the ends of sentences where
    they are near, else between words. Without a match it is the beginning of the text.

    Args:
        width: The most code points that the passage has; at least 1. A longer word is cut.

    Returns:
        A passage without white space around it, None for a blank text.
    """
    if is_blank(text):
        return None
    found = occurrences(text, {term.token for term in LexicalQuery.of(query).terms})
    if not found:
        start = len(text) - len(text.lstrip(JS_WHITE_SPACE))
        return _passage(text, start, _end(text, start, start, width), [])
    first, last = _best_window(found, width)
    last = min(last, first + width)
    start = _start(text, first, last, width)
    end = _end(text, start, last, width)
    inside = [(each.start, each.end) for each in found if start <= each.start and each.end <= end]
    return _passage(text, start, end, inside or [(first, last)])


def _passage(text: str, start: int, end: int, found: Sequence[Extent]) -> Passage:
    start += len(text[start:end]) - len(text[start:end].lstrip(JS_WHITE_SPACE))
    extents = tuple([(first - start, last - start) for first, last in _joined(found)])
    return Passage(text[start:end].rstrip(JS_WHITE_SPACE), start, extents)


def _joined(extents: Sequence[Extent]) -> list[Extent]:
    """Join those that overlap or touch; they come by their starts."""
    joined: list[Extent] = []
    for start, end in extents:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def _best_window(found: Sequence[Occurrence], width: int) -> Extent:
    """Return the smallest extent with all the tokens of the best window, the earliest of equals."""
    weights = _weights(found)
    held: Counter[str] = Counter()
    score, best, best_first, following = 0, -1, 0, 0
    for number, first in enumerate(found):
        while following < len(found) and (
            following == number or found[following].end - first.start <= width
        ):
            token = found[following].token
            score += 0 if held[token] else weights[token]
            held[token] += 1
            following += 1
        if score > best:
            best, best_first = score, number
        held[first.token] -= 1
        score -= 0 if held[first.token] else weights[first.token]
    return _smallest(found, best_first, best, weights)


def _smallest(
    found: Sequence[Occurrence], number: int, score: int, weights: dict[str, int]
) -> Extent:
    start, end = found[number].start, found[number].end
    held: set[str] = set()
    for each in found[number:]:
        if score <= 0:
            break
        if each.token not in held:
            held.add(each.token)
            score -= weights[each.token]
            end = max(end, each.end)
    return start, end


def _weights(found: Sequence[Occurrence]) -> dict[str, int]:
    counts = Counter(each.token for each in found)
    return {
        token: 1 + round(_WEIGHT_UNIT * inverse_frequency(count, len(found)))
        for token, count in counts.items()
    }


def _start(text: str, first: int, last: int, width: int) -> int:
    """Return where a passage begins that holds what lies between ``first`` and ``last``.

    Half of the room left over lies before ``first``; up to three quarters when only so a sentence
    is shown from its beginning, and all when the text ends soon.
    """
    room = width - (last - first)
    earliest = max(0, min(last + room // 4, len(text)) - width)
    usual = max(earliest, min(first - room // 2, len(text) - width))
    ends = [match.end() for match in _SENTENCE_END.finditer(text, earliest, first)]
    starts = [0, *ends] if earliest == 0 else ends
    if starts:
        return next((start for start in starts if start >= usual), starts[-1])
    return next((place for place in range(usual, first) if _may_begin(text, place)), first)


def _end(text: str, start: int, last: int, width: int) -> int:
    """Return where a passage ends that begins at ``start`` and holds all up to ``last``."""
    limit = start + width
    if limit >= len(text):
        return len(text)
    nearest = max(last, start + width // 2)
    sentences = _SENTENCE_END.finditer(text, nearest, limit + 1)
    ends = [min(match.end(), limit) for match in sentences]
    if ends:
        return ends[-1]
    places = range(limit, nearest, -1)
    whole_characters = (place for place in places if not is_attached(text, place))
    cut = next(whole_characters, limit)
    return next((place for place in places if _may_end(text, place)), cut)


def _may_begin(text: str, place: int) -> bool:
    """Tell whether a place that is not the start of the text is good for a passage to begin."""
    before, after = text[place - 1], text[place]
    if after.isspace() or after in _CLOSING or is_attached(text, place):
        return False
    return before.isspace() or is_unspaced(before) or is_unspaced(after)


def _may_end(text: str, place: int) -> bool:
    """Tell whether a place that is not the end of the text is good for a passage to end."""
    before, after = text[place - 1], text[place]
    if after in _CLOSING or is_attached(text, place):
        return False
    return after.isspace() or is_unspaced(before) or is_unspaced(after)
