"""The terms of a segment in order, and the searches over them: exact, by prefix, by likeness.

Owns the arrays that make these fast over half a million terms. Must not know documents.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA

from app.lexical.scripts import is_unspaced

_AFTER_ALL = "\U0010ffff"
_ALPHABETS_END = "\u2600"
"""Alphabets lie below; beyond are symbols and scripts whose every character has a meaning."""


def is_misspellable(term: str) -> bool:
    """Tell whether another term like it may mean the same: letters of an alphabet, no digits."""
    return max(term) < _ALPHABETS_END and not any("0" <= character <= "9" for character in term)


@dataclass(frozen=True, eq=False, slots=True)
class _Words:
    """The terms that may be misspellings, by length: (n,) each."""

    places: NDArray[np.intp]
    lengths: NDArray[np.int64]
    letters: NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Terms in ascending order, each once."""

    terms: tuple[str, ...]

    def warm(self) -> None:
        """Make the arrays for searching now: half a second for half a million terms."""
        _ = self._lengths, self._pair_codes, self._words

    def position(self, term: str) -> int | None:
        """Return the place of a term, None when it is not here."""
        place = bisect_left(self.terms, term)
        return place if place < len(self.terms) and self.terms[place] == term else None

    def completions(self, prefix: str) -> Iterator[int]:
        """Yield the places of longer terms that begin so, by length, then term."""
        first = bisect_left(self.terms, prefix)
        last = bisect_left(self.terms, prefix + _AFTER_ALL, first)
        for place in np.argsort(self._lengths[first:last], kind="stable").tolist():
            if len(self.terms[first + place]) > len(prefix):
                yield first + place

    def pairs_with(self, character: str) -> list[int]:
        """Return the places of pairs with this character of an unspaced script, ascending."""
        codes = self._pair_codes
        return np.flatnonzero((codes == ord(character)).any(axis=0)).tolist()

    def neighbours(self, term: str, distance: int) -> Iterator[tuple[int, int]]:
        """Yield the places of other terms within an edit distance, with their distance.

        A swap of two characters that stand together is one edit (optimal string alignment). Only
        misspellable terms are found: another number or ideogram is another word.
        """
        words = self._words
        first, last = np.searchsorted(
            words.lengths, (len(term) - distance, len(term) + distance + 1)
        )
        letters = words.letters[first:last]
        own = _letters(_codes(term), np.zeros(1, dtype=np.intp))
        # An edit takes at most one kind of letter away and brings at most one in.
        is_near = np.bitwise_count(letters & ~own) <= distance
        is_near &= np.bitwise_count(~letters & own) <= distance
        for place in words.places[first:last][is_near].tolist():
            found = OSA.distance(term, self.terms[place], score_cutoff=distance)
            if 0 < found <= distance:
                yield place, found

    @cached_property
    def _lengths(self) -> NDArray[np.uint8]:
        # Terms have up to LONGEST_TERM characters, or twice that without an accent or ligature.
        lengths = np.fromiter(map(len, self.terms), np.int64, len(self.terms))
        return np.minimum(lengths, 255).astype(np.uint8)

    @cached_property
    def _pair_codes(self) -> NDArray[np.uint32]:
        """The two characters of each pair (2, n); zeros for other terms."""
        codes = np.zeros((2, len(self.terms)), dtype=np.uint32)
        for place in np.flatnonzero(self._lengths == 2).tolist():
            pair = self.terms[place]
            if is_unspaced(pair):
                codes[:, place] = ord(pair[0]), ord(pair[1])
        return codes

    @cached_property
    def _words(self) -> _Words:
        codes = _codes("".join(self.terms))
        ends = np.cumsum(np.fromiter(map(len, self.terms), np.intp, len(self.terms)))
        starts = ends - np.diff(ends, prepend=0)
        is_foreign = ((codes >= ord("0")) & (codes <= ord("9"))) | (codes >= ord(_ALPHABETS_END))
        places = np.flatnonzero(~np.logical_or.reduceat(is_foreign, starts))
        lengths = (ends - starts)[places]
        order = np.argsort(lengths, kind="stable")
        places = places[order]
        return _Words(places, lengths[order], _letters(codes, starts)[places])


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le"), np.uint32)


def _letters(codes: NDArray[np.uint32], starts: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Return the set of characters of each term as 64 bits; characters may share one."""
    bits = np.left_shift(np.uint64(1), codes.astype(np.uint64) % np.uint64(64))
    return np.bitwise_or.reduceat(bits, starts)
