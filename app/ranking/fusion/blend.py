"""Two sources into one score, by values and by ranks.

Owns the weights. A note that a source did not find gets 0 from it; a source that found nothing at
all takes no part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from app.ranking.fusion.normalisation import SourceScore

SEMANTIC_WEIGHT = 0.6
LEXICAL_WEIGHT = 0.4
VALUES_WEIGHT = 0.7
RANKS_WEIGHT = 0.3
RANK_OFFSET = 60
_MOST_RECIPROCAL = 2 / (RANK_OFFSET + 1)


class Blend(NamedTuple):
    """A note's standing in each source that found it, and what they make together.

    ``rrf`` is None when only one source found anything: it then plays no part.
    """

    semantic: SourceScore | None
    lexical: SourceScore | None
    rrf: float | None
    fused: float

    @property
    def original_rank(self) -> int:
        """The lexical rank if there is one, else the semantic rank."""
        standing = self.lexical or self.semantic
        return standing.rank if standing else 0


def reciprocal_rank_fusion(ranks: Iterable[int]) -> float:
    """Return the fusion of a note's ranks as a share of that of the best in both sources."""
    return min(1.0, sum(1 / (RANK_OFFSET + rank) for rank in ranks) / _MOST_RECIPROCAL)


def blended(
    semantic: Mapping[int, SourceScore], lexical: Mapping[int, SourceScore]
) -> dict[int, Blend]:
    """Blend the standings of all notes that either source found."""
    both = bool(semantic) and bool(lexical)
    return {
        note_id: _blend(semantic.get(note_id), lexical.get(note_id), both)
        for note_id in dict.fromkeys([*lexical, *semantic])
    }


def _blend(semantic: SourceScore | None, lexical: SourceScore | None, both: bool) -> Blend:
    standings = [standing for standing in (semantic, lexical) if standing is not None]
    if not both:
        return Blend(semantic, lexical, None, standings[0].normalised)
    rrf = reciprocal_rank_fusion(standing.rank for standing in standings)
    values = SEMANTIC_WEIGHT * _value(semantic) + LEXICAL_WEIGHT * _value(lexical)
    return Blend(semantic, lexical, rrf, VALUES_WEIGHT * values + RANKS_WEIGHT * rrf)


def _value(standing: SourceScore | None) -> float:
    return standing.normalised if standing else 0.0
