"""Why a note is where it is, rule by rule; and that this always fits the answer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from app.domain.notes import NoteDraft, NoteFilters
from app.domain.relations import RelationDraft
from app.domain.search import WhyAnswer
from app.errors import NoteNotFound
from app.factory import Application
from app.ranking.registry import RANKERS
from tests.search.conftest import Planted, fill
from tests.support.application import ask, opened, planted_vector, request, stub_values
from tests.support.provider import StubProvider, fine, status

QUERY = "wal mode"
PLAIN, FLOORED, LOW, PENDING, OTHER_PROJECT, LINKED, WEAK, LATE = range(1, 9)

NOTES = [
    Planted("plain", (0.9, 0.3)),
    Planted("WAL: which mode?", (0.2,)),
    Planted("about the mode", (0.4,)),
    Planted("half done", (0.85,), status="pending"),
    Planted("elsewhere", (0.95,), project="other"),
    Planted("linked", (0.1,)),
    Planted("weakly linked", (0.05,)),
    Planted("late", (0.6,)),
    Planted("not so late", (0.65,)),
]


def why(application: Application, note_id: int, query: str = QUERY, **more: Any) -> WhyAnswer:
    return application.searcher.why(request(query, **more), note_id)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """The notes above, two relations, and one note that could not be embedded."""
    with (
        StubProvider(vector=planted_vector) as provider,
        opened(tmp_path_factory.mktemp("why"), stub_values(provider)) as application,
    ):
        fill(application, NOTES)
        application.writer.create_relation(RelationDraft(PLAIN, LINKED, "LEADS_TO", 0.8))
        application.writer.create_relation(RelationDraft(WEAK, PLAIN, "EXTENDS", 0.3))
        provider.behave(status(500))
        application.writer.create_note(NoteDraft("not embedded", "cos=0.9"))
        provider.behave(fine)
        yield application


def test_a_returned_note(told: Application) -> None:
    answer = why(told, PLAIN)
    assert (answer.returned, answer.place, answer.score) == (True, 2, 0.9)
    assert (answer.stage, answer.rule) == ("order", "returned")
    assert answer.message == "place 2 of 5: raw 0.900"
    assert answer.best_chunk is not None
    assert (answer.best_chunk["rank"], answer.best_chunk["outcome"]) == (2, "kept")


@pytest.mark.parametrize("ranker", [ranker.name for ranker in RANKERS])
def test_no_ranker_calls_the_chunk_of_a_returned_note_unreached(
    told: Application, ranker: str
) -> None:
    answer = why(told, PLAIN, ranker=ranker)
    assert answer.returned
    assert answer.best_chunk is not None
    assert answer.best_chunk["cosine"] == pytest.approx(0.9, abs=1e-6)
    assert answer.best_chunk.get("outcome") != "not reached"


def test_a_floored_note(told: Application) -> None:
    answer = why(told, FLOORED)
    assert (answer.returned, answer.place, answer.score) == (True, 3, 0.82)
    assert answer.message == ("place 3 of 5: raw 0.200, floored to 0.82 because every term occurs")
    assert answer.best_chunk is not None
    assert answer.best_chunk["terms_found"] == ["wal", "mode"]


def test_a_note_below_the_border(told: Application) -> None:
    answer = why(told, LOW)
    assert not answer.returned
    assert (answer.place, answer.score) == (None, None)
    assert (answer.stage, answer.rule) == ("floor_and_filter", "below_border")
    assert answer.message == "raw 0.400 < 0.58 and term 'wal' missing"


def test_a_note_below_the_border_of_a_query_without_terms(told: Application) -> None:
    assert why(told, LOW, "what is it").message == "raw 0.400 < 0.58 and the query has no terms"


def test_without_the_cut_nothing_is_below_the_border(told: Application) -> None:
    answer = why(told, LOW, cut=False)
    assert (answer.returned, answer.score) == (True, 0.4)


def test_a_pending_note_that_has_vectors(told: Application) -> None:
    answer = why(told, PENDING)
    assert (answer.stage, answer.rule) == ("eligibility", "note_not_eligible")
    assert answer.message == "status pending"
    assert answer.best_chunk is not None
    assert answer.best_chunk["outcome"] == "dropped"


def test_a_failed_note_without_vectors_tells_the_reason(told: Application) -> None:
    answer = why(told, len(NOTES) + 1)
    assert (answer.stage, answer.rule) == ("eligibility", "note_not_eligible")
    assert answer.message.startswith("status failed: The embedding provider at ")
    assert "500" in answer.message
    assert answer.best_chunk is None


def test_a_note_that_the_filters_leave_out(told: Application) -> None:
    answer = why(told, OTHER_PROJECT, filters=NoteFilters(projects=("p",)))
    assert (answer.stage, answer.rule) == ("filter", "filtered_out")
    assert not answer.returned
    assert why(told, OTHER_PROJECT).place == 1
    assert why(told, PLAIN, filters=NoteFilters(projects=("p",))).place == 1


def test_a_note_that_came_by_a_relation(told: Application) -> None:
    assert why(told, LINKED).rule == "below_border"
    answer = why(told, LINKED, expand=True)
    assert (answer.returned, answer.place, answer.via_relation) == (True, 6, "LEADS_TO")
    assert answer.score == 0.504
    assert (answer.stage, answer.rule) == ("expansion", "followed")
    assert answer.message == (
        "LEADS_TO joins it to note 1 with confidence 0.8: that note's score × 0.7 × 0.8 = 0.504"
    )


def test_a_relation_that_was_not_followed_is_told_beside(told: Application) -> None:
    answer = why(told, WEAK, expand=True)
    assert answer.rule == "below_border"
    assert [look["skipped"] for look in answer.search["relations"]] == ["confidence 0.3 < 0.5"]


def test_a_note_beyond_the_limit(told: Application) -> None:
    """A round of two candidates finds one note only; the next finds more than were wanted."""
    answer = why(told, LATE, limit=2, filters=NoteFilters(projects=("p",)))
    assert (answer.stage, answer.rule) == ("order", "beyond_limit")
    assert answer.message == "place 3 of 3, the limit is 2"


def test_a_note_that_growth_did_not_reach(told: Application) -> None:
    answer = why(told, LATE, limit=1)
    assert (answer.stage, answer.rule) == ("growth", "not_reached")
    assert answer.message == "rank 5, search stopped at k=1 with enough notes"
    assert answer.best_chunk == {
        "rank": 5, "chunk_id": 9, "cosine": float(np.float32(0.6)), "outcome": "not reached",
    }  # fmt: skip


def test_a_done_note_whose_rows_are_gone(application: Application) -> None:
    """Past all our writes: the index has what the table lost, and proves nothing by it."""
    first, second = fill(application, [Planted("one", (0.9,)), Planted("two", (0.8,))])
    assert len(ask(application).found) == 2
    with application.database.write() as connection:
        connection.execute(text(f"DELETE FROM embeddings WHERE note_id = {first}"))
    assert [found.note_id for found in ask(application).found] == [second]
    answer = why(application, first)
    assert (answer.stage, answer.rule) == ("candidates", "no_vector")
    candidates = ask(application, explain=True).explanation
    assert candidates is not None
    assert [(each["rule"], each["note_id"]) for each in candidates["candidates"]] == [
        ("no_row", None), (None, second),
    ]  # fmt: skip


def test_an_unknown_note(told: Application) -> None:
    with pytest.raises(NoteNotFound):
        why(told, 99)


def test_an_empty_database_has_no_vector_of_any_note(
    application: Application, provider: StubProvider
) -> None:
    assert ask(application).found == ()
    provider.behave(status(500))
    note_id = application.writer.create_note(NoteDraft("t", "s"))
    provider.behave(fine)
    assert why(application, note_id).rule == "note_not_eligible"


STATUSES = ("done", "done", "done", "done", "pending", "failed")
MANY = 24
COSINES = (0.1, 0.4, 0.57, 0.6, 0.6, 0.7, 0.85, 0.9)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """Two dozen notes in all states, in three projects, with relations between them."""
    with (
        StubProvider(vector=planted_vector) as provider,
        opened(tmp_path_factory.mktemp("many"), stub_values(provider)) as application,
    ):
        planted = [
            Planted(
                title=("note", "wal", "mode of wal")[number % 3],
                cosines=tuple(COSINES[(number * 5 + i * 3) % 8] for i in range(1 + number % 3)),
                project="abc"[number % 3 if number % 2 else 0],
                status=STATUSES[number % len(STATUSES)],
            )
            for number in range(MANY)
        ]
        fill(application, planted)
        for number in range(1, MANY, 2):
            application.writer.create_relation(
                RelationDraft(number, (number * 7) % MANY + 1, "EXTENDS", (number % 10) / 10)
            )
        yield application


@settings(max_examples=25)
@given(
    query=st.sampled_from(["wal", "wal mode", "what is it", "else"]),
    limit=st.integers(0, 20),
    expand=st.booleans(),
    cut=st.booleans(),
    ranker=st.sampled_from(["chatcrystal", "vector", "v049"]),
    projects=st.sampled_from([(), ("a",), ("b",)]),
)
def test_why_fits_the_answer_for_every_note(many: Application, **given_: Any) -> None:
    query, projects = given_.pop("query"), given_.pop("projects")
    more = {**given_, "filters": NoteFilters(projects=projects)}
    found = {
        each.note_id: (place, each.score, each.via_relation)
        for place, each in enumerate(ask(many, query, **more).found, start=1)
    }
    for note_id in range(1, MANY + 1):
        answer = why(many, note_id, query, **more)
        assert answer.returned == (note_id in found)
        assert (answer.place, answer.score, answer.via_relation) == found.get(
            note_id, (None, None, None)
        )
        is_told_as_found = answer.rule in ("returned", "followed")
        assert is_told_as_found == answer.returned
        assert answer.message


@given(note_id=st.integers(1, MANY), projects=st.sampled_from([(), ("a",), ("b",)]))
def test_the_rank_of_the_best_chunk_counts_the_better_ones(
    many: Application, note_id: int, projects: tuple[str, ...]
) -> None:
    filters = NoteFilters(projects=projects)
    answer = why(many, note_id, filters=filters)
    with many.database.read() as connection:
        condition = "" if not projects else f"WHERE project_name = '{projects[0]}'"
        rows = connection.execute(
            text(
                "SELECT e.id, e.note_id, e.vector FROM embeddings e JOIN notes n ON n.id = note_id"
                f" JOIN conversations c ON c.id = n.conversation_id {condition}"
            )
        ).all()
    cosines = {row[0]: float(np.frombuffer(row[2], np.float32)[0]) for row in rows}
    ranked = sorted(cosines, key=lambda key: (-cosines[key], key))
    mine = [rank for rank, key in enumerate(ranked, start=1) for row in rows
            if row[0] == key and row[1] == note_id]  # fmt: skip
    if answer.best_chunk is None:
        assert not mine
    else:
        assert answer.best_chunk["rank"] == min(mine)
        assert math.isclose(answer.best_chunk["cosine"], cosines[ranked[min(mine) - 1]])
