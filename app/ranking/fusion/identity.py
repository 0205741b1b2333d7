"""Identity boosts: the query is the name of a note, or a part of it.

Owns how names are compared, and what each kind of match is worth.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

MOST_TITLE_BOOST = 0.18
MOST_ALIAS_BOOST = 0.17
MOST_BOOST_WITHOUT_WORDS = 0.30
"""For title and alias each, when no note was found by words."""

EXACT = "exact"
LEADING_NUMERIC = "leading-numeric"
LEADING = "leading"
STARTS = "starts"
CONTAINS = "contains"
ALL_TERMS = "all-terms"
TOKEN = "token"
PREFIX = "prefix"

TITLE_SHARES = {
    EXACT: 1.0,
    LEADING_NUMERIC: 0.98,
    LEADING: 0.85,
    STARTS: 0.8,
    CONTAINS: 0.8,
    ALL_TERMS: 0.6,
}
ALIAS_SHARES = {EXACT: 1.0, TOKEN: 0.92, PREFIX: 0.88, CONTAINS: 0.65}
"""Shares of the maximum by kind of match."""

_SHORTEST_SIGNIFICANT = 2
_TOKEN = re.compile(r"[\w#@-]+")


class Words(NamedTuple):
    """A text as it is compared; ``significant`` tokens have two characters or are numeric."""

    tokens: tuple[str, ...]
    significant: tuple[str, ...]
    joined: str


class Match(NamedTuple):
    """How a query matches a name, as a share of the most boost; no kind is no match."""

    kind: str | None = None
    share: float = 0.0


class Identity(NamedTuple):
    """The matches of a note's names and the boosts that they earn."""

    title: Match
    title_boost: float
    alias: Match
    alias_boost: float


def words(text: str) -> Words:
    """Split a text for comparison, composed characters and decomposed ones alike."""
    tokens = tuple(_TOKEN.findall(unicodedata.normalize("NFC", text).lower()))
    significant = tuple(token for token in tokens if _is_significant(token))
    return Words(tokens, significant, " ".join(tokens))


def _is_significant(token: str) -> bool:
    return len(token) >= _SHORTEST_SIGNIFICANT or token.isdecimal()


def title_match(query: Words, title: Words) -> Match:
    """Return the best kind of match of a query with a title."""
    if not query.tokens or not title.tokens:
        return Match()
    kind = _title_start(query, title) or _title_part(query, title)
    return Match(kind, TITLE_SHARES[kind]) if kind else Match()


def _title_start(query: Words, title: Words) -> str | None:
    if query.tokens == title.tokens:
        return EXACT
    if _leads(query.tokens, title.significant):
        first = query.tokens[0]
        is_number = first.isdecimal() and first == title.significant[0]
        return LEADING_NUMERIC if is_number else LEADING
    return STARTS if title.joined.startswith(query.joined) else None


def _title_part(query: Words, title: Words) -> str | None:
    if query.joined in title.joined:
        return CONTAINS
    terms = query.significant
    return ALL_TERMS if terms and all(term in title.joined for term in terms) else None


def _leads(tokens: tuple[str, ...], leading: tuple[str, ...]) -> bool:
    if len(tokens) > len(leading):
        return False
    pairs = zip(tokens, leading, strict=False)
    return all(whole.startswith(part) for part, whole in pairs)


def alias_match(query: Words, aliases: Iterable[Words]) -> Match:
    """Return the best match of a query with any of a note's aliases."""
    kinds = [kind for alias in aliases if (kind := _alias_kind(query, alias))]
    matches = [Match(kind, ALIAS_SHARES[kind]) for kind in kinds]
    return max(matches, key=lambda match: match.share, default=Match())


def _alias_kind(query: Words, alias: Words) -> str | None:
    if not query.tokens or not alias.tokens:
        return None
    if query.tokens == alias.tokens:
        return EXACT
    if query.joined in alias.significant:
        return TOKEN
    if any(text.startswith(query.joined) for text in (*alias.significant, alias.joined)):
        return PREFIX
    return CONTAINS if query.joined in alias.joined else None


def identity_of(
    query: Words, title: str, aliases: Iterable[str], *, found_by_words: bool
) -> Identity:
    """Match a query with a note's names; ``found_by_words`` says whether any note was."""
    of_title = title_match(query, words(title))
    of_alias = alias_match(query, map(words, aliases))
    most_title = MOST_TITLE_BOOST if found_by_words else MOST_BOOST_WITHOUT_WORDS
    most_alias = MOST_ALIAS_BOOST if found_by_words else MOST_BOOST_WITHOUT_WORDS
    return Identity(of_title, of_title.share * most_title, of_alias, of_alias.share * most_alias)
