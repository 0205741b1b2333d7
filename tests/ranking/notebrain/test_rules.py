"""The rules of `notebrain`: caps, thresholds, merging, sections, boost."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.ranking.notebrain.boosted import boosted
from app.ranking.notebrain.matches import Caps, Match, best_matches, caps_of, distinct_topics
from app.ranking.notebrain.merging import merge
from app.ranking.notebrain.sections import hidden_behind
from app.ranking.notebrain.thresholds import border, is_kept

COSINES = st.sampled_from([-0.3, 0.0, 0.1, 0.45, 0.5, 0.595, 0.6, 0.699, 0.7, 0.8235, 0.9, 1.0])
PLACES = st.tuples(st.integers(1, 5), st.integers(0, 4))
TOPIC = st.dictionaries(PLACES, COSINES, max_size=15).map(
    lambda found: [Match(note_id, chunk, score) for (note_id, chunk), score in found.items()]
)
TOPICS = st.lists(TOPIC, max_size=4)


@pytest.mark.parametrize(
    ("limit", "per_note", "caps"),
    [
        (10, 3, (20, 6)),
        (1, 1, (20, 6)),
        (11, 4, (22, 8)),
        (50, 3, (100, 6)),
        (100, 50, (100, 100)),
        (0, 0, (20, 6)),
    ],
)
def test_caps(limit: int, per_note: int, caps: tuple[int, int]) -> None:
    assert caps_of(limit, per_note) == caps


@given(TOPIC, st.integers(0, 6), st.integers(1, 3))
def test_the_best_matches_keep_within_the_caps(found: list[Match], in_all: int, own: int) -> None:
    best = best_matches(found, Caps(in_all, own))
    assert len(best) <= in_all
    assert all(match.score > 0 for match in best)
    assert max((sum(m.note_id == n for m in best) for n in range(6)), default=0) <= own
    assert best == sorted(best, key=lambda match: (-match.score, match.note_id, match.chunk))
    left = [match for match in found if match not in best and match.score > 0]
    if len(best) < in_all:
        assert all(sum(m.note_id == match.note_id for m in best) == own for match in left)


@given(COSINES, COSINES)
def test_thresholds(score: float, best: float) -> None:
    if best >= 0.7:
        assert is_kept(score, best) == (score >= 0.7 or score >= 0.85 * best - 1e-9)
    else:
        assert is_kept(score, best) == (score >= best - 0.05 - 1e-9)
    assert is_kept(best, best)
    assert border(best) <= best


@given(TOPICS, st.integers(1, 3), st.randoms(use_true_random=False))
def test_the_order_of_matches_changes_nothing(
    topics: list[list[Match]], per_note: int, shuffle: random.Random
) -> None:
    found = [best_matches(topic, caps_of(10, per_note)) for topic in topics]
    shuffled = [shuffle.sample(topic, len(topic)) for topic in found]
    assert merge(shuffled, per_note) == merge(found, per_note)
    assert hidden_behind(shuffled, 10) == hidden_behind(found, 10)


@given(TOPICS, st.integers(1, 3))
def test_a_bridge_comes_before_every_stronger_match(
    topics: list[list[Match]], per_note: int
) -> None:
    merged = merge([best_matches(topic, caps_of(10, per_note)) for topic in topics], per_note)
    counts = [len(chunk.matched) for chunk in merged.chunks]
    assert counts == sorted(counts, reverse=True)
    for note in merged.notes:
        assert 1 <= len(note.chunks) <= per_note
        assert note.score == max(chunk.score for chunk in note.chunks)
        assert all(chunk.is_kept for chunk in note.chunks)
    if merged.chunks:
        assert merged.best == max(chunk.score for chunk in merged.chunks)
        assert merged.notes
    assert len({note.note_id for note in merged.notes}) == len(merged.notes)


@given(TOPICS)
def test_without_a_cut_no_chunk_is_below_it(topics: list[list[Match]]) -> None:
    found = [best_matches(topic, caps_of(10, 3)) for topic in topics]
    whole = merge(found, 50, cuts=False)
    assert sum(len(note.chunks) for note in whole.notes) == len(whole.chunks)


@given(TOPICS)
def test_shown_sections_are_some_of_the_matched(sections: list[list[Match]]) -> None:
    rows = hidden_behind([best_matches(each, caps_of(10, 3)) for each in sections], 10)
    for row in rows:
        assert set(row.shown) <= set(row.matched)
        assert row.score == max(each.score for each in row.matched)
        assert list(row.shown) == sorted(row.shown, key=lambda each: (-each.score, each.section))
    matched = [len(row.matched) for row in rows]
    assert matched == sorted(matched, reverse=True)


SIMS = st.dictionaries(st.integers(1, 8), COSINES, max_size=8)


@given(st.lists(SIMS, min_size=1, max_size=3), st.sets(st.integers(1, 8)), st.integers(0, 4))
def test_boosted_notes(topics: list[dict[int, float]], linked: set[int], limit: int) -> None:
    titles = dict.fromkeys(range(1, 9), "same")
    rows = boosted(topics, linked, titles, limit, 2.0)
    assert len(rows) <= limit
    for row in rows:
        assert row.cosine == max(topic[row.note_id] for topic in topics if row.note_id in topic)
        assert row.score == row.cosine * (2.0 if row.note_id in linked else 1.0)
        assert 0 <= row.passed <= len(topics)
    keys = [(-row.passed * (len(topics) > 1), -row.score, row.note_id) for row in rows]
    assert keys == sorted(keys)


def test_several_queries_count_before_the_boosted_score() -> None:
    topics = [{1: 0.9, 2: 0.72, 3: 0.1}, {1: 0.1, 2: 0.71, 3: 0.8}]
    rows = boosted(topics, {1}, {1: "a", 2: "b", 3: "c"}, 3)
    assert [(row.note_id, row.passed) for row in rows] == [(2, 2), (1, 1), (3, 1)]
    assert rows[1].score == pytest.approx(1.35)


@pytest.mark.parametrize(
    ("queries", "topics"),
    [
        (["\ufeff a ", "a", "A"], ("a", "A")),
        (["\u3000", "b", "", "a", "b "], ("b", "a")),
        ([], ()),
    ],
)
def test_topics_are_trimmed_and_distinct(queries: list[str], topics: tuple[str, ...]) -> None:
    assert distinct_topics(queries) == topics
