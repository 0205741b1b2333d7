"""Every ranker over a real database: filters, faults of the provider, expansion, bytes, reasons."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from app.domain.chunks import KIND_CHUNK, KIND_FIELD, KIND_WHOLE
from app.domain.notes import NoteDraft, NoteFilters, NotePatch
from app.domain.relations import RelationDraft
from app.domain.search import SearchAnswer, WhyAnswer
from app.errors import (
    CrystalError,
    ProviderAnswerInvalid,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnreachable,
    SpaceMismatch,
)
from app.factory import Application
from app.ranking.registry import BY_NAME, RANKERS
from app.ranking.run import LexicalHits, NearestNotes, Together
from app.search.evidence import Evidence, Sought
from app.search.kept import Kept
from app.text import round_half_up
from tests.support.application import (
    ask,
    found_ids,
    opened,
    planted_vector,
    recorded_statements,
    request,
    stub_values,
)
from tests.support.library import Entry, store
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

WITH_WORDS = [ranker.name for ranker in RANKERS if ranker.does_without_meaning]
BY_MEANING = [ranker.name for ranker in RANKERS if not ranker.does_without_meaning]
BY_THEMSELVES = [name for name in BY_NAME if name != "finder"]
"""Rankers that judge a note by itself: with finder, its relations and replicas have a say."""

STAND_IN = "Found by words alone: "


def test_the_registry_says_who_does_without_meaning() -> None:
    """As promised (product.md): these answer from words alone, the others with an error."""
    assert set(WITH_WORDS) >= {"fusion", "hybrid"}
    assert set(BY_MEANING) >= {"chatcrystal", "v049", "vector"}


def why(application: Application, note_id: int, query: str = "walrus", **more: Any) -> WhyAnswer:
    return application.searcher.why(request(query, **more), note_id)


@pytest.mark.parametrize("ranker", BY_THEMSELVES)
def test_a_committed_note_is_found_by_the_next_search(
    application: Application, provider: StubProvider, tmp_path: Path, ranker: str
) -> None:
    """In every process, before anything was made beside its chunks; by no word of the query."""
    with opened(tmp_path, stub_values(provider)) as other:
        for number in range(3):
            note_id = application.writer.create_note(NoteDraft(f"cos=0.{7 + number}", "cos=0.7"))
            for process in (application, other):
                assert found_ids(ask(process, "walrus", ranker=ranker))[0] == note_id
            application.companions.fill()
            for process in (application, other):
                assert found_ids(ask(process, "walrus", ranker=ranker))[0] == note_id
        application.writer.edit_note(note_id, NotePatch({"title": "cos=-1", "summary": ""}))
        for process in (application, other):
            assert found_ids(ask(process, "walrus", ranker=ranker))[0] == note_id - 1


INSIDE = {
    "project": Entry("walrus cos=0.5", project="mine"),
    "tag": Entry("walrus cos=0.5", tags=("mine", "also")),
    "source": Entry("walrus cos=0.5", source="cursor"),
    "kind": Entry("walrus cos=0.5", source_type="agent-writeback"),
    "path": Entry("walrus cos=0.5", path="notes/mine/a.md"),
    "time": Entry("walrus cos=0.5", created_at="2026-06-15T12:00:00.000Z"),
}
FILTERS = {
    "project": NoteFilters(projects=("mine",)),
    "tag": NoteFilters(tags=("mine", "also")),
    "source": NoteFilters(source="cursor"),
    "kind": NoteFilters(source_kind="memory"),
    "path": NoteFilters(path_prefix="notes/mine/"),
    "time": NoteFilters(since="2026-06-15 12:00:00"),
}
CROWD = 130


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """Many notes, better by meaning and by words, and two of each kind that is asked for."""
    with (
        StubProvider(vector=planted_vector) as provider,
        opened(tmp_path_factory.mktemp("crowd"), stub_values(provider)) as application,
    ):
        outside = [
            Entry(f"walrus walrus cos=0.{6000 + number}", "cos=0.6", tags=("theirs",))
            for number in range(CROWD)
        ]
        inside = [entry for entry in INSIDE.values() for _ in range(2)]
        assert len(store(application, [*outside, *inside])) == CROWD + len(inside)
        for target in range(2, 6):
            application.writer.create_relation(RelationDraft(CROWD + 1, target, "EXTENDS", 0.9))
        yield application


def ids_inside(name: str) -> list[int]:
    start = CROWD + 1 + 2 * list(INSIDE).index(name)
    return [start, start + 1]


@pytest.mark.parametrize("ranker", BY_THEMSELVES)
@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_holds_for_every_source_and_never_eats_the_limit(
    crowd: Application, ranker: str, name: str
) -> None:
    more = {"ranker": ranker, "filters": FILTERS[name]}
    assert found_ids(ask(crowd, "walrus", limit=2, **more)) == ids_inside(name)
    assert found_ids(ask(crowd, "walrus", limit=1, **more)) == ids_inside(name)[:1]
    assert not set(found_ids(ask(crowd, "walrus", ranker=ranker, limit=3))) & set(ids_inside(name))


SOURCES: dict[str, NearestNotes | LexicalHits] = {
    "whole": NearestNotes(KIND_WHOLE, 2),
    "field": NearestNotes(KIND_FIELD, 2),
    "chunk": NearestNotes(KIND_CHUNK, 2),
    "words": LexicalHits(2),
}


@pytest.mark.parametrize("name", FILTERS)
def test_every_source_by_itself_is_filtered(crowd: Application, name: str) -> None:
    """None finds for another what its own filter leaves out; side by side they find the same."""
    vector = np.array(planted_vector("walrus"), dtype=np.float32)
    with crowd.mirror.open(BY_NAME["hybrid"].parts) as (connection, view):
        sought = Sought("walrus", vector, FILTERS[name])
        evidence = Evidence(connection, view, sought, Kept.over(crowd.database.version))
        found = {source: evidence.meet(need) for source, need in SOURCES.items()}
        assert evidence.meet(Together(tuple(SOURCES.values()))) == list(found.values())
        assert evidence.size() == 2
    found["words"] = [hit.note_id for hit in found["words"]]
    assert found == dict.fromkeys(SOURCES, ids_inside(name))


@pytest.mark.parametrize("ranker", BY_NAME)
def test_filters_that_nothing_passes_find_nothing(crowd: Application, ranker: str) -> None:
    for filters in (NoteFilters(projects=("nobody",)), NoteFilters(tags=("mine", "theirs"))):
        assert ask(crowd, "walrus", ranker=ranker, filters=filters, cut=False).found == ()


@pytest.mark.parametrize("ranker", BY_THEMSELVES)
def test_related_notes_come_on_top(crowd: Application, ranker: str) -> None:
    """One hop, whatever the ranker, and not filtered."""
    more = {"ranker": ranker, "filters": FILTERS["project"], "limit": 1}
    direct = ask(crowd, "walrus", **more).found
    found = ask(crowd, "walrus", expand=True, explain=True, **more)
    assert found.found[0] == direct[0]
    assert [(each.note_id, each.via_relation) for each in found.found[1:]] == [
        (target, "EXTENDS") for target in range(2, 6)
    ]
    assert found.explanation is not None
    unrounded = scores_of(found)[direct[0].note_id]
    assert {each.score for each in found.found[1:]} == {round_half_up(unrounded * 0.7 * 0.9)}


def scores_of(answer: SearchAnswer) -> dict[int, float]:
    """The scores that an explanation gives to notes."""
    assert answer.explanation is not None
    if "rows" in answer.explanation:
        return {row["note_id"]: row["score"] for row in answer.explanation["rows"]}
    return {
        each["note_id"]: each["adjusted"]
        for each in answer.explanation["candidates"]
        if each["outcome"] == "kept"
    }


ADD_TAG = text("INSERT INTO tags (name) VALUES (:name)")


@pytest.mark.parametrize("ranker", BY_NAME)
def test_a_search_takes_the_same_statements_whatever_its_size(
    crowd: Application, ranker: str
) -> None:
    counts = set()
    for limit in (1, 50):
        ask(crowd, "walrus", ranker=ranker, limit=limit)
        # Nothing that was read before is known now.
        with crowd.database.write() as connection:
            connection.execute(ADD_TAG, {"name": f"{ranker} {limit}"})
        with recorded_statements(crowd.database) as statements:
            ask(crowd, "walrus", ranker=ranker, limit=limit, expand=True, filters=FILTERS["tag"])
        assert all(statement.startswith(("SELECT", "WITH")) for statement in statements)
        counts.add(len(statements))
    # The default ranker reads rows once for the first round and once for all others.
    assert max(counts) - min(counts) <= 1
    assert max(counts) <= {"fusion": 8, "hybrid": 14, "finder": 30}.get(ranker, 6)


def answer_bytes(application: Application, path: str) -> bytes:
    response = application.flask().test_client().get(path)
    assert response.status_code == 200
    return re.sub(rb'"milliseconds":\{[^}]*\}', b"", response.data)


@pytest.mark.parametrize("ranker", BY_NAME)
@pytest.mark.parametrize(
    "path",
    [
        "/api/search?q=walrus+mine&limit=50&expand=true&explain=true&cut=off",
        "/api/search?q=walrus&tag=theirs&limit=7",
        "/api/search/why?q=walrus&note_id=3",
    ],
    ids=["explained", "filtered", "why"],
)
def test_the_same_data_and_query_give_the_same_bytes(
    crowd: Application, provider: StubProvider, ranker: str, path: str
) -> None:
    """Asked again, and of indexes that another process loads by itself."""
    asked = f"{path}&ranker={ranker}"
    expected = answer_bytes(crowd, asked)
    assert answer_bytes(crowd, asked) == expected
    with opened(crowd.settings.data_dir, stub_values(provider)) as another:
        assert answer_bytes(another, asked) == expected


@pytest.mark.parametrize("ranker", BY_THEMSELVES)
def test_equal_notes_are_ordered_by_id(application: Application, ranker: str) -> None:
    ids = store(application, [Entry("walrus cos=0.7")] * 12)
    assert found_ids(ask(application, "walrus", ranker=ranker, limit=50)) == ids
    assert found_ids(ask(application, "walrus", ranker=ranker, limit=5)) == ids[:5]


FAULTS: dict[str, tuple[Behaviour, type[CrystalError]]] = {
    "500": (status(500), ProviderRejected),
    "401": (status(401), ProviderRejected),
    "no JSON": (raw(b"<html>"), ProviderAnswerInvalid),
    "dimension": (of_dimension(16), SpaceMismatch),
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a note for each of two words."""
    folder = tmp_path_factory.mktemp("pair")
    with StubProvider(vector=planted_vector) as stub, opened(folder, stub_values(stub)) as filled:
        store(filled, [Entry("walrus cos=0.6"), Entry("salamander cos=0.9")])
    return folder


@pytest.fixture
def failing(pair: Path, provider: StubProvider) -> Iterator[Application]:
    """An application over that folder, which no test changes, to whose provider a test sees."""
    with opened(pair, stub_values(provider)) as application:
        yield application


@pytest.mark.parametrize("ranker", WITH_WORDS)
@pytest.mark.parametrize(("behaviour", "error"), FAULTS.values(), ids=FAULTS)
def test_without_a_provider_words_alone_are_searched_and_that_is_said(
    failing: Application,
    provider: StubProvider,
    ranker: str,
    behaviour: Behaviour,
    error: type[CrystalError],
) -> None:
    provider.behave(behaviour)
    for cut in (True, False):
        answer = ask(failing, "walrus", ranker=ranker, explain=True, cut=cut)
        assert found_ids(answer) == [1]
        (warning,) = answer.warnings
        assert warning.startswith(STAND_IN)
        json.dumps(answer.explanation, allow_nan=False)
    with pytest.raises(error) as caught:
        ask(failing, "ocelot", ranker=ranker)
    assert caught.value.status == 503
    assert warning == STAND_IN + caught.value.message
    provider.behave(fine)
    recovered = ask(failing, "walrus", ranker=ranker)
    assert set(found_ids(recovered)) == {1, 2}
    assert recovered.warnings == ()


@pytest.mark.parametrize("ranker", BY_MEANING)
@pytest.mark.parametrize(("behaviour", "error"), FAULTS.values(), ids=FAULTS)
def test_by_meaning_alone_a_failing_provider_is_an_error(
    failing: Application,
    provider: StubProvider,
    ranker: str,
    behaviour: Behaviour,
    error: type[CrystalError],
) -> None:
    provider.behave(behaviour)
    for search in (ask, lambda *parts, **more: why(parts[0], 1, parts[1], **more)):
        with pytest.raises(error) as caught:
            search(failing, "walrus", ranker=ranker)
        assert caught.value.status == 503


@pytest.mark.parametrize("ranker", WITH_WORDS)
def test_a_provider_that_is_not_there(pair: Path, ranker: str) -> None:
    with refused_address() as address:
        values = {"embedding.provider": "openai", "embedding.base_url": address,
                  "embedding.retries": "0"}  # fmt: skip
        with opened(pair, values) as application:
            assert found_ids(ask(application, "salamander", ranker=ranker)) == [2]
            with pytest.raises(ProviderUnreachable):
                ask(application, "ocelot", ranker=ranker)


@pytest.mark.parametrize("ranker", BY_NAME)
def test_a_provider_that_is_late(pair: Path, provider: StubProvider, ranker: str) -> None:
    provider.behave(delayed(60.0))
    with opened(pair, stub_values(provider, timeout="0.2")) as application:
        if ranker in WITH_WORDS:
            assert found_ids(ask(application, "salamander", ranker=ranker)) == [2]
        with pytest.raises(ProviderTimeout):
            ask(application, "ocelot", ranker=ranker)


@pytest.mark.parametrize("ranker", WITH_WORDS)
def test_words_that_the_filters_leave_nothing_of_are_an_error_as_well(
    failing: Application, provider: StubProvider, ranker: str
) -> None:
    """Meaning might have found a note that passes: nobody can tell."""
    provider.behave(status(500))
    for filters in (NoteFilters(projects=("nobody",)), NoteFilters(tags=("none",))):
        with pytest.raises(ProviderRejected):
            ask(failing, "walrus", ranker=ranker, filters=filters)
    only = NoteFilters(projects=("p",))
    assert found_ids(ask(failing, "walrus", ranker=ranker, filters=only)) == [1]


@pytest.mark.parametrize("ranker", WITH_WORDS)
def test_why_without_a_provider(failing: Application, provider: StubProvider, ranker: str) -> None:
    provider.behave(status(500))
    found = why(failing, 1, ranker=ranker)
    assert (found.returned, found.place, found.rule, found.best_chunk) == (
        True, 1, "returned", None,
    )  # fmt: skip
    assert found.warnings[0].startswith(STAND_IN)
    missed = why(failing, 2, ranker=ranker)
    assert (missed.returned, missed.stage, missed.rule, missed.message) == (
        False, "candidates", "not_reached", "words alone were searched, and do not find it",
    )  # fmt: skip
    with pytest.raises(ProviderRejected):
        why(failing, 1, "ocelot", ranker=ranker)


@pytest.mark.parametrize("ranker", [name for name in WITH_WORDS if name in BY_THEMSELVES])
def test_expansion_without_a_provider(
    application: Application, provider: StubProvider, ranker: str
) -> None:
    first, second = store(application, [Entry("walrus cos=0.6"), Entry("salamander cos=0.9")])
    application.writer.create_relation(RelationDraft(first, second, "EXTENDS", 1.0))
    provider.behave(status(500))
    answer = ask(application, "walrus", ranker=ranker, expand=True)
    assert [(each.note_id, each.via_relation) for each in answer.found] == [
        (first, None), (second, "EXTENDS"),
    ]  # fmt: skip


@pytest.mark.parametrize("ranker", BY_NAME)
def test_a_query_is_embedded_by_the_model_of_the_space_that_is_searched(
    application: Application, provider: StubProvider, tmp_path: Path, ranker: str
) -> None:
    """Another process has another model, by its environment, and filled that one's space."""
    store(application, [Entry("walrus cos=0.6"), Entry("salamander cos=0.9")])
    with opened(tmp_path, stub_values(provider, model="another")) as other:
        other.batches.embed_many(other.batches.unembedded())
        before = len(provider.requests)
        answer = ask(application, "walrus", ranker=ranker)
        assert 2 in found_ids(answer)
        assert answer.warnings == ()
        assert provider.requests[before:][-1].body["model"] == "another"


@pytest.mark.parametrize("ranker", BY_NAME)
def test_no_results_wanted_means_no_call_and_no_error(
    failing: Application, provider: StubProvider, ranker: str
) -> None:
    provider.behave(status(500))
    asked = len(provider.requests)
    assert ask(failing, limit=0, ranker=ranker).found == ()
    assert len(provider.requests) == asked


def test_a_warning_of_the_embedder_is_kept(provider: StubProvider, tmp_path: Path) -> None:
    with opened(tmp_path, stub_values(provider, max_chars="20")) as application:
        store(application, [Entry("walrus")])
        for ranker in BY_NAME:
            (warning,) = ask(application, "walrus " * 10, ranker=ranker).warnings
            assert "70 characters" in warning


def test_notes_opened_lately_are_preferred_by_fusion(application: Application) -> None:
    first, second = store(application, [Entry("walrus cos=0.6"), Entry("walrus cos=0.6")])
    assert found_ids(ask(application, "walrus", ranker="fusion")) == [first, second]
    application.writer.open_note(second)
    answer = ask(application, "walrus", ranker="fusion", explain=True)
    assert found_ids(answer) == [second, first]
    assert answer.explanation is not None
    assert [row["recent"] for row in answer.explanation["rows"]] == [True, False]
    assert found_ids(ask(application, "walrus", ranker="hybrid")) == [first, second]


NEAR, WORDED, FAR, WAITING, OTHER_PROJECT, LINKED, FAILED = range(1, 8)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """A note for each reason."""
    with (
        StubProvider(vector=planted_vector) as provider,
        opened(tmp_path_factory.mktemp("told"), stub_values(provider)) as application,
    ):
        store(application, [Entry("walrus cos=0.9"), Entry("walrus walrus cos=0.6"),
                            Entry("cos=0.2")])  # fmt: skip
        store(application, [Entry("walrus of the sea")], embeds=False)
        store(application, [Entry("walrus cos=0.95", project="other"), Entry("cos=0.1")])
        provider.behave(status(500))
        application.writer.create_note(NoteDraft("cos=0.8", ""))
        provider.behave(fine)
        application.writer.create_relation(RelationDraft(NEAR, LINKED, "LEADS_TO", 0.8))
        yield application


REASONS: dict[str, tuple[int, dict[str, Any], tuple[str, str], str]] = {
    "hybrid returned": (NEAR, {"ranker": "hybrid"}, ("order", "returned"), "meaning 0.900"),
    "hybrid by words": (WAITING, {"ranker": "hybrid"}, ("order", "returned"), "meaning none"),
    "hybrid below the cut": (FAR, {"ranker": "hybrid"}, ("cut", "below_cut"),
                             "under the cut of 0.42"),
    "hybrid beyond": (WORDED, {"ranker": "hybrid", "limit": 2}, ("order", "beyond_limit"),
                      "the limit is 2"),
    "hybrid waits beyond": (WAITING, {"ranker": "hybrid", "limit": 1}, ("order", "beyond_limit"),
                            "the limit is 1"),
    "hybrid filtered": (NEAR, {"ranker": "hybrid", "filters": NoteFilters(projects=("other",))},
                        ("filter", "filtered_out"), "the filters of the request"),
    "hybrid filtered, waits": (
        WAITING, {"ranker": "hybrid", "filters": NoteFilters(projects=("other",))},
        ("filter", "filtered_out"), "the filters of the request"),
    "hybrid failed": (FAILED, {"ranker": "hybrid"}, ("eligibility", "note_not_eligible"),
                      "status failed: The embedding provider"),
    "hybrid linked": (LINKED, {"ranker": "hybrid", "expand": True}, ("expansion", "followed"),
                      "LEADS_TO joins it to note 1"),
    "fusion returned": (NEAR, {"ranker": "fusion"}, ("order", "returned"), "fused"),
    "fusion by words": (WAITING, {"ranker": "fusion"}, ("order", "returned"), "fused"),
    "fusion beyond": (FAR, {"ranker": "fusion", "limit": 2}, ("order", "beyond_limit"),
                      "the limit is 2"),
    "fusion waits beyond": (WAITING, {"ranker": "fusion", "limit": 1}, ("order", "beyond_limit"),
                            "the limit is 1"),
    "fusion filtered": (NEAR, {"ranker": "fusion", "filters": NoteFilters(projects=("other",))},
                        ("filter", "filtered_out"), "the filters of the request"),
    "fusion failed": (FAILED, {"ranker": "fusion"}, ("eligibility", "note_not_eligible"),
                      "status failed: The embedding provider"),
    "fusion linked": (LINKED, {"ranker": "fusion", "limit": 2, "expand": True},
                      ("expansion", "followed"), "LEADS_TO joins it to note 1"),
}  # fmt: skip


@pytest.mark.parametrize(("note_id", "more", "decision", "said"), REASONS.values(), ids=REASONS)
def test_why_names_stage_rule_and_numbers(
    told: Application, note_id: int, more: dict[str, Any], decision: tuple[str, str], said: str
) -> None:
    answer = why(told, note_id, **more)
    assert (answer.stage, answer.rule) == decision
    assert said in answer.message
    assert answer.returned == (answer.rule in ("returned", "followed"))


@pytest.mark.parametrize("ranker", WITH_WORDS)
def test_why_a_note_was_not_reached(application: Application, ranker: str) -> None:
    """Ten times the limit are taken of each source; nothing is known of what lies beyond."""
    crowd = store(application, [Entry("walrus cos=0.9")] * 31)
    (far,) = store(application, [Entry("cos=0.5")])
    answer = why(application, far, ranker=ranker, limit=1)
    assert (answer.returned, answer.stage, answer.rule) == (False, "candidates", "not_reached")
    assert "its best chunk has rank 32" in answer.message
    assert answer.best_chunk is not None
    assert answer.best_chunk["rank"] == 32
    assert why(application, crowd[0], ranker=ranker, limit=1).returned


MANY = 20
TITLES = ("walrus", "salamander", "海象 walrus", "nothing of it")
COSINES = (0.1, 0.45, 0.57, 0.6, 0.6, 0.7, 0.9)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """Notes of all kinds: waiting, failed, without companions, in three projects, related."""
    with (
        StubProvider(vector=planted_vector) as provider,
        opened(tmp_path_factory.mktemp("many"), stub_values(provider)) as application,
    ):
        entries = [
            Entry(f"{TITLES[number % 4]} cos={COSINES[number % 7]}", "x" * (number % 3),
                  project="abc"[number % 3])
            for number in range(MANY)
        ]  # fmt: skip
        store(application, entries[:12])
        store(application, entries[12:17], fills=False)
        store(application, entries[17:], embeds=False)
        with application.database.write() as connection:
            connection.execute(
                text("UPDATE notes SET embedding_status = 'pending' WHERE id IN (2, 3, 11)")
            )
        for number in range(1, MANY, 2):
            application.writer.create_relation(
                RelationDraft(number, (number * 7) % MANY + 1, "EXTENDS", (number % 10) / 10)
            )
        yield application


@settings(max_examples=30)
@given(
    query=st.sampled_from(["walrus", "海象", "walrus 海象", "salamandr", "what is it"]),
    limit=st.integers(0, 15),
    expand=st.booleans(),
    cut=st.booleans(),
    ranker=st.sampled_from(WITH_WORDS),
    projects=st.sampled_from([(), ("a",), ("b",)]),
)
def test_why_fits_the_answer_for_every_note(many: Application, **given_: Any) -> None:
    query, projects = given_.pop("query"), given_.pop("projects")
    more = {**given_, "filters": NoteFilters(projects=projects)}
    answer = ask(many, query, explain=True, **more)
    found = {
        each.note_id: (place, each.score, each.via_relation)
        for place, each in enumerate(answer.found, start=1)
    }
    weighed = {row["note_id"] for row in (answer.explanation or {}).get("rows", ())}
    for note_id in range(1, MANY + 1):
        verdict = why(many, note_id, query, **more)
        assert verdict.returned == (note_id in found)
        assert (verdict.place, verdict.score, verdict.via_relation) == found.get(
            note_id, (None, None, None)
        )
        assert verdict.returned == (verdict.rule in ("returned", "followed"))
        assert verdict.message
        if note_id in weighed and not verdict.returned:
            assert verdict.rule in ("below_cut", "beyond_limit")
