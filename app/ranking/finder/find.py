"""The whole of `finder` as one pure function on a slice that is given.

Owns the order of the steps. Every rule is in the module of its concept.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from app.domain.fragments import FragmentRelation
from app.graph.pagerank import Spread
from app.ranking.finder.options import FinderOptions
from app.ranking.finder.rollup import Comparable, Source, roll_up
from app.ranking.finder.seeds import Seeds, fuse, near
from app.ranking.finder.spreading import boosted, ppr


class Identifier(Hashable, Comparable, Protocol):
    """What fragments are told apart by."""


Id = TypeVar("Id", bound=Identifier)
SourceId = TypeVar("SourceId", bound=Comparable)


@dataclass(frozen=True, slots=True)
class Found(Generic[Id, SourceId]):
    """An answer before any limit, best source first, and what it was made of."""

    seeds: Seeds[Id]
    spread: Spread[Id]
    sources: tuple[Source[SourceId, Id], ...]


def find(
    full_text: Sequence[Id],
    vector: Iterable[tuple[Id, float]],
    relations: Iterable[FragmentRelation[Id]],
    source_of: Mapping[Id, SourceId | None],
    options: FinderOptions,
) -> Found[Id, SourceId]:
    """Fuse two ranked lists into seeds, spread their relevance, and order the sources.

    Args:
        full_text: Ids, best first.
        vector: Ids with their cosine distances, nearest first.
        relations: The slice around the seeds; all of it is used.
        source_of: The source of each fragment, None or absent where it has none.
    """
    nearest = near(vector, options.max_vector_distance)
    return spread_from(
        fuse((full_text, nearest), options.rrf_k, options.seed_k), relations, source_of, options
    )


def spread_from(
    seeds: Seeds[Id],
    relations: Iterable[FragmentRelation[Id]],
    source_of: Mapping[Id, SourceId | None],
    options: FinderOptions,
) -> Found[Id, SourceId]:
    """Spread the relevance of seeds, and order the sources; without seeds there is no result."""
    spread = ppr(seeds.scores, relations, options)
    finals = boosted(seeds.scores, spread.mass)
    return Found(seeds, spread, tuple(roll_up(finals, source_of)))
