"""Where the tokens of a query stand in a text, in its own code points.

Owns the search for places; what a token is, ``segmentation`` says. Must not choose among them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from app.lexical.alignment import Alignment
from app.lexical.scripts import ASCII_RUN, RUN, UNSPACED, WORD, is_unspaced
from app.lexical.segmentation import LONGEST_TERM, part_spans, without_accents

_PAIR = 2


class Occurrence(NamedTuple):
    """A place of a token, ``start`` and ``end`` (exclusive) in code points of the given text."""

    start: int
    end: int
    token: str


def occurrences(text: str, wanted: Collection[str]) -> list[Occurrence]:
    """Return every place of some tokens, the earlier and then the longer first.

    A token is found where ``tokens`` finds it; besides, a single character of a script without
    spaces is found inside a run, as a query finds it in the index.
    """
    words = frozenset(token for token in wanted if not is_unspaced(token))
    runs = _by_beginning(token for token in wanted if is_unspaced(token))
    alignment = Alignment.of(text)
    found = [
        Occurrence(*alignment.extent(start, end), token)
        for start, end, token in _places(alignment.text, words, runs)
    ]
    return sorted(found, key=lambda place: (place.start, -place.end, place.token))


_Place = tuple[int, int, str]


def _places(text: str, words: frozenset[str], runs: dict[str, list[str]]) -> Iterator[_Place]:
    known: dict[str, list[_Place]] = {}
    for match in (ASCII_RUN if text.isascii() else RUN).finditer(text):
        run, offset = match.group(), match.start()
        if match.lastgroup == UNSPACED:
            for start, end, token in _within_run(run, runs) if runs else ():
                yield offset + start, offset + end, token
            continue
        places = known.get(run)
        if places is None:
            spelled = _spellings(run, words) if match.lastgroup == WORD else [(0, len(run), run)]
            places = known[run] = [place for place in spelled if place[2] in words]
        for start, end, token in places:
            yield offset + start, offset + end, token


def _spellings(word: str, words: frozenset[str]) -> Iterator[_Place]:
    """Yield the tokens of a word with their places in it, none if it holds none of some words."""
    if word.isascii():
        lower = word.lower()
        if not any(wanted in lower for wanted in words):
            return
    for start, end in {(0, len(word))} | part_spans(word):
        token = word[start:end].lower()[:LONGEST_TERM]
        yield start, end, token
        if not token.isascii():
            yield start, end, without_accents(token)


def _by_beginning(tokens: Iterable[str]) -> dict[str, list[str]]:
    """Group tokens by their first two characters, a single character by itself."""
    grouped: dict[str, list[str]] = defaultdict(list)
    for token in tokens:
        grouped[token[:_PAIR]].append(token)
    return dict(grouped)


def _within_run(run: str, runs: dict[str, list[str]]) -> Iterator[_Place]:
    for start in range(len(run)):
        for beginning in {run[start], run[start : start + _PAIR]}:
            for token in runs.get(beginning, ()):
                if run.startswith(token, start):
                    yield start, start + len(token), token
