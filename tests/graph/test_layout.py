"""The layout: the same graph at the same places, all within the frame, neighbours nearer."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.graph.common_tags import MOST_SHARERS, tag_edges
from app.graph.layout import EXACT_NODES, layout
from app.graph.walk import Pair


def ring(size: int, start: int = 0) -> list[Pair]:
    return [(start + place, start + (place + 1) % size) for place in range(size)]


@given(
    st.integers(0, 12).flatmap(
        lambda count: st.tuples(
            st.just(count),
            st.lists(st.tuples(*[st.integers(0, max(0, count - 1))] * 2), max_size=20)
            if count
            else st.just([]),
        )
    )
)
def test_every_node_lies_within_the_frame(graph: tuple[int, list[Pair]]) -> None:
    count, edges = graph
    places = layout(count, edges)
    assert len(places) == count
    assert all(-1 <= x <= 1 and -1 <= y <= 1 for x, y in places)
    assert all(math.isfinite(x) and math.isfinite(y) for x, y in places)
    assert len(set(places)) == count


@pytest.mark.parametrize("count", [2, 40, EXACT_NODES + 50])
def test_order_and_direction_of_edges_do_not_matter(count: int) -> None:
    edges = ring(count) + [(0, place) for place in range(0, count, 7)]
    turned = [(target, source) for source, target in edges]
    random.Random(1).shuffle(turned)
    assert layout(count, turned + turned[:3]) == layout(count, edges)


@pytest.mark.parametrize("size", [12, EXACT_NODES])
def test_parts_without_an_edge_between_them_lie_apart(size: int) -> None:
    places = layout(2 * size, ring(size) + ring(size, size))
    inside = sum(math.dist(places[one], places[other]) for one, other in ring(size)) / size
    across = sum(math.dist(places[one], places[one + size]) for one in range(size)) / size
    assert inside < across


def test_tag_edges_carry_the_share_of_common_tags() -> None:
    tags = {3: ("a", "b"), 1: ("a", "c"), 2: ("d",), 4: ("a", "b"), 5: ()}
    assert tag_edges(tags) == [(1, 3, 1 / 3), (1, 4, 1 / 3), (3, 4, 1.0)]


def test_a_tag_of_very_many_notes_joins_nothing() -> None:
    few = dict.fromkeys(range(MOST_SHARERS), ("common",))
    assert len(tag_edges(few)) == MOST_SHARERS * (MOST_SHARERS - 1) // 2
    assert tag_edges({**few, MOST_SHARERS: ("common", "own")}) == []
