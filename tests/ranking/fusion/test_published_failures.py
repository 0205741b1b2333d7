"""The failures that the method was published with, each of which an earlier rule produced."""

import numpy as np
import pytest

from app.ranking.fusion.aggregation import aggregate
from tests.ranking.fusion.sets import Shelf, asked, facts, order, ranked, row_of, run

WRONG_NOTES = range(2, 40)


def test_a_note_of_33_chunks_stays_near_its_best() -> None:
    """A harmonic sum made 0.909 of a best chunk of 0.662."""
    others = [0.662 - 0.01 * place for place in range(1, 33)]
    harmonic = sum(score / place for place, score in enumerate([0.662, *others], start=1))
    assert harmonic > 0.909
    assert 0.662 < aggregate([0.662, *others]) < 0.662 * 1.15


@pytest.mark.parametrize("chunks", [2, 33, 500])
def test_a_good_match_in_a_long_note_loses_to_a_better_one_in_a_short_note(chunks: int) -> None:
    long, short = aggregate([0.75] * chunks), aggregate([0.90])
    assert long < short
    assert order(ranked([(1, long), (2, short)])) == [2, 1]


def test_many_matches_win_where_the_best_ones_are_about_equal() -> None:
    """The counterpart: here the long note is right."""
    many, one = aggregate([0.70, 0.68, 0.66, 0.65, 0.64]), aggregate([0.72])
    assert order(ranked([(1, one), (2, many)])) == [2, 1]


@pytest.mark.parametrize(
    ("relevance", "rest", "winner"),
    [(0.8844, (0.40, 0.30), 1), (0.8747, (0.52, 0.518, 0.515, 0.51), 0)],
    ids=["near-tie-above-a-gap-wins", "distractor-in-a-dense-set-loses"],
)
def test_the_gaps_of_the_set_decide_what_a_recent_note_may_overtake(
    relevance: float, rest: tuple[float, ...], winner: int
) -> None:
    semantic = [(0, 0.60), (1, 0.60 * relevance), *enumerate(rest, start=2)]
    rows = ranked(semantic, opened=[1])
    recent = row_of(rows, 1)
    assert recent.recency.relevance == pytest.approx(relevance)
    assert recent.recency.lifts
    assert recent.lift > 0
    assert rows[0].note_id == winner


def test_the_gate_looks_at_relevance_and_not_at_rank() -> None:
    strong = ranked([(note, 0.70 - 0.005 * note) for note in range(1, 21)], opened=[11])
    weak = ranked([(note, 0.70 - 0.03 * note) for note in range(1, 21)], opened=[10])
    at_11, at_10 = row_of(strong, 11), row_of(weak, 10)
    assert [each.blend.original_rank for each in (at_11, at_10)] == [11, 10]
    assert at_11.recency.lifts
    assert at_11.score > at_11.base
    assert at_10.recency.gated
    assert at_10.score == at_10.base


@pytest.mark.parametrize("words", [False, True], ids=["meaning", "meaning-and-words"])
def test_three_recently_opened_siblings_do_not_displace_the_answer(words: bool) -> None:
    semantic = [(1, 0.66), (2, 0.61), (3, 0.60), (4, 0.59), (5, 0.40), (6, 0.30)]
    lexical = [(1, 14.0), (2, 12.5), (3, 12.0), (4, 11.0), (5, 3.0)] if words else []
    rows = ranked(semantic, lexical, opened=[2, 3, 4])
    assert [row.recency.lifts for row in rows[1:4]] == [True] * 3
    assert rows[0].note_id == 1
    alone = ranked(semantic, lexical, opened=[2])
    assert row_of(alone, 2).lift > row_of(rows, 2).lift


def test_one_section_of_four_is_found_by_its_own_question() -> None:
    """Embedded whole, the note has a cosine of 0.200 to the question; its section has 0.492."""
    cosines = np.array([0.492, -0.031, -0.031, -0.030])
    sections = np.eye(5)[:4]
    question = np.append(cosines, np.sqrt(1 - cosines @ cosines))
    whole = sections.mean(axis=0) / np.linalg.norm(sections.mean(axis=0))
    assert whole @ question == pytest.approx(0.200, abs=5e-4)

    rivals = {note: (0.25 + 0.005 * note, note) for note in WRONG_NOTES}
    chunks = {100 + place: (float(cosine), 1) for place, cosine in enumerate(sections @ question)}
    notes = {note: facts(note) for note in (1, *WRONG_NOTES)}
    by_section, _ = run(Shelf(chunks | rivals, notes=notes), asked(limit=5))
    by_whole, _ = run(Shelf({100: (0.200, 1)} | rivals, notes=notes), asked(limit=5))
    assert by_section.hits[0].note.note_id == 1
    assert 1 not in [each.note.note_id for each in by_whole.hits]


@pytest.mark.parametrize("words", [False, True], ids=["meaning", "meaning-and-words"])
def test_narrow_bands_of_cosines_keep_their_order(words: bool) -> None:
    semantic = [(1, 0.42), (2, 0.418), (3, 0.416)]
    lexical = [(4, 9.0), (5, 4.0)] if words else []
    rows = ranked(semantic, lexical)
    values = [row.blend.semantic.normalised for row in rows if row.blend.semantic]
    assert [note for note in order(rows) if note <= 3] == [1, 2, 3]
    assert values[0] == 1
    assert values[0] > values[1] > values[2] > 0.98


NEAREST = (0.80, 0.766, 0.74, 0.71, 0.688)
DEEPEST = 2000


@pytest.mark.parametrize(("size", "percent"), [(5, 4.88), (50, 4.86), (500, 4.71), (DEEPEST, 4.25)])
def test_the_size_of_the_set_moves_the_margin_of_the_leader_little(
    size: int, percent: float
) -> None:
    """One library, of which ever more is retrieved: its worst note sets the floor."""
    tail = np.linspace(NEAREST[-1], 0.0, DEEPEST - len(NEAREST) + 1)[1:]
    semantic = list(enumerate((*NEAREST, *tail.tolist())))[:size]
    rows = ranked(semantic)
    assert len(rows) == size
    assert order(rows)[:2] == [0, 1]
    assert 100 * (rows[0].score - rows[1].score) / rows[0].score == pytest.approx(percent, abs=0.01)
