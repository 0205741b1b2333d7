"""The whole run: what it asks for, which notes it weighs, what it leaves out, what it records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.chunks import KIND_CHUNK, KIND_FIELD, KIND_WHOLE, SECOND_FIELD, SECOND_WHOLE
from app.domain.notes import STATUS_PENDING
from app.ranking.hybrid.cut import COVERAGE_WEIGHT, MARGIN, SHARE_OF_BEST
from app.ranking.run import (
    Coverage,
    LexicalHits,
    Likeness,
    NearestNotes,
    NoteCards,
    NoteCosines,
    Question,
    Ranking,
    Together,
)
from tests.ranking.hybrid.sets import (
    BORDER,
    QUESTIONS,
    SECOND_BORDER,
    Shelf,
    asked,
    facts,
    hit,
    order,
    run,
    shelves,
)

SHELF = Shelf(
    notes={
        1: facts(1),
        2: facts(2),
        3: facts(3),
        4: facts(4, status=STATUS_PENDING),
        5: facts(5, status=STATUS_PENDING),
        6: facts(6, conversation=None),
        7: facts(7),
    },
    whole={1: {0: 0.9}, 2: {0: 0.6}, 4: {0: 0.95}, 5: {0: 0.99}, 6: {0: 0.7}, 8: {0: 0.8}},
    fields={1: {0: 0.9, 1: 0.5}, 2: {0: 0.6}, 7: {1: 0.3}},
    chunks={1: {0: 1.0}, 3: {0: 0.4, 1: 0.8}},
    hits=[hit(4, 8.0), hit(2, 4.0), hit(6, 16.0)],
    coverage={4: 0.9, 2: 0.5},
)
"""By meaning 1 and 2, by its best chunk 3, badly 7; 4 waits but has words, 5 waits, 6 is orphaned,
8 has no row."""


def companions(cosines: Mapping[int, float]) -> Shelf:
    """Notes that are known by the vector of the whole alone."""
    return Shelf(
        notes={note: facts(note) for note in cosines},
        whole={note: {0: cosine} for note, cosine in cosines.items()},
    )


def row_of(ranking: Ranking, note_id: int) -> dict[str, Any]:
    rows = ranking.record.explain()["rows"]
    found: dict[str, Any] = next(row for row in rows if row["note_id"] == note_id)
    return found


def test_what_it_asks_for_and_in_which_order() -> None:
    _, needs = run(SHELF, asked(limit=3))
    ids = (5, 4, 1, 8, 6, 2, 7, 3)
    assert needs == [
        Together(
            (
                NearestNotes(KIND_WHOLE, 30),
                NearestNotes(KIND_FIELD, 90),
                NearestNotes(KIND_CHUNK, 90),
                LexicalHits(30),
            )
        ),
        NoteCards(ids),
        NoteCosines(KIND_WHOLE, (1, 2, 7, 3)),
        NoteCosines(KIND_FIELD, (1, 2, 7, 3)),
        NoteCosines(KIND_CHUNK, (3,)),
        Coverage((4, 1, 2, 7, 3)),
        Likeness(KIND_WHOLE, 1, (1, 2, 7, 3)),
    ]


def test_the_second_model_is_asked_where_it_may_be() -> None:
    _, plain = run(SHELF, asked(limit=3))
    shelf = replace(SHELF, second_whole={1: {0: 0.9}}, second_fields={2: {0: 0.1}, 9: {0: 0.9}})
    _, needs = run(shelf, asked(limit=3, second_border=SECOND_BORDER))
    sources = needs[0]
    assert isinstance(sources, Together)
    assert sources.needs[3:5] == (NearestNotes(SECOND_WHOLE, 30), NearestNotes(SECOND_FIELD, 90))
    assert needs[1] == NoteCards((5, 4, 1, 8, 6, 2, 7, 3, 9))
    beside = [
        NoteCosines(SECOND_WHOLE, (1, 2, 7, 3)),
        NoteCosines(SECOND_FIELD, (1, 2, 7, 3)),
        Likeness(SECOND_WHOLE, 1, (1, 2, 7, 3)),
    ]
    assert [need for need in needs[2:] if need not in beside] == plain[2:]
    assert all(need in needs for need in beside)


def test_chunks_are_measured_only_for_want_of_companions() -> None:
    _, needs = run(companions({1: 0.5, 2: 0.4}), asked())
    assert NoteCosines(KIND_FIELD, (1, 2)) in needs
    assert not [need for need in needs if isinstance(need, NoteCosines) and need.kind == KIND_CHUNK]


def test_the_chunks_of_a_body_compete_with_the_fields() -> None:
    """One section of a long note may answer a query that the note as a whole does not."""
    notes = {1: facts(1, has_body=True), 2: facts(2)}
    cosines = {note: {0: 0.2} for note in notes}
    shelf = Shelf(notes, whole=cosines, fields=cosines, chunks={1: {3: 0.7}, 2: {3: 0.7}})
    ranking, needs = run(shelf, asked(cut=False))
    assert NoteCosines(KIND_CHUNK, (1,)) in needs
    assert [row_of(ranking, note)["meaning"] for note in notes] == (pytest.approx([0.9 * 0.7, 0.2]))
    weaker = replace(shelf, chunks={1: {3: 0.3}})
    assert row_of(run(weaker, asked(cut=False))[0], 1)["meaning"] == pytest.approx(0.9 * 0.3)
    nearer = replace(weaker, whole={1: {0: 0.4}, 2: {0: 0.2}})
    assert row_of(run(nearer, asked(cut=False))[0], 1)["meaning"] == pytest.approx(
        0.4 * 0.4 + 0.4 * 0.3 + 0.2 * 0.2
    )


def test_a_section_speaks_for_itself_whatever_the_second_model_says_of_the_note() -> None:
    """The published case: a whole note at 0.200, one of its sections at 0.492."""
    shelf = Shelf(
        {1: facts(1, has_body=True), 2: facts(2)},
        whole={1: {0: 0.2}, 2: {0: 0.35}},
        chunks={1: {0: 0.2, 1: 0.492, 2: 0.1, 3: 0.1}},
        second_whole={1: {0: 0.1}, 2: {0: 0.35}},
    )
    for second_border in (None, SECOND_BORDER):
        ranking, _ = run(shelf, asked(cut=False, second_border=second_border))
        assert order(ranking) == [1, 2]
        assert row_of(ranking, 1)["meaning"] == pytest.approx(0.9 * 0.492)


def test_the_best_come_first() -> None:
    ranking, _ = run(SHELF, asked())
    scores = {each.note.note_id: each.score for each in ranking.hits}
    assert list(scores) == [1, 3, 2, 4]
    joined = {1: 0.9 / 1.2, 3: 0.8 / 1.2, 2: (0.6 + 0.2 * 0.5 * 0.5) / 1.2, 4: 0.5 * 0.9}
    liked = joined | {1: joined[1] + 0.1}
    assert scores == pytest.approx({note: score / 1.1 for note, score in liked.items()})


def test_equal_notes_stand_by_id() -> None:
    ranking, _ = run(companions({9: 0.6, 3: 0.6, 6: 0.6, 4: 0.7}), asked())
    assert order(ranking) == [4, 3, 6, 9]


@pytest.mark.parametrize("limit", [0, 1, 2, 4])
def test_the_limit_cuts_the_answer_and_not_the_record(limit: int) -> None:
    whole, _ = run(SHELF, asked())
    ranking = run(replace(SHELF), asked(limit=limit))[0]
    assert ranking.hits == (whole.hits[:limit] if limit else ())
    if limit:
        explained = ranking.record.explain()
        assert explained["beyond_limit"] == order(whole)[limit:]
        assert len(explained["rows"]) == 5


@pytest.mark.parametrize("cut", [True, False], ids=["cut", "no-cut"])
def test_what_lies_under_the_cut_is_left_out(cut: bool) -> None:
    """Nearly half as good as the best, likeness included, is good enough."""
    shelf = companions({1: 0.9, 2: 0.5, 3: 0.4, 4: -0.2})
    ranking, _ = run(shelf, asked(cut=cut))
    rows = ranking.record.explain()["rows"]
    best = (0.9 / 1.2 + 0.1) / 1.1
    assert [row["score"] for row in rows] == pytest.approx(
        [best, 0.5 / 1.2 / 1.1, 0.4 / 1.2 / 1.1, -0.2 / 1.2 / 1.1]
    )
    assert order(ranking) == ([1, 2] if cut else [1, 2, 3, 4])
    told = ranking.record.explain()["cut"]
    assert (told["least"] if told else None) == (
        pytest.approx(best * SHARE_OF_BEST) if cut else None
    )
    assert [row["is_under_the_cut"] for row in rows] == [False, False, cut, cut]
    assert ranking.record.explain()["beyond_limit"] == []


def without_words(cosines: Mapping[int, float]) -> Shelf:
    """The same of notes that hold nothing of the query."""
    return replace(companions(cosines), coverage=dict.fromkeys(cosines, 0.0))


def test_a_query_without_an_answer_returns_nothing() -> None:
    ranking, _ = run(without_words({1: 0.3, 2: 0.2}), asked())
    assert ranking.hits == ()
    assert len(ranking.record.explain()["rows"]) == 2


@pytest.mark.parametrize(
    ("coverage", "found"),
    [(0.0, []), (0.3, []), (0.4, [1, 2]), (1.0, [1, 2])],
    ids=["none", "some", "more", "all"],
)
def test_words_that_a_note_holds_are_evidence_of_an_answer(
    coverage: float, found: list[int]
) -> None:
    """Even when it is another note than the best by meaning: both speak of the subject."""
    shelf = replace(without_words({1: 0.4, 2: 0.3}), coverage={1: 0.0, 2: coverage})
    ranking, _ = run(shelf, asked())
    assert order(ranking) == found
    told = ranking.record.explain()["cut"]
    assert told["evidence"] == pytest.approx(0.4 + COVERAGE_WEIGHT * coverage)
    assert told["needed"] == pytest.approx(BORDER + MARGIN)
    assert told["has_answer"] == bool(found)


def test_the_cut_lies_on_the_scale_of_the_space() -> None:
    shelf = without_words({1: 0.6})
    question = asked()
    assert order(run(shelf, question)[0]) == [1]
    assert order(run(shelf, replace(question, border=0.7))[0]) == []


def test_a_best_note_below_zero_is_not_under_half_of_itself() -> None:
    """Words alone may answer a query that nothing is near to."""
    notes = {1: facts(1), 2: facts(2)}
    shelf = Shelf(notes, chunks={1: {0: -0.05}, 2: {0: -0.2}})
    ranking, _ = run(shelf, replace(asked(), border=0.2))
    assert order(ranking) == [1]
    assert ranking.record.explain()["cut"]["least"] == row_of(ranking, 1)["score"] < 0


def test_the_second_model_is_averaged_in() -> None:
    shelf = replace(
        companions({1: 0.9, 2: 0.6}),
        second_whole={1: {0: 0.3}, 2: {0: 0.8}},
        second_fields={2: {0: 0.4, 1: 0.6}},
        coverage={1: 0.0, 2: 0.0},
    )
    ranking, _ = run(shelf, asked(second_border=SECOND_BORDER))
    second = 0.4 * 0.8 + 0.4 * 0.6 + 0.2 * 0.4
    assert row_of(ranking, 1)["models"] == [0.9, 0.3]
    assert row_of(ranking, 2)["models"] == pytest.approx([0.6, second])
    assert row_of(ranking, 2)["meaning"] == pytest.approx((0.6 + second) / 2)
    assert row_of(ranking, 2)["second"] == {
        "whole": 0.8, "fields": {"0": 0.4, "1": 0.6}, "chunk": None,
    }  # fmt: skip
    assert order(ranking) == [2, 1]
    told = ranking.record.explain()
    assert told["ranker_variant"] == "hybrid+e5"
    assert told["border"] == (BORDER + SECOND_BORDER) / 2
    assert told["cut"]["needed"] == pytest.approx(told["border"] + MARGIN)


def test_without_the_second_model_its_vectors_play_no_part() -> None:
    shelf = companions({1: 0.9, 2: 0.6})
    beside = replace(shelf, second_whole={1: {0: 0.1}, 2: {0: 0.9}})
    one, other = (run(each, asked())[0] for each in (shelf, beside))
    assert explained(one) == explained(other)
    assert explained(one)["ranker_variant"] == "hybrid"
    assert "models" not in row_of(one, 1)


def test_it_helps_to_be_like_the_best_note() -> None:
    shelf = companions({1: 0.9, 2: 0.6, 3: 0.58, 4: 0.57})
    alike = {KIND_WHOLE: {(1, 3): 0.8, (1, 4): -0.5, (2, 4): 0.9}}
    ranking, _ = run(replace(shelf, alike=alike), asked(cut=False))
    assert order(ranking) == [1, 3, 2, 4]
    assert [row_of(ranking, note)["likeness"] for note in (1, 2, 3, 4)] == [1.0, 0.0, 0.8, -0.5]
    assert row_of(ranking, 3)["score"] == pytest.approx((0.58 / 1.2 + 0.1 * 0.8) / 1.1)
    # To be unlike it is no fault.
    assert row_of(ranking, 4)["score"] == pytest.approx(0.57 / 1.2 / 1.1)


def test_likeness_is_the_mean_of_both_models() -> None:
    both = {1: {0: 0.9}, 2: {0: 0.5}}
    shelf = Shelf(
        notes={note: facts(note) for note in both},
        whole=both,
        second_whole=both,
        alike={KIND_WHOLE: {(1, 2): 0.2}, SECOND_WHOLE: {(1, 2): 0.6}},
    )
    ranking, _ = run(shelf, asked(second_border=SECOND_BORDER))
    assert row_of(ranking, 2)["likeness"] == pytest.approx(0.4)


def test_words_alone_are_not_cut() -> None:
    """Without a single meaning the provider failed; there is no other evidence to prefer."""
    shelf = Shelf(
        notes={1: facts(1), 2: facts(2)}, hits=[hit(1, 1.0), hit(2, 9.0)], coverage={1: 0.1}
    )
    ranking, _ = run(shelf, asked())
    assert order(ranking) == [2, 1]
    assert [each.score for each in ranking.hits] == pytest.approx([BORDER / 1.1, BORDER / 90 / 1.1])
    assert ranking.record.explain()["cut"] is None


@pytest.mark.parametrize(
    ("coverage", "found"), [(1.0, [1, 4]), (0.78, [1, 4]), (0.75, [1])], ids=["all", "most", "some"]
)
def test_a_note_that_waits_to_be_embedded_is_found_by_its_words(
    coverage: float, found: list[int]
) -> None:
    shelf = Shelf(
        notes={1: facts(1), 4: facts(4, status=STATUS_PENDING)},
        whole={1: {0: 0.9}},
        hits=[hit(4, 3.0)],
        coverage={4: coverage},
    )
    assert order(run(shelf, asked())[0]) == found


def test_vectors_of_a_note_that_waits_say_nothing() -> None:
    """They may be of a text that is gone, as after a change of the model and back."""
    assert SHELF.whole[4] == {0: 0.95}
    row = row_of(run(SHELF, asked())[0], 4)
    assert (row["meaning"], row["whole"], row["joined"]) == (None, None, 0.45)
    assert row["likeness"] is None


def test_a_note_without_companions_speaks_by_its_best_chunk() -> None:
    row = row_of(run(SHELF, asked())[0], 3)
    assert (row["meaning"], row["whole"], row["fields"], row["chunk"]) == (0.8, None, {}, 0.8)
    assert row_of(run(SHELF, asked())[0], 1)["chunk"] is None


def test_refused_notes_are_told_with_the_reason() -> None:
    ranking, _ = run(SHELF, asked())
    assert ranking.record.explain()["refused"] == [
        {"note_id": 5, "reason": "status pending"},
        {"note_id": 6, "reason": "conversation deleted"},
    ]
    assert not {5, 6, 8} & set(order(run(SHELF, asked(cut=False))[0]))


def test_notes_that_may_not_be_found_play_no_part_even_in_the_scale() -> None:
    eligible = replace(
        SHELF,
        notes={note: each for note, each in SHELF.notes.items() if note not in (5, 6)},
        whole={note: each for note, each in SHELF.whole.items() if note not in (5, 6, 8)},
        hits=SHELF.hits[:2],
    )
    assert run(SHELF, asked())[0].hits == run(eligible, asked())[0].hits


def test_nothing_near_and_nothing_found() -> None:
    ranking, _ = run(Shelf(notes={}), asked())
    assert ranking.hits == ()
    explained = ranking.record.explain()
    assert (explained["rows"], explained["refused"], explained["cut"]) == ([], [], None)


DECISIONS: dict[str, tuple[Question, int, int | None, tuple[str, str], str]] = {
    "returned": (asked(), 1, 1, ("order", "returned"), "place 1: score 0.773 of meaning 0.900 and"
                 " words 0.000 × coverage 1.000, likeness 1.000 to the best"),
    "by its chunk": (asked(), 3, 2, ("order", "returned"), "meaning 0.800 (of its best chunk) and"),
    "by words": (asked(), 4, None, ("order", "returned"), "place 4: score 0.409 of meaning none and"
                 " words 1.000 × coverage 0.900"),
    "other script": (asked(query="预写日志"), 1, 1, ("order", "returned"), "score 0.909 of meaning"
                     " 0.900 and words left out, the note is in another script"),
    "beyond": (asked(limit=2), 2, 3, ("order", "beyond_limit"), "place 3, the limit is 2: score"),
    "below the cut": (asked(), 7, 4, ("cut", "below_cut"), "is under the cut of 0.348"),
    "below it and beyond": (asked(limit=1), 7, 4, ("cut", "below_cut"), "score 0.227 of meaning"),
    "no cut": (asked(cut=False), 7, 4, ("order", "returned"), "place 5"),
    "waits": (asked(), 5, None, ("eligibility", "note_not_eligible"), "status pending"),
    "orphan": (asked(), 6, None, ("eligibility", "note_not_eligible"), "conversation deleted"),
    "too far": (asked(), 9, 7, ("candidates", "not_reached"), "its best chunk has rank 7, and it is"
                " not among the 5 notes that were weighed"),
    "no vector": (asked(), 8, None, ("candidates", "not_reached"), "it has no vector, and"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("question", "note_id", "best_rank", "decision", "told"), DECISIONS.values(), ids=DECISIONS
)
def test_the_verdict_names_stage_rule_and_numbers(
    question: Question, note_id: int, best_rank: int | None, decision: tuple[str, str], told: str
) -> None:
    verdict = run(SHELF, question)[0].record.verdict(note_id, best_rank)
    assert (verdict.stage, verdict.rule) == decision
    assert told in verdict.message


def test_the_verdict_says_that_a_query_has_no_answer() -> None:
    verdict = run(without_words({1: 0.3, 2: 0.2}), asked())[0].record.verdict(2, 2)
    assert (verdict.stage, verdict.rule) == ("cut", "no_answer")
    assert verdict.message == (
        "the query has no answer: the nearest note has meaning 0.300, a note holds 0.000 of its "
        "words, together 0.300 of 0.545 needed; score 0.152 of meaning 0.200 and words 0.000 × "
        "coverage 0.000, likeness 0.000 to the best"
    )


def test_the_verdict_tells_what_either_model_says() -> None:
    shelf = replace(companions({1: 0.9}), second_whole={1: {0: 0.3}})
    verdict = run(shelf, asked(second_border=SECOND_BORDER))[0].record.verdict(1, 1)
    assert "of meaning 0.600 (0.900 and 0.300 by the two models) and" in verdict.message


def explained(ranking: Ranking) -> dict[str, Any]:
    """The record after a journey through JSON."""
    told: dict[str, Any] = json.loads(json.dumps(ranking.record.explain(), allow_nan=False))
    return told


@given(shelf=shelves(), question=QUESTIONS)
def test_the_explained_numbers_add_up(shelf: Shelf, question: Question) -> None:
    ranking, _ = run(shelf, question)
    told = explained(ranking)
    weight, liking = told["words_weight"], told["likeness_weight"]
    for place, row in enumerate(told["rows"], start=1):
        assert row["place"] == place
        models = [row] if question.second_border is None else [row, row["second"]]
        found = [meaning_of(model, told["shares"]) for model in models]
        known = [each for each in found if each is not None]
        meaning = sum(known) / len(known) if known else None
        if meaning is not None and row["chunk"] is not None and row["chunk"] > 0:
            meaning = max(meaning, told["section_share"] * row["chunk"])
        assert row["meaning"] == (None if meaning is None else pytest.approx(meaning))
        words = row["words"] * row["coverage"]
        if meaning is None:
            assert row["joined"] == pytest.approx(told["border"] * words)
        elif row["counts_words"]:
            assert row["joined"] == pytest.approx((meaning + weight * words) / (1 + weight))
        else:
            assert row["joined"] == row["meaning"]
        likeness = max(row["likeness"] or 0.0, 0.0)
        assert row["score"] == pytest.approx((row["joined"] + liking * likeness) / (1 + liking))


def meaning_of(model: Mapping[str, Any], shares: Mapping[str, float]) -> float | None:
    """What a model says, from its explained cosines."""
    pieces = [*model["fields"].values(), *([] if model["chunk"] is None else [model["chunk"]])]
    parts = [
        (shares["whole"], model["whole"]),
        (shares["best_field"], max(pieces, default=None)),
        (shares["title"], model["fields"].get("0")),
    ]
    known = [(share, cosine) for share, cosine in parts if cosine is not None]
    total = sum(share for share, _ in known)
    return sum(share * cosine for share, cosine in known) / total if known else None


@given(shelf=shelves(), question=QUESTIONS)
def test_the_explained_cut_adds_up(shelf: Shelf, question: Question) -> None:
    told = explained(run(shelf, question)[0])
    rows, cut = told["rows"], told["cut"]
    if cut is None:
        assert not question.cut or all(row["meaning"] is None for row in rows)
        return
    assert cut["meaning"] == max(row["meaning"] for row in rows if row["meaning"] is not None)
    assert cut["coverage"] == max(row["coverage"] for row in rows)
    assert cut["evidence"] == pytest.approx(cut["meaning"] + COVERAGE_WEIGHT * cut["coverage"])
    assert cut["needed"] == pytest.approx(told["border"] + MARGIN)
    best = rows[0]["score"]
    assert cut["least"] == min(best, SHARE_OF_BEST * best)
    for row in rows:
        is_kept = cut["evidence"] >= cut["needed"] and row["score"] >= cut["least"]
        assert row["is_under_the_cut"] != is_kept


@given(shelf=shelves(), question=QUESTIONS)
def test_the_verdict_fits_the_answer_for_every_note(shelf: Shelf, question: Question) -> None:
    ranking, _ = run(shelf, question)
    told = ranking.record.explain()
    rows = {row["note_id"]: row for row in told["rows"]}
    refused = {each["note_id"] for each in told["refused"]}
    assert not refused & set(rows)
    for note_id in shelf.notes:
        rule = ranking.record.verdict(note_id, 1).rule
        assert (rule == "returned") == (note_id in order(ranking))
        assert (rule == "beyond_limit") == (note_id in told["beyond_limit"])
        is_under = note_id in rows and rows[note_id]["is_under_the_cut"]
        assert (rule in ("below_cut", "no_answer")) == is_under
        has_answer = told["cut"] is None or told["cut"]["has_answer"]
        assert (rule == "no_answer") == (note_id in rows and not has_answer)
        assert (rule == "note_not_eligible") == (note_id in refused)
        assert (rule == "not_reached") == (note_id not in rows and note_id not in refused)


@given(shelf=shelves(), question=QUESTIONS)
def test_the_answer_is_the_head_of_the_record(shelf: Shelf, question: Question) -> None:
    ranking, _ = run(shelf, question)
    rows = ranking.record.explain()["rows"]
    keys = [(-row["score"], row["note_id"]) for row in rows]
    assert keys == sorted(keys)
    kept = [row for row in rows if not row["is_under_the_cut"]]
    assert order(ranking) == [row["note_id"] for row in kept[: question.limit]]
    assert [each.score for each in ranking.hits] == [row["score"] for row in kept[: question.limit]]
    assert {row["note_id"] for row in rows} <= set(shelf.notes)


@given(shelf=shelves(), question=QUESTIONS, data=st.data())
def test_the_order_in_which_evidence_comes_changes_nothing(
    shelf: Shelf, question: Question, data: st.DataObject
) -> None:
    shuffled = replace(shelf, shuffle=lambda items: data.draw(st.permutations(items)))
    one, other = (run(each, question)[0] for each in (shelf, shuffled))
    assert one.hits == other.hits
    assert explained(one) == explained(other)


@given(shelf=shelves(), question=QUESTIONS)
def test_a_run_repeats_itself(shelf: Shelf, question: Question) -> None:
    first, second = (run(shelf, question) for _ in range(2))
    assert first[1] == second[1]
    assert explained(first[0]) == explained(second[0])
