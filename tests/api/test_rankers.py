"""Every ranker over HTTP: its sums, why each note is where it is, and a provider that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.factory import Application
from app.ranking.registry import BY_NAME, RANKERS
from app.text import round_half_up
from tests.api.answers import data_of, envelope_of, error_of, ids_of
from tests.api.library import NOTES, fill
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider, fine, status
from tests.support.second import fill_both, second_values

WITH_WORDS = [ranker.name for ranker in RANKERS if ranker.does_without_meaning]
BY_MEANING = [ranker.name for ranker in RANKERS if not ranker.does_without_meaning]
QUERIES = ("redis pool", "数据库连接池", "postgres 池", "100%", "nothing of the kind")

Row = dict[str, Any]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """A client of the library with companions, in which a note was opened lately."""
    with (
        StubProvider() as stub,
        opened(tmp_path_factory.mktemp("rankers"), stub_values(stub)) as built,
    ):
        fill(built)
        built.companions.fill()
        client = built.flask().test_client()
        client.post("/api/notes/5/open")
        yield client


def searched(client: FlaskClient, query: str, ranker: str, **more: str) -> Row:
    """The envelope of a search that succeeds."""
    parameters = {"q": query, "ranker": ranker, **more}
    envelope = envelope_of(client.get("/api/search", query_string=parameters))
    assert envelope["success"], envelope
    return envelope


def chunks_agree(explain: Row) -> dict[int, float]:
    """Check what was made of each candidate, and return what each note got."""
    kept = [each for each in explain["candidates"] if each["outcome"] == "kept"]
    for each in kept:
        assert each["adjusted"] in (each["raw"], explain.get("floor"))
    return {each["note_id"]: each["adjusted"] for each in kept}


def fusion_agrees(explain: Row) -> dict[int, float]:
    for row in explain["rows"]:
        values = [row[name]["normalised"] if row[name] else 0.0 for name in ("semantic", "lexical")]
        assert row["base"] == pytest.approx(row["fused"] + row["title_boost"] + row["alias_boost"])
        assert row["score"] == pytest.approx(row["base"] + row["lift"])
        if explain["notes_by_meaning"] and explain["notes_by_words"]:
            blend = 0.42 * values[0] + 0.28 * values[1] + 0.3 * row["rrf"]
            assert row["fused"] == pytest.approx(blend)
    return {row["note_id"]: row["score"] for row in explain["rows"]}


def hybrid_agrees(explain: Row) -> dict[int, float]:
    shares, weight = explain["shares"], explain["words_weight"]
    for row in explain["rows"]:
        meaning = (
            shares["whole"] * row["whole"]
            + shares["best_field"] * max(row["fields"].values())
            + shares["title"] * row["fields"]["0"]
        )
        assert row["meaning"] == pytest.approx(meaning)
        words = row["words"] * row["coverage"]
        joined = (meaning + weight * words) / (1 + weight)
        assert row["joined"] == pytest.approx(joined if row["counts_words"] else meaning)
        likeness, liking = max(row["likeness"], 0), explain["likeness_weight"]
        assert row["score"] == pytest.approx((row["joined"] + liking * likeness) / (1 + liking))
        cut = explain["cut"]
        assert row["is_under_the_cut"] == (
            cut is not None and (not cut["has_answer"] or row["score"] < cut["least"])
        )
    return {row["note_id"]: row["score"] for row in explain["rows"] if not row["is_under_the_cut"]}


def notebrain_agrees(explain: Row) -> dict[int, float]:
    best = max((each["cosine"] for each in explain["candidates"]), default=None)
    if explain["border"] is not None:
        assert explain["best"] == best
        wanted = min(0.7, 0.85 * best) if best >= 0.7 else best - 0.05
        assert explain["border"] == pytest.approx(wanted)
    for row in explain["rows"]:
        chunks = row.get("chunks", [])
        assert row["score"] == max((chunk["cosine"] for chunk in chunks), default=0.0)
        assert len(chunks) <= explain["per_note"]
        for chunk in chunks:
            assert chunk["cosine"] == max(each["score"] for each in chunk["matched"])
            assert explain["border"] is None or chunk["cosine"] >= explain["border"] - 1e-9
    return {row["note_id"]: row["score"] for row in explain["rows"]}


def finder_agrees(explain: Row) -> dict[int, float]:
    top = max((row["total"] for row in explain["rows"]), default=1.0)
    for row in explain["rows"]:
        finals = sorted((each["seed"] + each["mass"] for each in row["fragments"]), reverse=True)
        total = sum(share * final for share, final in zip((1.0, 0.1, 0.05), finals, strict=False))
        assert row["total"] == pytest.approx(total)
        assert row["score"] == pytest.approx(row["total"] / top)
    return {row["note_id"]: row["score"] for row in explain["rows"]}


AGREES: dict[str, Callable[[Row], dict[int, float]]] = {
    "chatcrystal": chunks_agree,
    "v049": chunks_agree,
    "vector": chunks_agree,
    "fusion": fusion_agrees,
    "hybrid": hybrid_agrees,
    "notebrain": notebrain_agrees,
    "finder": finder_agrees,
}


def test_the_sums_of_every_ranker_are_checked() -> None:
    assert set(AGREES) == set(BY_NAME)


@pytest.mark.parametrize("ranker", BY_NAME)
@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("cut", ["on", "off"])
def test_what_is_explained_adds_up_to_what_is_answered(
    shelf: FlaskClient, ranker: str, query: str, cut: str
) -> None:
    for limit in ("2", "20"):
        envelope = searched(shelf, query, ranker, cut=cut, limit=limit, explain="true")
        explain = envelope["explain"]
        assert explain["ranker"] == ranker
        scores = AGREES[ranker](explain)
        beyond = set(explain["beyond_limit"])
        answered = {row["note_id"]: row["score"] for row in envelope["data"]}
        assert answered == {
            note_id: round_half_up(score)
            for note_id, score in scores.items()
            if note_id not in beyond
        }
        assert len(answered) <= int(limit)


@pytest.mark.parametrize("ranker", BY_NAME)
@pytest.mark.parametrize("query", QUERIES)
def test_why_agrees_with_the_answer_for_every_note(
    shelf: FlaskClient, ranker: str, query: str
) -> None:
    parameters = {"ranker": ranker, "limit": "3", "expand": "true"}
    rows = searched(shelf, query, **parameters)["data"]
    places = {row["note_id"]: (place, row["score"]) for place, row in enumerate(rows, start=1)}
    for note_id in range(1, len(NOTES) + 1):
        asked = {"q": query, "note_id": note_id, **parameters}
        answer = data_of(shelf.get("/api/search/why", query_string=asked))
        assert answer["returned"] == (note_id in places)
        assert (answer["place"], answer["score"]) == places.get(note_id, (None, None))
        assert answer["stage"] and answer["rule"] and answer["message"]


@pytest.mark.parametrize("ranker", WITH_WORDS)
@pytest.mark.parametrize("query", ["悬空", "引用", "gen-itgc", "itgc"])
def test_words_inside_han_text_find_the_note(
    client: FlaskClient, provider: StubProvider, ranker: str, query: str
) -> None:
    for title in ("连接池 cos=0.3", "重跑gen-itgc后50条悬空引用清零 cos=0.3", "Docker cos=0.3"):
        data_of(client.post("/api/notes", json={"title": title}), 201)
    rows = searched(client, query, ranker, limit="1", cut="off")["data"]
    assert [row["note_id"] for row in rows] == [2]
    provider.behave(status(500))
    assert [row["note_id"] for row in searched(client, f"{query} ", ranker)["data"]] == [2]


@pytest.fixture
def down(application: Application, provider: StubProvider) -> FlaskClient:
    """A client of two notes whose provider went down since."""
    client = application.flask().test_client()
    for title in ("walrus", "salamander"):
        data_of(client.post("/api/notes", json={"title": title}), 201)
    provider.behave(status(500))
    return client


@pytest.mark.parametrize("ranker", WITH_WORDS)
def test_without_a_provider_the_answer_is_of_words_and_warns(
    down: FlaskClient, provider: StubProvider, ranker: str
) -> None:
    envelope = searched(down, "walrus", ranker, explain="true")
    assert [row["note_id"] for row in envelope["data"]] == [1]
    (warning,) = envelope["warnings"]
    assert warning.startswith("Found by words alone: The embedding provider at http://127.0.0.1")
    assert "status 500" in warning
    answer = envelope_of(down.get(f"/api/search/why?q=walrus&note_id=1&ranker={ranker}"))
    assert answer["data"]["returned"] is True
    assert answer["warnings"] == [warning]
    provider.behave(fine)
    assert "warnings" not in searched(down, "walrus", ranker)


@pytest.mark.parametrize("ranker", WITH_WORDS)
@pytest.mark.parametrize("path", ["search?limit=5", "search?expand=true", "search/why?note_id=1"])
def test_an_empty_answer_because_of_a_fault_is_an_error(
    down: FlaskClient, provider: StubProvider, ranker: str, path: str
) -> None:
    asked = f"/api/{path}&q=ocelot&ranker={ranker}"
    assert "status 500" in error_of(down.get(asked), 503, "provider_rejected")
    provider.behave(fine)
    assert data_of(down.get(asked)) != []


@pytest.mark.parametrize("ranker", BY_MEANING)
def test_by_meaning_alone_a_failing_provider_is_an_error(down: FlaskClient, ranker: str) -> None:
    for path in ("search?limit=5", "search/why?note_id=1"):
        asked = f"/api/{path}&q=walrus&ranker={ranker}"
        assert "status 500" in error_of(down.get(asked), 503, "provider_rejected")


def test_readiness_tells_how_far_the_second_model_is(
    provider: StubProvider, tmp_path: Path
) -> None:
    with opened(tmp_path, second_values(provider)) as doubled:
        client = doubled.flask().test_client()

        def told() -> tuple[int, int, bool]:
            ready, state = data_of(client.get("/api/ready")), data_of(client.get("/api/status"))
            found = ready["second_space"]
            assert found == state["secondSpace"]
            assert found["space"].startswith("builtin-quality/multilingual-e5-small")
            return found["notes_done"], found["notes"], found["complete"]

        def variant() -> str:
            found: str = searched(client, "one", "hybrid", explain="true")["explain"][
                "ranker_variant"
            ]
            return found

        assert told() == (0, 0, True)
        for title in ("one", "two"):
            data_of(client.post("/api/notes", json={"title": title}), 201)
        assert (told(), variant()) == ((0, 2, False), "hybrid")
        fill_both(doubled)
        assert (told(), variant()) == ((2, 2, True), "hybrid+e5")
        data_of(client.patch("/api/notes/1", json={"summary": "changed"}))
        assert (told(), variant()) == ((1, 2, False), "hybrid")


def test_readiness_tells_of_no_second_model_where_there_is_none(client: FlaskClient) -> None:
    assert data_of(client.get("/api/ready"))["second_space"] is None
    assert data_of(client.get("/api/status"))["secondSpace"] is None


def test_readiness_counts_the_notes_without_companions(
    application: Application, client: FlaskClient
) -> None:
    def lacking() -> int:
        found: int = data_of(client.get("/api/ready"))["notes_without_companions"]
        return found

    assert lacking() == 0
    for title in ("one", "two"):
        data_of(client.post("/api/notes", json={"title": title}), 201)
    assert lacking() == 2
    application.companions.fill()
    assert lacking() == 0
    data_of(client.patch("/api/notes/1", json={"summary": "changed"}))
    assert lacking() == 1
    data_of(client.post("/api/notes/2/embed"))
    assert lacking() == 2
    data_of(client.delete("/api/notes/2"))
    assert lacking() == 1


@pytest.mark.parametrize("ranker", WITH_WORDS)
def test_a_deleted_note_is_never_found_by_its_words(client: FlaskClient, ranker: str) -> None:
    path = f"/api/search?q=walrus&ranker={ranker}&cut=off"
    data_of(client.post("/api/notes", json={"title": "walrus", "tags": ["walrus"]}), 201)
    assert ids_of(client.get(path)) == [1]
    data_of(client.delete("/api/notes/1"))
    assert ids_of(client.get(path)) == []
    assert data_of(client.post("/api/notes", json={"title": "other"}), 201)["id"] == 2
    explain = searched(client, "walrus", ranker, explain="true", cut="off")["explain"]
    assert [row["note_id"] for row in explain["rows"]] == [2]
