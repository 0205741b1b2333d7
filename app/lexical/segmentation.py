"""Tokens of a text: one segmentation for what is indexed and for what is asked.

Owns which pieces of a text can be found. Every piece is counted once: two rules that find the same
span give one token. Must not know fields, weights or indexes.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from app.lexical.chinese import DICTIONARY, Span
from app.lexical.scripts import ASCII_RUN, EMOJI, RUN, UNSPACED, WORD, normalised
from app.text import HAN_RUN

LONGEST_TERM = 100
"""Characters of a term that count; a longer one is found by its beginning."""

MOST_CASE_PARTS = 8
"""A word with more changes of case and digits is a hash or a key: its parts mean nothing."""

REMEMBERED_RUNS = 65_536
"""Words and runs that come again are taken apart once; some thirty megabytes."""

LONGEST_REMEMBERED = 100
"""Characters; longer runs do not come again."""

_LEVELS = tuple(map(re.compile, (r"[/:]+", r"[+#]+", r"\.+", r"[_-]+")))
"""Separators inside a word, the outermost first: `app/db.py` has the parts app, db.py, db, py."""

_CASE_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SYMBOL = re.compile(r"[+#]+(?![^\W_])")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_BASE_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)


class Piece(NamedTuple):
    """A token; ``is_part`` when it is a part or another spelling of a word that is a token too."""

    token: str
    is_part: bool


def tokens(text: str) -> list[str]:
    """Return the tokens of a text in order, each as often as it occurs.

    A Han, Kana or Hangul run gives its overlapping pairs and all Chinese words of three or more
    characters inside, a run of one gives itself; any other word gives itself, its parts (at
    `/ : + # . _ -` and where case or digits change) and its form without accents; an emoji
    gives itself.
    """
    return [piece.token for piece in pieces(text)]


def token_counts(*texts: str) -> Counter[str]:
    """Count the tokens of texts: ``Counter(tokens(text))`` of each, several times faster.

    A run is taken apart once, however often it comes; those of the texts before are remembered.
    """
    words: Counter[str] = Counter()
    runs: Counter[tuple[str | None, str]] = Counter()
    for text in map(normalised, texts):
        if text.isascii():
            words.update(ASCII_RUN.findall(text))
        else:
            runs.update([(match.lastgroup, match.group()) for match in RUN.finditer(text)])
    for word, count in words.items():
        runs[WORD, word] += count
    counts: Counter[str] = Counter()
    known = counts.get
    for (kind, run), count in runs.items():
        for token in _run_tokens(kind, run):
            counts[token] = known(token, 0) + count
    return counts


def _run_tokens(kind: str | None, run: str) -> tuple[str, ...]:
    if len(run) > LONGEST_REMEMBERED:
        return _tokens_of_run(kind, run)
    return _remembered_tokens(kind, run)


def _tokens_of_run(kind: str | None, run: str) -> tuple[str, ...]:
    """Return the tokens of a run in any order; those of a word's parts are remembered as well."""
    if kind == UNSPACED:
        return tuple([run[start:end] for start, end in _unspaced_spans(run)])
    if run.isascii() and (run.isdigit() or (run.isalpha() and run.islower())):
        return (run[:LONGEST_TERM],)
    separator = next((each for each in _LEVELS if each.search(run)), None)
    # What stands before `++` or `#` depends on it, so such words are taken apart as a whole.
    if kind != WORD or separator is None or "+" in run or "#" in run:
        return tuple([piece.token for piece in _pieces_of_run(kind, run)])
    own = [piece.token for piece in _spellings(run, is_part=False)]
    parts = [token for part in separator.split(run) if part for token in _run_tokens(WORD, part)]
    return (*own, *parts)


_remembered_tokens = lru_cache(REMEMBERED_RUNS)(_tokens_of_run)


def pieces(text: str) -> Iterator[Piece]:
    """Yield the tokens of a text in order, with what they are."""
    text = normalised(text)
    pattern = ASCII_RUN if text.isascii() else RUN
    for match in pattern.finditer(text):
        yield from _pieces_of_run(match.lastgroup, match.group())


def _pieces_of_run(kind: str | None, run: str) -> Iterator[Piece]:
    if kind == UNSPACED:
        spans = sorted(_unspaced_spans(run))
        yield from (Piece(run[start:end], False) for start, end in spans)
    elif kind == EMOJI:
        yield Piece(run, False)
    else:
        yield from _word_pieces(run)


def _unspaced_spans(run: str) -> list[Span]:
    if len(run) == 1:
        return [(0, 1)]
    spans = [(start, start + 2) for start in range(len(run) - 1)]
    for han in HAN_RUN.finditer(run):
        offset = han.start()
        words = DICTIONARY.long_words(han.group())
        spans += [(offset + start, offset + end) for start, end in words]
    return spans


def _word_pieces(word: str) -> Iterator[Piece]:
    """Yield the word, then its parts by place, the longer first."""
    yield from _spellings(word, is_part=False)
    if word.isalpha() and (not word.isascii() or word[1:].islower()):
        return
    if word.isdigit():
        return
    spans = part_spans(word) - {(0, len(word))}
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        yield from _spellings(word[start:end], is_part=True)


def part_spans(word: str) -> set[tuple[int, int]]:
    found = {(0, len(word))}
    level = [(0, len(word))]
    for separator in _LEVELS:
        if separator.search(word):
            level = [span for outer in level for span in _split(word, outer, separator)]
            found.update(level)
    for start, end in level:
        found.update(_case_parts(word, start, end))
    if "+" not in word and "#" not in word:
        return found
    return {span for span in found if not _is_stem_of_a_symbol(word, span)}


def _split(
    word: str, span: tuple[int, int], separator: re.Pattern[str]
) -> Iterator[tuple[int, int]]:
    start, end = span
    for match in separator.finditer(word, start, end):
        if match.start() > start:
            yield start, match.start()
        start = match.end()
    if start < end:
        yield start, end


def _case_parts(word: str, start: int, end: int) -> list[tuple[int, int]]:
    part = word[start:end]
    is_whole = part.isdigit() or (part.isalpha() and part.islower())
    if is_whole or not part.isascii():
        return []
    parts = [match.span() for match in _CASE_PART.finditer(word, start, end)]
    return parts if len(parts) <= MOST_CASE_PARTS else []


def _is_stem_of_a_symbol(word: str, span: tuple[int, int]) -> bool:
    """Tell whether the span is the letter of `c++`, `c#` and the like, which is another word."""
    start, end = span
    return end - start == 1 and _SYMBOL.match(word, end) is not None


def _spellings(word: str, *, is_part: bool) -> Iterator[Piece]:
    lower = word.lower()[:LONGEST_TERM]
    yield Piece(lower, is_part)
    if not lower.isascii():
        bare = without_accents(lower)
        if bare != lower:
            yield Piece(bare, True)


def without_accents(word: str) -> str:
    """Reduce Latin, Greek and Cyrillic letters to their base; other scripts keep their marks."""
    decomposed = unicodedata.normalize("NFD", word)
    bare = _ACCENTS.sub("", decomposed).translate(_BASE_LETTERS)
    return unicodedata.normalize("NFC", bare)
