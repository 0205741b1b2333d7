"""One search from end to end: what it reads, what it answers, and that it does so every time."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from app.domain.notes import NoteDraft, NoteFilters
from app.domain.relations import RelationDraft
from app.errors import (
    ProviderAnswerInvalid,
    ProviderError,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnreachable,
    SpaceMismatch,
)
from app.factory import Application
from app.text import round_half_up
from tests.search.conftest import Planted, fill
from tests.support.application import (
    ask,
    found_ids,
    opened,
    plant,
    planted_vector,
    recorded_statements,
    request,
    stub_values,
)
from tests.support.provider import (
    Behaviour,
    StubProvider,
    delayed,
    fine,
    of_dimension,
    raw,
    refused_address,
    status,
)

CROWD = 700
INSIDE = {
    "project": Planted("inside", (0.33,), project="mine"),
    "tag": Planted("inside", (0.33,), tags=("mine", "also")),
    "source": Planted("inside", (0.33,), source="cursor"),
    "kind": Planted("inside", (0.33,), source_type="agent-writeback"),
    "path": Planted("inside", (0.33,), path="notes/mine/a.md"),
    "time": Planted("inside", (0.33,), created_at="2026-06-15T12:00:00.000Z"),
}
FILTERS = {
    "project": NoteFilters(projects=("mine",)),
    "tag": NoteFilters(tags=("mine",)),
    "tags": NoteFilters(tags=("mine", "also")),
    "source": NoteFilters(source="cursor"),
    "kind": NoteFilters(source_kind="memory"),
    "path": NoteFilters(path_prefix="notes/mine/"),
    "since": NoteFilters(since="2026-06-15 12:00:00"),
    "until": NoteFilters(since="2026-02-01 00:00:00", until="2026-06-15 12:00:00"),
}
MEMBERS = {name: ("tag" if name == "tags" else "time" if name in ("since", "until") else name)
           for name in FILTERS}  # fmt: skip


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """Hundreds of notes, and three of each kind that a filter finds, worse than 180 of them."""
    with (
        StubProvider(vector=planted_vector) as provider,
        opened(tmp_path_factory.mktemp("crowd"), stub_values(provider)) as application,
    ):
        outside = [
            Planted("outside", (0.2 + number / 4000,), tags=("theirs",), path="notes/other/b.md")
            for number in range(CROWD)
        ]
        fill(application, [*outside, *(planted for planted in INSIDE.values() for _ in range(3))])
        for target in range(2, 40):
            application.writer.create_relation(RelationDraft(CROWD + 1, target, "EXTENDS"))
        ask(application)
        yield application


def ids_inside(name: str) -> list[int]:
    start = CROWD + 1 + 3 * list(INSIDE).index(MEMBERS[name])
    return [start, start + 1, start + 2]


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_never_eats_the_limit(crowd: Application, name: str) -> None:
    for query, cut in (("inside", True), ("what is it", False)):
        answer = ask(crowd, query, limit=3, filters=FILTERS[name], cut=cut)
        assert found_ids(answer) == ids_inside(name)
    assert found_ids(ask(crowd, "inside", limit=2, filters=FILTERS[name])) == ids_inside(name)[:2]
    answer = ask(crowd, "inside", filters=FILTERS[name], explain=True)
    assert answer.explanation is not None
    assert answer.explanation["searched_chunks"] == 3


@pytest.mark.parametrize(
    "filters",
    [
        NoteFilters(projects=("nobody",)),
        NoteFilters(tags=("mine", "theirs")),
        NoteFilters(projects=("mine",), source="cursor"),
        NoteFilters(path_prefix="notes/%"),
        NoteFilters(until="2025-12-31 23:59:59"),
    ],
    ids=["unknown", "tags of two notes", "two filters", "no wildcards", "before all"],
)
def test_filters_that_nothing_passes_find_nothing(crowd: Application, filters: NoteFilters) -> None:
    answer = ask(crowd, "inside", filters=filters, explain=True)
    assert answer.found == ()
    assert answer.explanation is not None
    assert answer.explanation["searched_chunks"] == 0


@pytest.mark.parametrize("limit", [1, 10, 50])
@pytest.mark.parametrize("expand", [False, True], ids=["direct", "expand"])
@pytest.mark.parametrize("filters", [NoteFilters(), FILTERS["tag"]], ids=["all", "filtered"])
@pytest.mark.parametrize("query", ["inside", "absent words", "what is it"])
def test_a_search_takes_six_statements_at_most(
    crowd: Application, limit: int, expand: bool, filters: NoteFilters, query: str
) -> None:
    with recorded_statements(crowd.database) as statements:
        answer = ask(crowd, query, limit=limit, expand=expand, filters=filters, explain=True)
    assert len(statements) <= 6
    assert answer.explanation is not None
    chunk_reads = [statement for statement in statements if "chunk_text" in statement]
    assert len(chunk_reads) <= 2
    if query == "absent words" and filters == NoteFilters():
        # All rounds up to the budget, with the rows of hundreds of candidates.
        assert answer.explanation["rounds"][-1]["k"] == max(500, min(20 * limit, 718))
    assert all(statement.startswith("SELECT") for statement in statements)


def test_the_most_costly_search_takes_exactly_six_statements(crowd: Application) -> None:
    """State, filter, rows twice, relations, answer."""
    filters = NoteFilters(until="2026-06-15 12:00:00")
    with crowd.database.write() as connection:
        connection.execute(text("INSERT INTO tags (name) VALUES ('new')"))
    counts = []
    for _ in range(2):
        with recorded_statements(crowd.database) as statements:
            answer = ask(
                crowd, "inside", limit=5, expand=True, filters=filters, fields=("summary",)
            )
        assert len(answer.found) == 5 + 38
        counts.append(len(statements))
    # Rows that are known are not read again, nor what passes the filters.
    assert counts == ([6, 3] if crowd.database.is_sqlite else [6, 6])


def test_explain_tells_what_happened(crowd: Application) -> None:
    answer = ask(crowd, "inside", limit=5, expand=True, explain=True)
    record = answer.explanation
    assert record is not None
    assert record["space"] == "openai/text-embedding-3-small"
    assert record["searched_chunks"] == CROWD + 3 * len(INSIDE)
    assert record["terms"] == ["inside"]
    assert (record["border"], record["space_border"], record["floor"]) == (0.58, 0.58, 0.82)
    assert [each["k"] for each in record["rounds"]] == [5, 10, 20, 40, 80, 160, 320]
    assert record["stopped"] == "enough notes"
    direct = [found for found in answer.found if found.via_relation is None]
    kept = {
        each["note_id"]: each["adjusted"]
        for each in record["candidates"]
        if each["outcome"] == "kept" and each["note_id"] not in record["beyond_limit"]
    }
    assert len(record["beyond_limit"]) == 13
    assert {found.note_id: found.score for found in direct} == {
        note_id: round_half_up(score) for note_id, score in kept.items()
    }
    followed = [look for look in record["relations"] if look["skipped"] is None]
    assert {look["to_note_id"]: look["score"] for look in followed} == {
        found.note_id: found.score for found in answer.found if found.via_relation
    }
    assert len(followed) == 38
    assert {"embed", "candidates", "rows", "relations", "rank", "answer"} <= set(
        record["milliseconds"]
    )
    with crowd.mirror.open() as (_, view):
        assert record["sequence"] == view.state.sequence
    json.dumps(record)


def test_explaining_changes_nothing(crowd: Application) -> None:
    for more in ({}, {"expand": True}, {"filters": FILTERS["tag"]}, {"ranker": "vector"}):
        explained = ask(crowd, "inside", **more, explain=True)
        plain = ask(crowd, "inside", **more)
        assert (explained.found, explained.warnings) == (plain.found, plain.warnings)
        assert plain.explanation is None


def answer_bytes(application: Application, path: str) -> bytes:
    response = application.flask().test_client().get(path)
    assert response.status_code == 200
    return re.sub(rb'"milliseconds":\{[^}]*\}', b"", response.data)


PATHS = [
    "/api/search?q=inside&limit=50&expand=true",
    "/api/search?q=note&limit=7&ranker=vector",
    "/api/search?q=inside+outside&tag=mine&explain=true",
    "/api/search/why?q=inside&note_id=3",
]


@pytest.mark.parametrize("path", PATHS)
def test_the_same_data_and_query_give_the_same_bytes(
    crowd: Application, provider: StubProvider, path: str
) -> None:
    """Asked again, and of an index that another process loads by itself."""
    expected = answer_bytes(crowd, path)
    assert answer_bytes(crowd, path) == expected
    with opened(crowd.settings.data_dir, stub_values(provider)) as another:
        assert answer_bytes(another, path) == expected


def test_equal_scores_are_ordered_by_note_id(application: Application) -> None:
    ids = fill(application, [Planted("same", (0.7,)) for _ in range(30)])
    assert found_ids(ask(application, limit=50)) == ids
    assert found_ids(ask(application, limit=7)) == ids[:7]


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (status(500), ProviderRejected),
        (status(401), ProviderRejected),
        (raw(b"<html>"), ProviderAnswerInvalid),
        (of_dimension(16), SpaceMismatch),
        (delayed(5.0), ProviderTimeout),
    ],
    ids=["500", "401", "no-json", "dimension", "late"],
)
def test_a_failing_provider_is_an_error_and_no_empty_answer(
    provider: StubProvider, tmp_path: Path, behaviour: Behaviour, error: type[ProviderError]
) -> None:
    with opened(tmp_path, stub_values(provider, timeout="2")) as application:
        ids = plant(application, [0.9])
        assert found_ids(ask(application, "asked before")) == ids
        provider.behave(behaviour)
        for search in (ask, why_first):
            with pytest.raises(error) as caught:
                search(application, f"new to {search.__name__}")
            assert caught.value.status == 503
        assert found_ids(ask(application, "asked before")) == ids
        provider.behave(fine)
        assert found_ids(ask(application, "new")) == ids


def why_first(application: Application, query: str) -> object:
    return application.searcher.why(request(query), 1)


def test_a_provider_that_is_not_there(tmp_path: Path) -> None:
    with refused_address() as address:
        values = {"embedding.provider": "openai", "embedding.base_url": address,
                  "embedding.retries": "0"}  # fmt: skip
        with opened(tmp_path, values) as application, pytest.raises(ProviderUnreachable):
            ask(application)


def test_no_results_wanted_means_no_call(application: Application, provider: StubProvider) -> None:
    plant(application, [0.9])
    asked = len(provider.requests)
    assert ask(application, limit=0).found == ()
    assert len(provider.requests) == asked


def test_the_query_is_embedded_as_it_came(application: Application, provider: StubProvider) -> None:
    ask(application, "  WAL\tmode \n")
    assert provider.requests[-1].texts == ["  WAL\tmode \n"]


def test_a_title_that_changed_is_searched_at_once(application: Application) -> None:
    """Folded texts are kept in memory; a title may change under its chunks."""
    (note_id,) = fill(application, [Planted("plain", (0.2,), texts=("words",))])
    assert found_ids(ask(application, "wal words")) == []
    for title, expected in (("WAL", [note_id]), ("plain", []), ("ｗａｌ", [note_id])):
        with application.database.write() as connection:
            connection.execute(text("UPDATE notes SET title = :title"), {"title": title})
        assert found_ids(ask(application, "wal words")) == expected


def test_texts_of_another_history_are_read_anew(application: Application) -> None:
    """After a restore the same chunk id may be another text."""
    (note_id,) = fill(application, [Planted("plain", (0.2,), texts=("words",))])
    assert found_ids(ask(application, "words")) == [note_id]
    with application.database.write() as connection:
        connection.execute(text("UPDATE embeddings SET chunk_text = 'others'"))
        connection.execute(text("UPDATE index_state SET epoch = 'restored'"))
    assert found_ids(ask(application, "words")) == []
    assert found_ids(ask(application, "others")) == [note_id]


def test_answers_speak_of_the_database_and_not_of_the_index(application: Application) -> None:
    note_id = application.writer.create_note(
        NoteDraft("title", "cos=0.9", tags=("b", "a"), project="before", path="x/y.md")
    )
    with application.database.write() as connection:
        connection.execute(text("UPDATE conversations SET project_name = 'after'"))
    (found,) = ask(application, fields=("summary", "path", "external_id")).found
    assert (found.note_id, found.project_name, found.tags) == (note_id, "after", ("b", "a"))
    assert found.extra == {"summary": "cos=0.9", "path": "x/y.md", "external_id": None}
    assert found.conversation_id.startswith("note:")


def test_scores_are_rounded_half_up(application: Application) -> None:
    """These are exact in float32; the first two lie on a half."""
    cosines = (0.8125, 0.6875, 0.59375)
    fill(application, [Planted("n", (cosine,)) for cosine in cosines])
    scores = [found.score for found in ask(application).found]
    assert scores == [math.floor(cosine * 1000 + 0.5) / 1000 for cosine in cosines]
    assert scores == [0.813, 0.688, 0.594]
