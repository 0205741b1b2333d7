"""The ranking itself: lists in, rows out.

Owns the order of the steps and of the rows. Every rule is in the module of its concept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from app.domain.evidence import NoteFacts
from app.ranking.fusion.blend import Blend, blended
from app.ranking.fusion.identity import Identity, identity_of, words
from app.ranking.fusion.normalisation import Scored, SourceScore, source_scores
from app.ranking.fusion.recency import (
    Bounds,
    Recency,
    bounded_lift,
    bounds_of,
    places,
    recency_of,
    unbounded_lift,
)


class Row(NamedTuple):
    """One note of the answer with all that its score is made of.

    ``wanted_lift`` is the lift before cap and crowding; ``bounds`` holds for the whole answer.
    """

    note_id: int
    blend: Blend
    identity: Identity
    recency: Recency
    bounds: Bounds
    wanted_lift: float
    lift: float

    @property
    def base(self) -> float:
        """Fused score and boosts."""
        return _base(self.blend, self.identity)

    @property
    def score(self) -> float:
        """The final score."""
        return self.base + self.lift


def rank(
    query: str,
    semantic: Sequence[Scored],
    lexical: Sequence[Scored],
    notes: Mapping[int, NoteFacts],
    opened: Sequence[int],
) -> tuple[Row, ...]:
    """Order all notes that either source found; either list may be empty.

    ``semantic`` and ``lexical`` name each note once; among equal scores the earlier ranks higher.
    ``notes`` knows every note found. ``opened`` is latest first. Ties: original rank, then id.
    """
    by_meaning, by_words = source_scores(semantic), source_scores(lexical)
    blends = blended(by_meaning, by_words)
    identities = _identities(query, blends, notes, found_by_words=bool(lexical))
    bases = [_base(blend, identities[note_id]) for note_id, blend in blends.items()]
    recencies = _recencies(blends, by_meaning, by_words, opened)
    bounds = bounds_of(bases, sum(each.lifts for each in recencies.values()))
    rows = [
        _row(note_id, blend, identities[note_id], recencies[note_id], bounds)
        for note_id, blend in blends.items()
    ]
    return tuple(sorted(rows, key=_order))


def _base(blend: Blend, identity: Identity) -> float:
    return blend.fused + identity.title_boost + identity.alias_boost


def _order(row: Row) -> tuple[float, int, int]:
    return -row.score, row.blend.original_rank, row.note_id


def _identities(
    query: str,
    found: Mapping[int, Blend],
    notes: Mapping[int, NoteFacts],
    *,
    found_by_words: bool,
) -> dict[int, Identity]:
    asked = words(query)
    identities: dict[int, Identity] = {}
    for note_id in found:
        known = notes[note_id]
        identities[note_id] = identity_of(
            asked, known.card.title, known.aliases, found_by_words=found_by_words
        )
    return identities


def _recencies(
    blends: Mapping[int, Blend],
    by_meaning: Mapping[int, SourceScore],
    by_words: Mapping[int, SourceScore],
    opened: Sequence[int],
) -> dict[int, Recency]:
    place_of = places(opened)
    best_by_meaning, best_by_words = _best_raw(by_meaning), _best_raw(by_words)
    recencies: dict[int, Recency] = {}
    for note_id, blend in blends.items():
        if blend.semantic is not None:
            raw, best = blend.semantic.raw, best_by_meaning
        else:
            raw, best = by_words[note_id].raw, best_by_words
        recencies[note_id] = recency_of(place_of.get(note_id), raw, best)
    return recencies


def _best_raw(standings: Mapping[int, SourceScore]) -> float:
    return max((standing.raw for standing in standings.values()), default=0.0)


def _row(note_id: int, blend: Blend, identity: Identity, recency: Recency, bounds: Bounds) -> Row:
    base = _base(blend, identity)
    wanted = unbounded_lift(base, recency, identity.alias.kind)
    lift = bounded_lift(base, wanted, bounds)
    return Row(note_id, blend, identity, recency, bounds, wanted, lift)
