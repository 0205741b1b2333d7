"""What one note is worth: numbers worked out by hand, and what holds for all numbers."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.ranking.hybrid.scoring import Cosines, Measured, row_of
from tests.ranking.hybrid.sets import facts

ENGLISH, CHINESE = "write-ahead log", "预写日志"
BORDER = 0.6
EPSILON = 1e-12

cosines = st.floats(-1, 1)
shares = st.floats(0, 1)
titles = st.sampled_from([ENGLISH, CHINESE, "WAL 模式"])
queries = st.sampled_from([ENGLISH, CHINESE])
companions = st.builds(
    Cosines,
    whole=st.none() | cosines,
    fields=st.dictionaries(st.sampled_from([0, 1, 2]), cosines),
    chunk=st.none() | cosines,
)
stand_ins = st.builds(Cosines, whole=st.none(), fields=st.just({}), chunk=st.none() | cosines)


def measured(
    whole: float | None = None,
    fields: Mapping[int, float] | None = None,
    *,
    chunk: float | None = None,
    words: float = 0.0,
    coverage: float = 0.0,
    title: str = ENGLISH,
) -> Measured:
    return Measured(facts(1, title), Cosines(whole, fields or {}, chunk), words, coverage)


@pytest.mark.parametrize(
    ("found", "meaning"),
    [
        (measured(0.5, {0: 0.8, 1: 0.6, 2: 0.1}), 0.4 * 0.5 + 0.4 * 0.8 + 0.2 * 0.8),
        (measured(0.5, {0: 0.2, 1: 0.6, 2: 0.7}), 0.4 * 0.5 + 0.4 * 0.7 + 0.2 * 0.2),
        (measured(0.5, {1: 0.6}), (0.4 * 0.5 + 0.4 * 0.6) / 0.8),
        (measured(0.5), 0.5),
        (measured(None, {0: 0.3, 2: 0.6}), (0.4 * 0.6 + 0.2 * 0.3) / 0.6),
        (measured(None, {2: 0.6}), 0.6),
        (measured(chunk=0.7), 0.7),
        (measured(0.5, {0: 0.3}, chunk=0.52), 0.4 * 0.5 + 0.4 * 0.52 + 0.2 * 0.3),
        (measured(0.5, {0: 0.3}, chunk=0.7), 0.9 * 0.7),
        (measured(0.5, {0: 0.3}, chunk=0.2), 0.4 * 0.5 + 0.4 * 0.3 + 0.2 * 0.3),
        (measured(), None),
    ],
    ids=["all", "best is no title", "no title", "whole alone", "no whole", "one field",
         "best chunk", "a section is best", "a section alone", "no section is", "none"],
)  # fmt: skip
def test_a_part_without_a_vector_leaves_its_share_to_the_others(
    found: Measured, meaning: float | None
) -> None:
    assert row_of(found, ENGLISH, BORDER).meaning == pytest.approx(meaning)


@pytest.mark.parametrize(
    ("found", "query", "expected"),
    [
        (measured(0.6, words=1.0, coverage=1.0), ENGLISH, (0.6 + 0.2) / 1.2),
        (measured(0.6, words=0.5, coverage=0.5), ENGLISH, (0.6 + 0.05) / 1.2),
        (measured(0.6), ENGLISH, 0.6 / 1.2),
        (measured(0.6, title=CHINESE), ENGLISH, 0.6),
        (measured(0.6, words=0.1, coverage=0.1, title=CHINESE), ENGLISH, 0.6),
        (measured(0.6, words=1.0, coverage=1.0, title=CHINESE), ENGLISH, (0.6 + 0.2) / 1.2),
        (measured(0.6), CHINESE, 0.6),
        (measured(0.6, title=CHINESE), CHINESE, 0.6 / 1.2),
        (measured(words=0.5, coverage=0.8), ENGLISH, 0.4 * BORDER),
        (measured(words=0.5, coverage=0.8, title=CHINESE), ENGLISH, 0.4 * BORDER),
    ],
    ids=["all words", "some words", "no words", "other script", "other script, few words",
         "other script, all words", "Chinese query", "Chinese both", "words alone",
         "words alone, other script"],
)  # fmt: skip
def test_words_count_where_they_could_be_found(
    found: Measured, query: str, expected: float
) -> None:
    assert row_of(found, query, BORDER).joined == pytest.approx(expected)


@given(found=companions | stand_ins, words=shares, coverage=shares, title=titles, query=queries)
def test_a_score_lies_between_what_it_is_made_of(
    found: Cosines, words: float, coverage: float, title: str, query: str
) -> None:
    row = row_of(Measured(facts(1, title), found, words, coverage), query, BORDER)
    known = [
        each for each in (found.whole, *found.fields.values(), found.chunk) if each is not None
    ]
    assert (row.meaning is None) == (not known)
    by_words = words * coverage
    if row.meaning is None:
        assert row.joined == BORDER * by_words
        return
    assert min(known) - EPSILON <= row.meaning <= max(known) + EPSILON
    assert min(row.meaning, by_words) - EPSILON <= row.joined
    assert row.joined <= max(row.meaning, by_words) + EPSILON


@given(
    found=companions | stand_ins,
    words=st.tuples(shares, shares),
    coverage=st.tuples(shares, shares),
    title=titles,
    query=queries,
)
def test_more_words_never_make_a_note_worse(
    found: Cosines,
    words: tuple[float, float],
    coverage: tuple[float, float],
    title: str,
    query: str,
) -> None:
    fewer, more = (
        row_of(Measured(facts(1, title), found, share, covered), query, BORDER).score
        for share, covered in zip(sorted(words), sorted(coverage), strict=True)
    )
    assert fewer <= more


@given(
    found=companions,
    number=st.sampled_from([0, 1, 2, 3]),
    lift=st.floats(0, 1),
    words=shares,
    title=titles,
)
def test_a_nearer_vector_never_makes_a_note_worse(
    found: Cosines, number: int, lift: float, words: float, title: str
) -> None:
    nearer = found
    if number == 3 and found.whole is not None:
        nearer = found._replace(whole=found.whole + lift)
    elif number in found.fields:
        nearer = found._replace(fields={**found.fields, number: found.fields[number] + lift})
    scores = [
        row_of(Measured(facts(1, title), each, words, 1.0), ENGLISH, BORDER).score
        for each in (found, nearer)
    ]
    assert scores[0] <= scores[1] + EPSILON


@given(found=companions, words=shares, coverage=shares)
def test_a_note_in_another_script_is_not_punished(
    found: Cosines, words: float, coverage: float
) -> None:
    """It could not hold the words of the query, so that it holds few of them says nothing."""
    row = row_of(Measured(facts(1, CHINESE), found, words, coverage), ENGLISH, BORDER)
    assert row.joined >= (row.meaning if row.meaning is not None else 0.0)
    assert row.counts_words or row.joined == row.meaning


@given(first=companions | stand_ins, second=companions)
def test_the_meaning_of_two_models_is_the_mean_of_those_that_say_something(
    first: Cosines, second: Cosines
) -> None:
    row = row_of(Measured(facts(1), first, 0.0, 0.0, second), ENGLISH, BORDER)
    alone = [row_of(Measured(facts(1), each, 0.0, 0.0), ENGLISH, BORDER).first
             for each in (first, second)]  # fmt: skip
    assert [row.first, row.second] == alone
    known = [each for each in (row.first, row.second) if each is not None]
    mean = sum(known) / len(known) if known else None
    if mean is not None and first.chunk is not None and first.chunk > 0:
        mean = max(mean, 0.9 * first.chunk)
    assert row.meaning == (None if mean is None else pytest.approx(mean))


@given(found=companions, likeness=st.none() | cosines, words=shares)
def test_likeness_never_makes_a_note_worse_and_never_better_than_the_best(
    found: Cosines, likeness: float | None, words: float
) -> None:
    row = row_of(Measured(facts(1), found, words, 1.0), ENGLISH, BORDER)
    liked = row._replace(likeness=likeness)
    assert row.score <= liked.score <= row._replace(likeness=1.0).score
