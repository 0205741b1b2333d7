"""Stage 2, terms: which words of a query a candidate must contain to be floored.

Owns extraction and containment. Texts come folded (``app.text.fold``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

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


@lru_cache(maxsize=1024)
def _word_start(term: str) -> re.Pattern[str]:
    end = r"(?![a-z0-9])" if len(term) <= WHOLE_WORD_LENGTH else ""
    return re.compile(rf"(?<![a-z0-9]){re.escape(term)}{end}")


def missing_of(terms: tuple[str, ...]) -> Callable[[str], tuple[str, ...]]:
    """Return what tells which of the terms a folded text lacks; it is asked of many texts.

    A text holds a term of Han anywhere, one of ASCII where a word starts.
    """
    sought = [(term, _word_start(term).search if term.isascii() else None) for term in terms]

    def missing(folded: str) -> tuple[str, ...]:
        return tuple(
            [
                term
                for term, search in sought
                if term not in folded or (search is not None and search(folded) is None)
            ]
        )

    return missing
