"""Walks along edges against a plain search, and the questions that are made of them."""

from __future__ import annotations

import random
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.graph.traverse import backlinks, connections, shared_tags
from app.graph.walk import BOTH, DIRECTIONS, IN, OUT, Pair, distances

IDS = st.sampled_from([0, 1, 2, 3, 4, 5, 6, 7, 10**17])
EDGES = st.lists(st.tuples(IDS, IDS), max_size=25)


def plain_distances(edges: list[Pair], seed: int, hops: int, direction: str) -> dict[int, int]:
    found = {seed: 0}
    queue = deque([seed])
    while queue:
        here = queue.popleft()
        for source, target in edges:
            ways = {OUT: [(source, target)], IN: [(target, source)]}
            for tail, head in ways.get(direction, [(source, target), (target, source)]):
                if tail == here and head not in found and found[here] < hops:
                    found[head] = found[here] + 1
                    queue.append(head)
    return {note_id: distance for note_id, distance in found.items() if distance}


@given(EDGES, IDS, st.integers(0, 5), st.sampled_from(DIRECTIONS))
def test_a_walk_finds_what_a_plain_search_finds(
    edges: list[Pair], seed: int, hops: int, direction: str
) -> None:
    assert distances(edges, seed, hops, direction) == plain_distances(edges, seed, hops, direction)


@given(EDGES, IDS, st.randoms(use_true_random=False))
def test_the_order_of_edges_changes_no_answer(
    edges: list[Pair], seed: int, shuffle: random.Random
) -> None:
    titles = {note_id: f"title {note_id % 3}" for note_id in {seed, *sum(edges, ())}}
    shuffled = list(edges)
    shuffle.shuffle(shuffled)
    for direction in DIRECTIONS:
        rows = connections(seed, edges, titles, 4, direction)
        assert connections(seed, shuffled, titles, 4, direction) == rows
        assert rows == sorted(rows, key=lambda row: (row.hops, titles[row.note_id], row.note_id))
    assert backlinks(seed, shuffled, titles) == backlinks(seed, edges, titles)


@given(EDGES, IDS)
def test_both_ways_reach_all_that_one_way_does(edges: list[Pair], seed: int) -> None:
    both = distances(edges, seed, 3, BOTH)
    for direction in (OUT, IN):
        for note_id, hops in distances(edges, seed, 3, direction).items():
            assert both[note_id] <= hops


def test_an_edge_to_a_note_that_is_gone_is_not_walked() -> None:
    assert connections(1, [(1, 2), (2, 3)], {1: "a", 3: "c"}, 3) == []


TAGS = st.dictionaries(IDS, st.frozensets(st.sampled_from("abcd")), min_size=1)


@given(TAGS, st.integers(-1, 4))
def test_shared_tags_are_those_of_both(tags: dict[int, frozenset[str]], minimum: int) -> None:
    seed = min(tags)
    titles = {note_id: "x" * (note_id % 2) for note_id in tags}
    rows = shared_tags(seed, tags, titles, minimum)
    wanted = {
        note_id: tuple(sorted(tags[seed] & names))
        for note_id, names in tags.items()
        if note_id != seed and len(tags[seed] & names) >= max(1, minimum)
    }
    assert {row.note_id: row.names for row in rows} == wanted
    assert [len(row.names) for row in rows] == sorted(map(len, wanted.values()), reverse=True)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_note_without_edges_reaches_nobody(direction: str) -> None:
    assert distances([], 5, 3, direction) == {}
    assert distances([(1, 2)], 5, 3, direction) == {}
