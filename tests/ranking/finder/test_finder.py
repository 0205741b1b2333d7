"""The pure steps of `finder`: seeds, slice, rollup, replicas."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.fragments import (
    CONTAINS,
    LINKS_TO,
    MENTIONS,
    Fragment,
    FragmentRelation,
    GraphSlice,
    SourceCard,
    chunk,
    entity,
    root,
)
from app.ranking.finder.find import find
from app.ranking.finder.options import DEFAULT_WEIGHTS, FinderOptions
from app.ranking.finder.replicas import collapsed
from app.ranking.finder.rollup import roll_up
from app.ranking.finder.seeds import fuse, near, strong
from app.ranking.finder.slicing import slice_around
from app.settings.finder import FINDER_OPTIONS, OTHER, WEIGHTS

Relation = FragmentRelation[Fragment]


def test_defaults_are_those_of_the_settings() -> None:
    values = {
        option.name: (int if option.is_whole else float)(option.default)
        for option in FINDER_OPTIONS
    }
    assert FinderOptions.of(values) == FinderOptions()
    assert {f"{WEIGHTS}{kind}" for kind in DEFAULT_WEIGHTS} <= set(values)


def test_options_override_one_by_one() -> None:
    options = FinderOptions.of({"damping": 0.3, f"{WEIGHTS}{MENTIONS}": 0.0})
    assert options.damping == 0.3
    assert options.seed_k == 60
    assert options.weight_of(MENTIONS) == 0.0
    assert options.weight_of(CONTAINS) == 1.0
    assert options.weight_of("SIMILAR_TO") == DEFAULT_WEIGHTS[OTHER]


def test_seeds_count_by_their_best_rank_in_each_list() -> None:
    seeds = fuse((["a", "b", "a"], ["b"]), rrf_k=60, seed_k=60)
    assert seeds.scores == {"a": 1 / 61, "b": 1 / 62 + 1 / 61}
    assert seeds.ranks == ({"a": 1, "b": 2}, {"b": 1})


def test_seeds_come_from_any_number_of_lists() -> None:
    assert fuse((["a"], ["a"], ["a"]), 60, 60).scores == {"a": pytest.approx(3 / 61)}
    assert fuse((list("abc"),), 60, seed_k=2).scores.keys() == {"a", "b"}


def test_a_distance_equal_to_the_maximum_is_kept() -> None:
    assert near([(1, 0.2), (2, 0.75), (3, 0.7500001)], 0.75) == [1, 2]


def test_weak_matches_by_words_are_no_seeds() -> None:
    assert strong([(1, 8.0), (2, 2.0), (3, 1.9)], 0.25) == [1, 2]
    assert strong([(1, 8.0), (2, 0.1)], 0.0) == [1, 2]
    assert strong([], 0.25) == []


def test_the_best_three_fragments_count_and_ties_go_by_id() -> None:
    finals = {1: 0.5, 2: 0.4, 3: 0.3, 4: 0.2, 5: 0.9, 6: 0.555}
    source_of = {1: "b", 2: "b", 3: "b", 4: "b", 5: None, 6: "a"}
    sources = roll_up(finals, source_of)
    assert [source.id for source in sources] == ["a", "b"]
    assert [source.score for source in sources] == pytest.approx([1.0, 1.0])
    assert sources[1].total == pytest.approx(0.5 + 0.1 * 0.4 + 0.05 * 0.3)
    assert [id_ for id_, _ in sources[1].fragments] == [1, 2, 3, 4]


@given(
    st.lists(st.integers(0, 9), max_size=8),
    st.lists(st.tuples(st.integers(0, 9), st.floats(0, 1)), max_size=8),
    st.lists(
        st.builds(
            FragmentRelation,
            st.integers(0, 9),
            st.sampled_from([CONTAINS, MENTIONS, LINKS_TO, "SIMILAR_TO"]),
            st.integers(0, 9),
            st.floats(0.5, 1),
        ),
        max_size=20,
    ),
)
def test_relations_boost_and_never_hide(
    full_text: list[int],
    vector: list[tuple[int, float]],
    relations: list[FragmentRelation[int]],
) -> None:
    """Every seed with a source is in the answer, whatever its relations."""
    source_of = {id_: f"s{id_}" for id_ in range(8)}
    nearest = sorted(vector, key=lambda each: each[1])
    found = find(full_text, nearest, relations, source_of, FinderOptions())
    seeds = set(full_text) | {id_ for id_, distance in nearest if distance <= 0.75}
    assert {source.id for source in found.sources} >= {f"s{id_}" for id_ in seeds if id_ < 8}
    assert all(0 < source.score <= 1 for source in found.sources)


def related(source: Fragment, kind: str, target: Fragment, share: float = 1.0) -> Relation:
    return FragmentRelation(source, kind, target, share)


def sliced(
    graph: Sequence[Relation], seeds: Sequence[Fragment], options: FinderOptions
) -> tuple[GraphSlice, int]:
    """The slice of a graph that is held in memory, and how often relations were asked for."""
    walk = slice_around(seeds, options)
    need, asked = next(walk), 0
    while True:
        asked += 1
        wanted = set(need.fragments)
        join = all if need.is_inner else any
        found = [
            each for each in graph if join(end in wanted for end in (each.source, each.target))
        ]
        try:
            need = walk.send(GraphSlice(tuple(found), {}))
        except StopIteration as finished:
            return finished.value, asked


CHAIN = [related(root(number), LINKS_TO, root(number + 1)) for number in range(1, 6)]


@pytest.mark.parametrize(("hops", "reached"), [(0, 0), (1, 1), (2, 2), (4, 4)])
def test_the_slice_reaches_so_many_hops(hops: int, reached: int) -> None:
    around, asked = sliced(CHAIN, [root(1)], FinderOptions(graph_hops=hops))
    assert list(around.relations) == CHAIN[:reached]
    assert asked == hops + 1


def test_relations_between_two_outermost_fragments_are_in() -> None:
    between = related(root(2), "SIMILAR_TO", root(3))
    beyond = related(root(3), LINKS_TO, root(4))
    graph = [related(root(1), LINKS_TO, root(2)), related(root(1), LINKS_TO, root(3)), between]
    around, _ = sliced([*graph, beyond], [root(1)], FinderOptions(graph_hops=1))
    assert list(around.relations) == graph


def test_the_nearest_come_first_then_by_kind_and_ids() -> None:
    first = [
        related(root(1), CONTAINS, chunk(9)),
        related(root(1), MENTIONS, entity(5)),
        related(root(1), LINKS_TO, root(2)),
        related(root(1), LINKS_TO, root(3)),
        related(root(1), "EXTENDS", root(2)),
    ]
    second = [related(root(2), CONTAINS, chunk(1)), related(root(2), LINKS_TO, root(7))]
    graph = [*reversed(first), *reversed(second)]
    around, _ = sliced(graph, [root(1)], FinderOptions())
    assert list(around.relations) == first + second
    for limit in range(len(graph)):
        cut, _ = sliced(graph, [root(1)], FinderOptions(graph_relation_limit=limit))
        assert list(cut.relations) == (first + second)[:limit]


def test_a_hub_gives_its_most_first_to_seeds_then_by_id() -> None:
    hub = entity(1)
    graph = [related(root(number), MENTIONS, hub) for number in range(1, 50)]
    options = FinderOptions(max_entity_degree=5)
    around, _ = sliced(graph, [root(40), root(30)], options)
    taken = sorted(each.source.id for each in around.relations)
    assert taken == [1, 2, 3, 30, 40]


def test_kinds_without_weight_lead_nowhere() -> None:
    options = FinderOptions.of({f"{WEIGHTS}{LINKS_TO}": 0.0})
    around, _ = sliced(CHAIN, [root(1)], options)
    assert around.relations == ()


def card(note_id: int, digest: str | None, conversation_id: str | None = "c") -> SourceCard:
    return SourceCard(note_id, f"note {note_id}", "done", conversation_id, digest)


def test_notes_of_the_same_content_collapse_into_the_best() -> None:
    finals = {root(number): 1.0 / number for number in range(1, 7)}
    sources = roll_up(finals, {each: each.id for each in finals})
    digests = {1: "x", 2: None, 3: "x", 4: None, 5: "x"}
    cards = {id_: card(id_, digest) for id_, digest in digests.items()}
    shown = collapsed(sources, cards | {2: card(2, "y", None)})
    assert [each.card.note_id for each in shown] == [1, 4]
    assert [replica.note_id for _, replica in shown[0].replicas] == [3, 5]
