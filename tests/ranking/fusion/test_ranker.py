"""The whole run: what it asks for, what takes part, and what its record says."""

import json
from dataclasses import replace

import pytest

from app.domain.evidence import NoteCard, NoteFacts
from app.domain.notes import STATUS_DONE, STATUS_PENDING
from app.ranking.run import (
    ChunkRows,
    LexicalHits,
    NearestChunks,
    NoteCards,
    Question,
    RecentOpens,
    Together,
)
from tests.ranking.fusion.sets import Shelf, asked, facts, hit, run

PENDING = NoteFacts(NoteCard(4, "Pending", STATUS_PENDING, "c"), ())
ORPHAN = NoteFacts(NoteCard(5, "Orphan", STATUS_DONE, None), ())
SHELF = Shelf(
    chunks={
        11: (0.60, 1),
        12: (0.55, 1),
        21: (0.58, 2),
        41: (0.99, 4),
        61: (0.90, 6),
    },
    hits=[
        hit(5, 90.0, 0.0, "wal"),
        hit(7, 80.0, 0.0, "wal"),
        hit(3, 12.0, 4.0, "wal", "mode"),
        hit(1, 0.0, 6.0, "wal"),
    ],
    notes={1: facts(1), 2: facts(2, "WAL mode", "wal"), 3: facts(3), 4: PENDING, 5: ORPHAN},
    opened=[2, 4],
)


def test_it_asks_for_ten_times_the_notes_wanted() -> None:
    _, needs = run(SHELF, asked(limit=3))
    assert needs == [
        Together((NearestChunks(30), LexicalHits(30))),
        ChunkRows((41, 61, 11, 21, 12)),
        NoteCards((5, 7, 3, 1, 2)),
        RecentOpens(20),
    ]


def test_it_asks_for_no_more_chunks_than_may_be_found() -> None:
    _, needs = run(SHELF, asked(limit=3, size=4))
    assert needs[0] == Together((NearestChunks(4), LexicalHits(30)))


def test_notes_that_may_not_be_found_play_no_part_even_in_the_scale() -> None:
    eligible = replace(
        SHELF,
        chunks={chunk: each for chunk, each in SHELF.chunks.items() if each[1] in (1, 2)},
        hits=SHELF.hits[2:],
    )
    ranking, _ = run(SHELF, asked())
    assert ranking.hits == run(eligible, asked())[0].hits
    assert {each.note.note_id for each in ranking.hits} == {1, 2, 3}


@pytest.mark.parametrize(
    ("shelf", "found"),
    [
        (replace(SHELF, chunks={}), [3, 1]),
        (replace(SHELF, hits=[], opened=[]), [1, 2]),
        (Shelf(), []),
    ],
    ids=["words-alone", "meaning-alone", "nothing"],
)
def test_either_source_may_be_empty(shelf: Shelf, found: list[int]) -> None:
    ranking, _ = run(shelf, asked())
    assert [each.note.note_id for each in ranking.hits] == found
    assert ranking.record.explain()["beyond_limit"] == []


def test_an_empty_index_is_asked_for_nothing() -> None:
    ranking, needs = run(replace(SHELF, chunks={}), asked(size=0))
    assert needs[0] == Together((NearestChunks(0), LexicalHits(100)))
    assert len(ranking.hits) == 2


@pytest.mark.parametrize("cut", [True, False], ids=["cut", "no-cut"])
def test_there_is_no_border_of_relevance(cut: bool) -> None:
    far = Shelf(chunks={1: (-0.5, 1), 2: (-0.9, 2)}, notes={1: facts(1), 2: facts(2)})
    ranking, _ = run(far, asked(cut=cut))
    assert [(each.note.note_id, each.score) for each in ranking.hits] == [(1, 0), (2, 0)]


def test_the_limit_cuts_the_answer_and_not_the_record() -> None:
    whole, _ = run(SHELF, asked(limit=3))
    cut, _ = run(SHELF, asked(limit=2))
    assert cut.hits == whole.hits[:2]
    assert cut.record.explain()["beyond_limit"] == [whole.hits[2].note.note_id]
    assert len(cut.record.explain()["rows"]) == 3


def test_equal_notes_by_meaning_stand_by_id_whatever_their_chunks() -> None:
    chunks = {1: (0.5, 9), 2: (0.5, 3), 3: (0.5, 6)}
    ranking, _ = run(Shelf(chunks, notes={note: facts(note) for note in (3, 6, 9)}), asked())
    assert [each.note.note_id for each in ranking.hits] == [3, 6, 9]


def test_the_explanation_holds_every_number_of_a_row() -> None:
    ranking, _ = run(SHELF, asked("wal mode"))
    explained = json.loads(json.dumps(ranking.record.explain(), allow_nan=False))
    rows = {row["note_id"]: row for row in explained["rows"]}
    assert [row["place"] for row in explained["rows"]] == [1, 2, 3]
    assert rows[1]["semantic"]["raw"] == pytest.approx(0.60 * (1 + 0.15 * (11 / 12) / (47 / 12)))
    assert rows[1]["semantic"] | {"raw": 0} == {
        "raw": 0,
        "rank": 1,
        "normalised": 1.0,
        "chunk_id": 11,
        "best_chunk": 0.60,
        "chunks": 2,
    }
    assert rows[1]["lexical"] == {
        "raw": 6.0,
        "rank": 2,
        "normalised": pytest.approx((6 - 0.9) / (12 - 0.9)),
        "identity": 0.0,
        "content": 6.0,
        "matched": ["wal"],
    }
    assert rows[2]["lexical"] is None
    assert rows[3]["semantic"] is None
    assert (rows[2]["title_match"], rows[2]["alias_match"]) == ("exact", None)
    assert (rows[2]["recent"], rows[2]["gated"], rows[2]["strength"]) == (True, False, 1.0)
    assert explained["recency"]["lifted"] == 1


@pytest.mark.parametrize("query", ["wal mode", "wal", "nothing of it"])
def test_the_explained_numbers_add_up(query: str) -> None:
    ranking, _ = run(SHELF, asked(query))
    for row, answered in zip(ranking.record.explain()["rows"], ranking.hits, strict=True):
        standings = [row[name] for name in ("semantic", "lexical")]
        values = [standing["normalised"] if standing else 0 for standing in standings]
        ranks = sum(1 / (60 + standing["rank"]) for standing in standings if standing)
        assert row["rrf"] == pytest.approx(ranks * 61 / 2)
        assert row["fused"] == pytest.approx(0.42 * values[0] + 0.28 * values[1] + 0.3 * row["rrf"])
        assert row["base"] == pytest.approx(row["fused"] + row["title_boost"] + row["alias_boost"])
        bounded = min(row["wanted_lift"], row["lift_cap"] * row["base"]) * row["crowding"]
        assert row["lift"] == pytest.approx(bounded)
        assert row["score"] == pytest.approx(row["base"] + row["lift"]) == answered.score


def test_every_chunk_and_every_note_refused_is_told() -> None:
    explained = run(SHELF, asked())[0].record.explain()
    assert [
        (each["rank"], each["chunk_id"], each["outcome"], each["reason"])
        for each in explained["candidates"]
    ] == [
        (1, 41, "dropped", "status pending"),
        (2, 61, "dropped", "no chunk row in the database"),
        (3, 11, "best of its note", None),
        (4, 21, "best of its note", None),
        (5, 12, "support", None),
    ]
    assert explained["refused"] == [
        {
            "note_id": 5,
            "stage": "eligibility",
            "rule": "note_not_eligible",
            "reason": "conversation deleted",
        },
        {
            "note_id": 7,
            "stage": "eligibility",
            "rule": "no_row",
            "reason": "no note row in the database",
        },
    ]


@pytest.mark.parametrize(
    ("question", "note_id", "best_rank", "decision", "told"),
    [
        (asked("wal mode"), 2, 4, ("order", "returned"), "title 0.180 (exact) + lift"),
        (asked("wal"), 2, 4, ("order", "returned"), "alias 0.170 (exact)"),
        (asked(limit=2), 3, None, ("order", "beyond_limit"), "place 3 of 3: fused"),
        (asked(), 4, 1, ("eligibility", "note_not_eligible"), "status pending"),
        (asked(), 5, None, ("eligibility", "note_not_eligible"), "conversation deleted"),
        (asked(), 8, 9, ("candidates", "not_reached"), "rank 9, 5 were taken"),
        (asked(), 8, None, ("candidates", "no_vector"), "not among the 2 notes found by words"),
    ],
    ids=["title", "alias", "beyond", "pending", "orphan", "too-deep", "no-vector"],
)
def test_the_verdict_names_stage_rule_and_numbers(
    question: Question, note_id: int, best_rank: int | None, decision: tuple[str, str], told: str
) -> None:
    verdict = run(SHELF, question)[0].record.verdict(note_id, best_rank)
    assert (verdict.stage, verdict.rule) == decision
    assert told in verdict.message


def test_the_verdict_says_why_an_opened_note_got_no_lift() -> None:
    ranking, _ = run(
        Shelf({1: (0.6, 1), 2: (0.3, 2)}, notes={1: facts(1), 2: facts(2)}, opened=[2]), asked()
    )
    message = ranking.record.verdict(2, 2).message
    assert message.endswith("opened lately but relevance 0.500 < 0.8: no lift")
