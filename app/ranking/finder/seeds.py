"""Where relevance begins: ranked lists of fragments, fused by rank.

Owns the distance cut and the fusion. Lists may come from anywhere, several nodes included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Id = TypeVar("Id")


@dataclass(frozen=True, slots=True)
class Seeds(Generic[Id]):
    """What the lists come to: the score of each seed, and its best rank in each list, from 1."""

    scores: Mapping[Id, float]
    ranks: tuple[Mapping[Id, int], ...]


def near(found: Iterable[tuple[Id, float]], max_distance: float) -> list[Id]:
    """Return the ids, in their order, whose cosine distance is not over the maximum."""
    return [id_ for id_, distance in found if distance <= max_distance]


def strong(found: Sequence[tuple[Id, float]], min_share: float) -> list[Id]:
    """Return the ids, best first, whose score by words is no smaller a share of the best one's.

    A rank says nothing of how weak a match is: dozens of fragments that hold one common word of
    the query would draw the relevance away from the few that are about it.
    """
    least = min_share * max((score for _, score in found), default=0.0)
    return [id_ for id_, score in found if score >= least]


def fuse(lists: Iterable[Sequence[Id]], rrf_k: float, seed_k: int) -> Seeds[Id]:
    """Sum ``1 / (rrf_k + rank)`` over lists of ids, each best first and cut to ``seed_k``.

    An id that stands in a list several times counts by its best rank there.
    """
    ranks = tuple(_ranks(listed[:seed_k]) for listed in lists)
    scores: dict[Id, float] = {}
    for list_ranks in ranks:
        for id_, rank in list_ranks.items():
            scores[id_] = scores.get(id_, 0.0) + 1 / (rrf_k + rank)
    return Seeds(scores, ranks)


def _ranks(listed: Sequence[Id]) -> dict[Id, int]:
    ranks: dict[Id, int] = {}
    for rank, id_ in enumerate(listed, start=1):
        ranks.setdefault(id_, rank)
    return ranks
