"""One run of a query over an index: scores, and the record of how they came about.

Owns the two passes and their maximum. Everything that it tells comes from the same arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.lexical.bm25 import (
    CONTENT_WEIGHTS,
    IDENTITY_WEIGHTS,
    Values,
    inverse_frequency,
    worths,
)
from app.lexical.documents import FIELDS
from app.lexical.expansion import Variant, variants_of
from app.lexical.query import LexicalQuery
from app.lexical.results import LexicalHit, LexicalStanding, TermMatch, TokenRecord
from app.lexical.segment import Ids, Places, Segment
from app.lexical.units import Found, Occurrences, Units


@dataclass(frozen=True, eq=False, slots=True)
class ScoredVariant:
    """A term with its IDF, where it occurs, and what it is worth there in each pass (n,)."""

    variant: Variant
    idf: float
    occurrences: Occurrences
    identity: Values
    content: Values


@dataclass(frozen=True, eq=False, slots=True)
class ScoredToken:
    """A token of the query: its own IDF and the terms found for it."""

    token: str
    idf: float
    variants: tuple[ScoredVariant, ...]


@dataclass(frozen=True, eq=False)
class LexicalRun:
    """The scores of all units for one query; ``identity`` and ``content`` are (units,)."""

    units: Units
    tokens: tuple[ScoredToken, ...]
    identity: Values
    content: Values

    @classmethod
    def of(cls, query: LexicalQuery, segments: Sequence[Segment], units: Units) -> LexicalRun:
        """Score every unit."""
        identity, content = np.zeros(len(units.ids)), np.zeros(len(units.ids))
        tokens = []
        for term, variants in zip(query.terms, variants_of(query, segments), strict=True):
            scored = _scored(term.token, variants, segments, units)
            found = [(each.occurrences.ordinals, each) for each in scored.variants]
            _add_best(identity, [(ordinals, each.identity) for ordinals, each in found])
            _add_best(content, [(ordinals, each.content) for ordinals, each in found])
            tokens.append(scored)
        return cls(units, tuple(tokens), identity, content)

    @cached_property
    def scores(self) -> Values:
        """The greater of the two passes (units,)."""
        return np.maximum(self.identity, self.content)

    def best(self, limit: int, allowed: Ids | None = None) -> list[LexicalHit]:
        """Return the best units by score, then id; only allowed ids (ascending) when given."""
        if limit <= 0:
            return []
        found = self._found(allowed)
        scores = self.scores[found]
        if len(found) > limit:
            border = np.partition(scores, len(scores) - limit)[len(scores) - limit]
            found = found[scores >= border]
        order = np.lexsort((self.units.ids[found], -self.scores[found]))[:limit]
        return self._hits(found[order])

    def standing(self, unit_id: int, allowed: Ids | None = None) -> LexicalStanding | None:
        """Return the place of a unit, None when it holds no word of the query."""
        found = self._found(allowed)
        own = found[self.units.ids[found] == unit_id]
        if not len(own):
            return None
        score, scores = self.scores[own[0]], self.scores[found]
        is_before = (scores == score) & (self.units.ids[found] < unit_id)
        rank = 1 + int(np.count_nonzero(scores > score)) + int(np.count_nonzero(is_before))
        return LexicalStanding(self._hits(own)[0], rank)

    def coverage(self, unit_ids: Sequence[int]) -> Values:
        """Return how much of the query units hold (n,), by IDF, from 0 to 1.

        A token that is held by a variant alone counts by the variant's weight.
        """
        total = sum(token.idf for token in self.tokens)
        ordinals = self._ordinals(unit_ids)
        covered = np.zeros(len(unit_ids))
        for token in self.tokens:
            best = np.zeros(len(unit_ids))
            for each in token.variants:
                is_present, _ = each.occurrences.present(ordinals)
                best = np.maximum(best, is_present * each.variant.weight)
            covered += token.idf * best
        return covered / total if total else covered

    def matches(self, unit_id: int) -> tuple[TermMatch, ...]:
        """Tell which terms a unit holds, in which fields, and what each is worth."""
        ordinals = self._ordinals([unit_id])
        return tuple(
            [
                _match(token.token, each, int(places[0]))
                for token in self.tokens
                for each in token.variants
                for is_present, places in [each.occurrences.present(ordinals)]
                if is_present[0]
            ]
        )

    def record(self) -> tuple[TokenRecord, ...]:
        """Tell what became of each token."""
        return tuple([_token_record(token) for token in self.tokens])

    def _found(self, allowed: Ids | None) -> Places:
        found = np.flatnonzero(self.scores)
        if allowed is None:
            return found
        if not len(allowed):
            return found[:0]
        ids = self.units.ids[found]
        places = np.searchsorted(allowed, ids)
        places[places == len(allowed)] = 0
        return np.asarray(found[allowed[places] == ids], dtype=np.intp)

    def _ordinals(self, unit_ids: Sequence[int]) -> Places:
        ids = np.asarray(unit_ids, dtype=np.int64)
        return self.units.numbering.ordinals(ids).astype(np.intp)

    def _hits(self, ordinals: Places) -> list[LexicalHit]:
        held: list[list[str]] = [[] for _ in ordinals]
        for token in self.tokens:
            is_held = np.zeros(len(ordinals), dtype=np.bool_)
            for each in token.variants:
                is_held |= each.occurrences.present(ordinals)[0]
            for place in np.flatnonzero(is_held).tolist():
                held[place].append(token.token)
        columns = (self.units.ids, self.scores, self.identity, self.content)
        values = (column[ordinals].tolist() for column in columns)
        return list(map(LexicalHit, *values, map(tuple, held)))


def _scored(
    token: str, variants: tuple[Variant, ...], segments: Sequence[Segment], units: Units
) -> ScoredToken:
    exact, *others = variants
    [found] = units.occurrences([_entries(exact, segments)])
    idf = inverse_frequency(len(found.ordinals), units.living)
    scored = _worths([exact], [found], [idf], units)
    if others:
        found_others = units.occurrences([_entries(each, segments) for each in others])
        own = [inverse_frequency(len(each.ordinals), units.living) for each in found_others]
        # A rare misspelling must not be worth more than the word itself.
        capped = [min(each, idf) for each in own] if scored else own
        scored += _worths(others, found_others, capped, units)
    return ScoredToken(token, idf, tuple(scored))


def _entries(variant: Variant, segments: Sequence[Segment]) -> Found:
    return [(number, segments[number].entries(place)) for number, place in variant.places]


def _worths(
    variants: Sequence[Variant], found: Sequence[Occurrences], idfs: Sequence[float], units: Units
) -> list[ScoredVariant]:
    """Score terms in one go; those that no unit holds are left out."""
    sizes = [len(each.ordinals) for each in found]
    ordinals = np.concatenate([each.ordinals for each in found])
    frequencies = np.concatenate([each.frequencies for each in found], axis=1)
    products = [variant.weight * idf for variant, idf in zip(variants, idfs, strict=True)]
    factors = np.repeat(products, sizes)
    identity, content = (
        factors * worths(frequencies, ordinals, units.norms, weights)
        for weights in (IDENTITY_WEIGHTS, CONTENT_WEIGHTS)
    )
    ends = np.cumsum(sizes)[:-1]
    columns = (variants, idfs, found, np.split(identity, ends), np.split(content, ends))
    rows = zip(*columns, strict=True)
    return [ScoredVariant(*row) for row in rows if len(row[2].ordinals)]


def _add_best(total: Values, parts: Sequence[tuple[Places, Values]]) -> None:
    """Add to each unit the best that it has among the terms for one token."""
    if len(parts) == 1:
        [(ordinals, values)] = parts
        total[ordinals] += values
    elif parts:
        best = np.zeros(len(total))
        for ordinals, values in parts:
            best[ordinals] = np.maximum(best[ordinals], values)
        total += best


def _match(token: str, scored: ScoredVariant, place: int) -> TermMatch:
    counts = scored.occurrences.frequencies[:, place].astype(np.int64).tolist()
    return TermMatch(
        token=token,
        term=scored.variant.term,
        kind=scored.variant.kind,
        weight=scored.variant.weight,
        idf=scored.idf,
        fields=tuple([pair for pair in zip(FIELDS, counts, strict=True) if pair[1]]),
        identity=float(scored.identity[place]),
        content=float(scored.content[place]),
    )


def _token_record(token: ScoredToken) -> TokenRecord:
    terms = [
        (
            each.variant.term,
            each.variant.kind,
            each.variant.weight,
            each.idf,
            len(each.occurrences.ordinals),
        )
        for each in token.variants
    ]
    return TokenRecord(token.token, token.idf, tuple(terms))
