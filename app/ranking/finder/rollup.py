"""From fragments to their sources: what a note is worth by its best fragments.

Owns the weights of the best three and every order. A fragment without a source never ranks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

FRAGMENT_SHARES = (1.0, 0.1, 0.05)
"""What the best, second and third fragment of a source count."""

SAME_SCORE_DIGITS = 12
"""Scores that agree to so many decimals are equal: the rest depends on the order of sums."""


class Comparable(Protocol):
    """What can be put in order."""

    def __lt__(self, other: Any, /) -> bool:
        """Tell whether this comes first."""
        ...


Id = TypeVar("Id", bound=Comparable)
SourceId = TypeVar("SourceId", bound=Comparable)


class Source(NamedTuple, Generic[SourceId, Id]):
    """A source with its score and its fragments, best first, all as shares of the top score.

    ``total`` is the score itself.
    """

    id: SourceId
    score: float
    fragments: tuple[tuple[Id, float], ...]
    total: float


def roll_up(
    finals: Mapping[Id, float], source_of: Mapping[Id, SourceId | None]
) -> list[Source[SourceId, Id]]:
    """Group fragments by their source, best source first; ties are broken by id."""
    grouped: defaultdict[SourceId, list[tuple[Id, float]]] = defaultdict(list)
    for id_, final in finals.items():
        source = source_of.get(id_)
        if source is not None and final > 0.0:
            grouped[source].append((id_, final))
    ordered = {
        source: sorted(found, key=lambda each: (-round(each[1], SAME_SCORE_DIGITS), each[0]))
        for source, found in grouped.items()
    }
    totals = {source: _total(found) for source, found in ordered.items()}
    top = max(totals.values(), default=0.0)
    sources = [
        Source(
            source,
            totals[source] / top,
            tuple((id_, final / top) for id_, final in found),
            totals[source],
        )
        for source, found in ordered.items()
    ]
    return sorted(sources, key=lambda each: (-round(each.total, SAME_SCORE_DIGITS), each.id))


def _total(found: list[tuple[Id, float]]) -> float:
    finals = (final for _, final in found)
    return sum(share * final for share, final in zip(FRAGMENT_SHARES, finals, strict=False))
