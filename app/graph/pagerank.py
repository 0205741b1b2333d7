"""Personalised PageRank: where relevance comes to rest that starts at some nodes.

Owns the iteration and the account of its last round. Must not know what nodes or edges stand for.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Node = TypeVar("Node", bound=Hashable)
Masses = NDArray[np.float64]

DAMPING = 0.5
ITERATIONS = 12
EPSILON = 1e-6


class WeightedEdge(NamedTuple, Generic[Node]):
    """An undirected edge; one without a positive weight, or to its own node, does not count."""

    source: Node
    target: Node
    weight: float


class Carried(NamedTuple, Generic[Node]):
    """Mass that came to a node in the last round along an edge, named by its place."""

    edge: int
    source: Node
    mass: float


@dataclass(frozen=True, slots=True)
class Ledger(Generic[Node]):
    """What the mass of a node is the sum of, but for rounding.

    ``restart`` is what a seed begins every round with, ``dangling`` what nodes without an edge
    give back to it, ``carried`` what came along edges, by their places.
    """

    restart: float
    dangling: float
    carried: tuple[Carried[Node], ...]

    @property
    def mass(self) -> float:
        """The sum of all."""
        return self.restart + self.dangling + sum(each.mass for each in self.carried)


@dataclass(frozen=True, eq=False)
class Adjacency(Generic[Node]):
    """Nodes by ordinal; of the edges that count the ends as ordinals, weights and places (m,)."""

    nodes: tuple[Node, ...]
    sources: NDArray[np.intp]
    targets: NDArray[np.intp]
    weights: Masses
    places: NDArray[np.intp]

    @cached_property
    def leaving(self) -> Masses:
        """The weight that leaves each node (n,)."""
        size = len(self.nodes)
        forth = np.bincount(self.sources, self.weights, size)
        return np.asarray(forth + np.bincount(self.targets, self.weights, size))

    @cached_property
    def ordinals(self) -> Mapping[Node, int]:
        """The ordinal of each node."""
        return {node: ordinal for ordinal, node in enumerate(self.nodes)}


@dataclass(frozen=True, eq=False)
class Spread(Generic[Node]):
    """Where the mass came to rest; ``mass`` has every node that got some and sums to 1.

    ``seed`` and ``before``, the state that the last round began with, are (n,) by ordinal.
    """

    mass: Mapping[Node, float]
    rounds: int
    damping: float
    graph: Adjacency[Node]
    seed: Masses
    before: Masses

    def ledger(self, node: Node) -> Ledger[Node]:
        """Account for the mass of a node: what came to it in the last round, and from where."""
        graph = self.graph
        place = graph.ordinals.get(node)
        if place is None or node not in self.mass:
            return Ledger(0.0, 0.0, ())
        share = float(self.seed[place])
        if not self.rounds:
            return Ledger(share, 0.0, ())
        returned = float(self.before[graph.leaving == 0.0].sum())
        carried = sorted(
            [
                *self._carried(place, graph.targets, graph.sources),
                *self._carried(place, graph.sources, graph.targets),
            ],
            key=lambda each: each.edge,
        )
        return Ledger((1 - self.damping) * share, self.damping * returned * share, tuple(carried))

    def _carried(
        self, place: int, ends: NDArray[np.intp], others: NDArray[np.intp]
    ) -> list[Carried[Node]]:
        graph = self.graph
        edges = np.flatnonzero(ends == place)
        origins = others[edges]
        sent = self.before[origins] * graph.weights[edges] / graph.leaving[origins]
        columns = (graph.places[edges], origins, self.damping * sent)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [Carried(edge, graph.nodes[origin], mass) for edge, origin, mass in rows]


def ppr(
    seeds: Mapping[Node, float],
    edges: Iterable[WeightedEdge[Node]],
    damping: float = DAMPING,
    iterations: int = ITERATIONS,
    epsilon: float = EPSILON,
) -> Spread[Node]:
    """Spread the mass of seeds, by their shares, along undirected edges.

    ``p = (1 - d) * seed + d * (W.T @ p + dangling * seed)``, from the seeds on, until the L1 change
    is below ``epsilon`` or the rounds are used up. Parallel edges sum. Without a positive seed
    there is nothing to spread.
    """
    graph = _graph_of([node for node, share in seeds.items() if share > 0.0], list(edges))
    seed = np.array([max(0.0, seeds.get(node, 0.0)) for node in graph.nodes], dtype=np.float64)
    if not seed.any():
        return Spread({}, 0, damping, graph, seed, seed)
    seed /= seed.sum()
    incoming, is_dangling = _transition(graph), graph.leaving == 0.0
    mass, before, rounds = seed, seed, 0
    while rounds < iterations:
        rounds += 1
        before = mass
        returned = before[is_dangling].sum()
        mass = (1 - damping) * seed + damping * (incoming @ before + returned * seed)
        if np.abs(mass - before).sum() < epsilon:
            break
    pairs = zip(graph.nodes, mass.tolist(), strict=True)
    reached = {node: value for node, value in pairs if value > 0.0}
    return Spread(reached, rounds, damping, graph, seed, before)


def _graph_of(seeds: Sequence[Node], edges: Sequence[WeightedEdge[Node]]) -> Adjacency[Node]:
    counting = [
        (place, edge)
        for place, edge in enumerate(edges)
        if edge.weight > 0.0 and edge.source != edge.target
    ]
    ends = [end for _, edge in counting for end in (edge.source, edge.target)]
    nodes = tuple(dict.fromkeys([*seeds, *ends]))
    ordinal = {node: place for place, node in enumerate(nodes)}
    return Adjacency(
        nodes,
        np.array([ordinal[edge.source] for _, edge in counting], dtype=np.intp),
        np.array([ordinal[edge.target] for _, edge in counting], dtype=np.intp),
        np.array([edge.weight for _, edge in counting], dtype=np.float64),
        np.array([place for place, _ in counting], dtype=np.intp),
    )


def _transition(graph: Adjacency[Node]) -> Any:
    """Return the sparse matrix (n, n) by which a state becomes what comes in along edges."""
    # Loaded at its first use, since it takes as long as most of a server's start.
    from scipy.sparse import csr_array  # type: ignore[import-untyped]  # noqa: PLC0415

    rows = np.concatenate([graph.targets, graph.sources])
    columns = np.concatenate([graph.sources, graph.targets])
    weights = np.concatenate([graph.weights, graph.weights])
    size = len(graph.nodes)
    return csr_array((weights / graph.leaving[columns], (rows, columns)), shape=(size, size))
