"""How relevance flows: relations become weighted edges, seeds get their share of mass.

Owns what a kind of relation weighs, and "boost, never gate": what was found keeps its own score.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

from app.domain.fragments import FragmentRelation
from app.graph import pagerank
from app.graph.pagerank import Spread, WeightedEdge
from app.ranking.finder.options import FinderOptions

Id = TypeVar("Id", bound=Hashable)


def ppr(
    seeds: Mapping[Id, float], relations: Iterable[FragmentRelation[Id]], options: FinderOptions
) -> Spread[Id]:
    """Spread the seeds' scores along relations; an edge's place is that of its relation."""
    listed = list(relations)
    weights = {kind: options.weight_of(kind) for kind in {each.kind for each in listed}}
    edges = (
        WeightedEdge(each.source, each.target, weights[each.kind] * each.share) for each in listed
    )
    return pagerank.ppr(seeds, edges, options.damping, options.iterations, options.epsilon)


def boosted(seeds: Mapping[Id, float], mass: Mapping[Id, float]) -> dict[Id, float]:
    """Return the final score of every fragment that has one: its seed score and its mass."""
    ids = dict.fromkeys([*seeds, *mass])
    return {id_: seeds.get(id_, 0.0) + mass.get(id_, 0.0) for id_ in ids}
