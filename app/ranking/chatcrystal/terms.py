"""Stage 2, terms: which words of a query a candidate must contain to be floored.

Owns extraction and containment. Texts come folded (``app.text.fold``).
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable

from app.text import HAN_RUN, fold

SHORTEST_WORD = 2
WHOLE_WORD_LENGTH = 3
"""ASCII terms up to this length must end where a word ends."""

_FUNCTION_WORD_LIST = """
a an and are as at be been by can could did do does for from had has have how i in into is it its
me my of on or our should so than that the their them then there these they this to us was we were
what when where which who why will with would you your
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORD_LIST.split())

_OF_WORDS = frozenset(string.ascii_lowercase + string.digits)
_ASCII_WORD = re.compile(r"[a-z0-9](?:[a-z0-9_+#./-]*[a-z0-9+#])?")


def query_terms(query: str) -> tuple[str, ...]:
    """Return the terms of a query: ASCII words, then Han pairs, each once, in order."""
    folded = fold(query)
    words = [
        word
        for word in _ASCII_WORD.findall(folded)
        if len(word) >= SHORTEST_WORD and word not in FUNCTION_WORDS
    ]
    pairs = [pair for run in HAN_RUN.findall(folded) for pair in _han_terms(run)]
    return tuple(dict.fromkeys(words + pairs))


def _han_terms(run: str) -> list[str]:
    return [run[start : start + 2] for start in range(len(run) - 1)] or [run]


def missing_in(folded: str, terms: Iterable[str]) -> tuple[str, ...]:
    """Return those of the terms that a folded text does not hold."""
    return tuple(term for term in terms if not _holds(folded, term))


def holds_all(folded: str, terms: Iterable[str]) -> bool:
    """Tell whether a folded text holds every one of the terms, and any there are."""
    is_any = False
    for term in terms:
        if not _holds(folded, term):
            return False
        is_any = True
    return is_any


def _holds(folded: str, term: str) -> bool:
    """Tell whether a text holds a term: one of Han anywhere, one of ASCII where a word starts."""
    return term in folded and (not term.isascii() or _starts_a_word(folded, term))


def _starts_a_word(folded: str, term: str) -> bool:
    is_whole = len(term) <= WHOLE_WORD_LENGTH
    place = folded.find(term)
    while place >= 0:
        end = place + len(term)
        begins = not place or folded[place - 1] not in _OF_WORDS
        if begins and not (is_whole and folded[end : end + 1] in _OF_WORDS):
            return True
        place = folded.find(term, place + 1)
    return False
