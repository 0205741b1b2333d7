"""The whole run: what it asks for, which notes it weighs, what it leaves out, what it records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.chunks import KIND_CHUNK, KIND_FIELD, KIND_WHOLE
from app.domain.notes import STATUS_PENDING
from app.ranking.hybrid.ranker import CUT_SHARE
from app.ranking.run import (
    Coverage,
    LexicalHits,
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
    Shelf,
    asked,
    facts,
    hit,
    order,
    run,
    shelves,
)

CUT = CUT_SHARE * BORDER

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
    ]


def test_chunks_are_measured_only_for_want_of_companions() -> None:
    _, needs = run(companions({1: 0.5, 2: 0.4}), asked())
    assert NoteCosines(KIND_FIELD, (1, 2)) in needs
    assert not [need for need in needs if isinstance(need, NoteCosines) and need.kind == KIND_CHUNK]


def test_the_best_come_first() -> None:
    ranking, _ = run(SHELF, asked())
    scores = {each.note.note_id: each.score for each in ranking.hits}
    assert list(scores) == [1, 3, 2, 4]
    assert scores == pytest.approx(
        {1: 0.9 / 1.2, 3: 0.8 / 1.2, 2: (0.6 + 0.2 * 0.5 * 0.5) / 1.2, 4: 0.5 * 0.9}
    )


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
    exact = CUT * 1.2
    shelf = companions({1: 0.9, 2: exact, 3: exact - 1e-9, 4: -0.2})
    ranking, _ = run(shelf, asked(cut=cut))
    assert order(ranking) == ([1, 2] if cut else [1, 2, 3, 4])
    explained = ranking.record.explain()
    assert explained["cut"] == (CUT if cut else None)
    assert [row["is_under_the_cut"] for row in explained["rows"]] == [False, False, cut, cut]
    assert explained["beyond_limit"] == []


def test_a_query_without_an_answer_returns_nothing() -> None:
    ranking, _ = run(companions({1: 0.3, 2: 0.2}), asked())
    assert ranking.hits == ()
    assert len(ranking.record.explain()["rows"]) == 2


def test_the_cut_lies_on_the_scale_of_the_space() -> None:
    shelf = companions({1: 0.6})
    question = asked()
    assert order(run(shelf, question)[0]) == [1]
    assert order(run(shelf, replace(question, border=0.7))[0]) == []


def test_words_alone_are_not_cut() -> None:
    """Without a single meaning the provider failed; there is no other evidence to prefer."""
    shelf = Shelf(
        notes={1: facts(1), 2: facts(2)}, hits=[hit(1, 1.0), hit(2, 9.0)], coverage={1: 0.1}
    )
    ranking, _ = run(shelf, asked())
    assert [(each.note.note_id, each.score) for each in ranking.hits] == [
        (2, BORDER), (1, pytest.approx(BORDER / 90)),
    ]  # fmt: skip
    assert ranking.record.explain()["cut"] is None


@pytest.mark.parametrize(
    ("coverage", "found"), [(1.0, [1, 4]), (0.83, [1, 4]), (0.8, [1])], ids=["all", "most", "some"]
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
    assert (row["meaning"], row["whole"], row["score"]) == (None, None, 0.45)


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
    "returned": (asked(), 1, 1, ("order", "returned"), "place 1: score 0.750 of meaning 0.900 and"
                 " words 0.000 × coverage 1.000"),
    "by its chunk": (asked(), 3, 2, ("order", "returned"), "meaning 0.800 (of its best chunk) and"),
    "by words": (asked(), 4, None, ("order", "returned"), "place 4: score 0.450 of meaning none and"
                 " words 1.000 × coverage 0.900"),
    "other script": (asked(query="预写日志"), 1, 1, ("order", "returned"), "score 0.900 of meaning"
                     " 0.900 and words left out, the note is in another script"),
    "beyond": (asked(limit=2), 2, 3, ("order", "beyond_limit"), "place 3, the limit is 2: score"),
    "below the cut": (asked(), 7, 4, ("cut", "below_cut"), "is under the cut of 0.410"),
    "below it and beyond": (asked(limit=1), 7, 4, ("cut", "below_cut"), "score 0.250 of meaning"),
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


def explained(ranking: Ranking) -> dict[str, Any]:
    """The record after a journey through JSON."""
    told: dict[str, Any] = json.loads(json.dumps(ranking.record.explain(), allow_nan=False))
    return told


@given(shelf=shelves(), question=QUESTIONS)
def test_the_explained_numbers_add_up(shelf: Shelf, question: Question) -> None:
    ranking, _ = run(shelf, question)
    told = explained(ranking)
    shares, weight = told["shares"], told["words_weight"]
    for place, row in enumerate(told["rows"], start=1):
        assert row["place"] == place
        fields = row["fields"]
        parts = [
            (shares["whole"], row["whole"]),
            (shares["best_field"], max(fields.values(), default=None)),
            (shares["title"], fields.get("0")),
        ]
        known = [(share, cosine) for share, cosine in parts if cosine is not None]
        meaning = row["chunk"]
        if known:
            total = sum(share for share, _ in known)
            meaning = sum(share * cosine for share, cosine in known) / total
        assert row["meaning"] == (None if meaning is None else pytest.approx(meaning))
        words = row["words"] * row["coverage"]
        if meaning is None:
            assert row["score"] == pytest.approx(told["border"] * words)
        elif row["counts_words"]:
            assert row["score"] == pytest.approx((meaning + weight * words) / (1 + weight))
        else:
            assert row["score"] == row["meaning"]


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
        assert (rule == "below_cut") == (note_id in rows and rows[note_id]["is_under_the_cut"])
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
