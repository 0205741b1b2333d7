"""Terms of the index that may stand for a word of a query, and what they are worth.

Owns the choice, which depends on the living terms alone, not on segments. Must not score notes.

The weights are those of MiniSearch (``SearchOptions.weights`` and ``executeQuerySpec``), after
whose search the ranker ``fusion`` is published.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from app.lexical.query import LexicalQuery, QueryTerm
from app.lexical.scripts import is_unspaced
from app.lexical.segment import Segment
from app.lexical.vocabulary import is_misspellable

EXACT_WEIGHT = 1.0
PREFIX_WEIGHT = 0.375
PREFIX_SLOPE = 0.3
FUZZY_WEIGHT = 0.45
FUZZY_SHARE = 0.2
"""Edits allowed per character of a word, rounded."""

MOST_EDITS = 6
SHORTEST_PREFIX = 2
MOST_EXPANSIONS = 20
"""Terms that may stand for one word of a query."""

EXPANDED_WORDS = 16
"""Words of a query that are expanded, the first ones; a pasted text needs no completion."""

Kind = Literal["exact", "prefix", "fuzzy", "inside"]
Place = tuple[int, int]
"""Number of a segment, place in its vocabulary."""

_Found = tuple[int, str, int, int]
"""What is best when least, term, place."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A term that counts for a token, with its weight and where the segments have it."""

    term: str
    kind: Kind
    weight: float
    places: tuple[Place, ...]


def variants_of(query: LexicalQuery, segments: Sequence[Segment]) -> list[tuple[Variant, ...]]:
    """Return for each token of the query the terms that count for it, the exact one first.

    No token of the query stands for another one: it counts by itself.
    """
    taken = {term.token for term in query.terms}
    words = [term for term in query.terms if not term.is_part][:EXPANDED_WORDS]
    expanded = {term.token for term in words}
    result = []
    for term in query.terms:
        exact = Variant(term.token, "exact", EXACT_WEIGHT, _places(term.token, segments))
        others = _others(term, segments, taken) if term.token in expanded else ()
        result.append((exact, *others))
    return result


def _others(term: QueryTerm, segments: Sequence[Segment], taken: set[str]) -> tuple[Variant, ...]:
    token = term.token
    if is_unspaced(token):
        # Whatever holds a longer one holds its pairs and words too, so there is nothing to add.
        return _inside(token, segments) if len(token) == 1 else ()
    if len(token) < SHORTEST_PREFIX:
        return ()
    chosen = {variant.term: variant for variant in _neighbours(token, segments, taken)}
    chosen |= {variant.term: variant for variant in _completions(token, segments, taken)}
    best = sorted(chosen.values(), key=lambda variant: (-variant.weight, variant.term))
    return tuple(best[:MOST_EXPANSIONS])


def _places(token: str, segments: Sequence[Segment]) -> tuple[Place, ...]:
    found = ((n, segment.core.vocabulary.position(token)) for n, segment in enumerate(segments))
    return tuple([(number, place) for number, place in found if place is not None])


def _inside(character: str, segments: Sequence[Segment]) -> tuple[Variant, ...]:
    """Take all pairs with a character together as one term, for it is no token inside a run."""
    places = [
        (number, place)
        for number, segment in enumerate(segments)
        for place in segment.core.vocabulary.pairs_with(character)
    ]
    return (Variant(character, "inside", PREFIX_WEIGHT, tuple(places)),) if places else ()


def _completions(token: str, segments: Sequence[Segment], taken: set[str]) -> Iterator[Variant]:
    found = heapq.merge(
        *(_completing(token, number, segment) for number, segment in enumerate(segments))
    )
    for length, term, places in _living(found, segments, taken):
        weight = PREFIX_WEIGHT * length / (length + PREFIX_SLOPE * (length - len(token)))
        yield Variant(term, "prefix", weight, places)


def _neighbours(token: str, segments: Sequence[Segment], taken: set[str]) -> Iterator[Variant]:
    edits = min(round(FUZZY_SHARE * len(token)), MOST_EDITS)
    if not edits or not is_misspellable(token):
        return
    found = sorted(
        (distance, segment.core.vocabulary.terms[place], number, place)
        for number, segment in enumerate(segments)
        for place, distance in segment.core.vocabulary.neighbours(token, edits)
    )
    for distance, term, places in _living(found, segments, taken):
        weight = FUZZY_WEIGHT * len(term) / (len(term) + distance)
        yield Variant(term, "fuzzy", weight, places)


def _completing(token: str, number: int, segment: Segment) -> Iterator[_Found]:
    vocabulary = segment.core.vocabulary
    for place in vocabulary.completions(token):
        term = vocabulary.terms[place]
        yield len(term), term, number, place


def _living(
    found: Iterable[_Found], segments: Sequence[Segment], taken: set[str]
) -> Iterator[tuple[int, str, tuple[Place, ...]]]:
    """Yield the first terms that some living document holds, with their places."""
    count = 0
    for (measure, term), group in groupby(found, key=lambda each: each[:2]):
        places = tuple([(number, place) for *_, number, place in group])
        if term in taken:
            continue
        if any(segments[number].has(place) for number, place in places):
            yield measure, term, places
            count += 1
            if count == MOST_EXPANSIONS:
                return
