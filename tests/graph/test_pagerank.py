"""Personalised PageRank: what holds for every graph, and the account of the last round."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.graph.pagerank import Spread, WeightedEdge, ppr

Edges = list[WeightedEdge[int]]
Seeds = dict[int, float]

NODES = st.integers(0, 11)
WEIGHTS = st.floats(0.01, 5)
EDGES = st.lists(st.builds(WeightedEdge, NODES, NODES, WEIGHTS), max_size=30)
SEEDS = st.dictionaries(NODES, st.floats(0.001, 2), min_size=1, max_size=6)
DAMPINGS = st.sampled_from([0.0, 0.2, 0.5, 0.85])


def near(mass: dict[int, float] | Spread[int], tolerance: float = 1e-12) -> object:
    values = mass.mass if isinstance(mass, Spread) else mass
    return pytest.approx(dict(values), abs=tolerance)


@given(SEEDS, EDGES, DAMPINGS, st.integers(0, 20))
def test_a_seed_keeps_its_part_and_all_sums_to_one(
    seeds: Seeds, edges: Edges, damping: float, iterations: int
) -> None:
    mass = ppr(seeds, edges, damping, iterations).mass
    total = sum(seeds.values())
    assert sum(mass.values()) == pytest.approx(1.0, abs=1e-12)
    for node, share in seeds.items():
        assert mass[node] >= (1 - damping) * share / total - 1e-12


@given(SEEDS, EDGES)
def test_parts_that_no_seed_is_joined_to_get_nothing(seeds: Seeds, edges: Edges) -> None:
    apart = [WeightedEdge(edge.source + 100, edge.target + 100, edge.weight) for edge in edges]
    with_them = ppr(seeds, [*edges, *apart])
    assert with_them.mass == near(ppr(seeds, edges))


@given(SEEDS, EDGES, st.data())
def test_parallel_edges_sum(seeds: Seeds, edges: Edges, data: st.DataObject) -> None:
    shares = [data.draw(st.floats(0.1, 0.9)) for _ in edges]
    halves = [
        WeightedEdge(edge.target, edge.source, edge.weight * part)
        for edge, share in zip(edges, shares, strict=True)
        for part in (share, 1 - share)
    ]
    assert ppr(seeds, halves).mass == near(ppr(seeds, edges), 1e-9)


@given(SEEDS, EDGES, st.lists(st.builds(lambda node: WeightedEdge(node, node, 3.0), NODES)))
def test_edges_to_the_own_node_vanish(seeds: Seeds, edges: Edges, own: Edges) -> None:
    without = [edge for edge in edges if edge.source != edge.target]
    assert ppr(seeds, [*own, *edges]).mass == near(ppr(seeds, without))


@given(SEEDS, EDGES, st.permutations(range(12)))
def test_relabelling_nodes_changes_nothing(seeds: Seeds, edges: Edges, names: list[int]) -> None:
    named = [WeightedEdge(names[each.source], names[each.target], each.weight) for each in edges]
    mass = ppr({names[node]: share for node, share in seeds.items()}, named).mass
    expected = {names[node]: value for node, value in ppr(seeds, edges).mass.items()}
    assert mass == near(expected)


@given(SEEDS, EDGES, DAMPINGS, st.integers(0, 12))
def test_the_ledger_of_the_last_round_sums_to_the_mass(
    seeds: Seeds, edges: Edges, damping: float, iterations: int
) -> None:
    spread = ppr(seeds, edges, damping, iterations)
    for node, mass in spread.mass.items():
        ledger = spread.ledger(node)
        assert ledger.mass == pytest.approx(mass, abs=1e-12)
        assert all(node in edges[each.edge][:2] for each in ledger.carried)


def test_edges_without_weight_do_not_count() -> None:
    edges = [WeightedEdge(1, 2, 0.0), WeightedEdge(1, 3, -1.0)]
    assert ppr({1: 1.0}, edges).mass == {1: 1.0}


def test_it_stops_when_a_round_changes_little() -> None:
    edges = [WeightedEdge(1, 2, 1.0)]
    assert ppr({1: 1.0}, edges, iterations=100, epsilon=1e-3).rounds < 15
    assert ppr({1: 1.0}, edges, iterations=100, epsilon=0.0).rounds == 100


@pytest.mark.parametrize("seeds", [{}, {1: 0.0}], ids=["none", "worthless"])
def test_without_a_seed_there_is_no_mass(seeds: Seeds) -> None:
    spread = ppr(seeds, [WeightedEdge(1, 2, 1.0)])
    assert spread.mass == {}
    assert spread.ledger(1).mass == 0.0
