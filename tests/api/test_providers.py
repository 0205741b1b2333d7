"""A provider that fails: the answer says what to check, and nothing is lost or changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.factory import Application
from tests.api.answers import data_of, envelope_of, error_of, ids_of, json_lines
from tests.support import provider as behaviours
from tests.support.application import opened, stub_values
from tests.support.provider import Behaviour, StubProvider, refused_address

# Behaviour of the provider, code of the answer, what it says to check.
FAILURES: dict[str, tuple[Behaviour, str, str]] = {
    "slow": (behaviours.delayed(5), "provider_timeout", "embedding.timeout"),
    "dripping": (behaviours.dripping(0.2), "provider_timeout", "embedding.timeout"),
    "400": (behaviours.status(400), "provider_rejected", "embedding.model"),
    "401": (behaviours.status(401), "provider_rejected", "embedding.api_key"),
    "403": (behaviours.status(403), "provider_rejected", "embedding.api_key"),
    "404": (behaviours.status(404), "provider_rejected", "embedding.model"),
    "408": (behaviours.status(408), "provider_rejected", "try again"),
    "409": (behaviours.status(409), "provider_rejected", "embedding.base_url"),
    "429": (behaviours.status(429), "provider_rejected", "try again later"),
    "500": (behaviours.status(500), "provider_rejected", "try again later"),
    "302": (
        behaviours.status(302, {"Location": "http://[::1]:1/"}),
        "provider_rejected",
        "embedding.base_url",
    ),
    "other dimension": (behaviours.of_dimension(8), "space_mismatch", "embedding.model"),
    "nan": (
        behaviours.vectors([[float("nan")] * 64]),
        "provider_answer_invalid",
        "embedding.model",
    ),
    "infinity": (
        behaviours.vectors([[float("inf")] * 64]),
        "provider_answer_invalid",
        "embedding.model",
    ),
    "zeros": (behaviours.vectors([[0.0] * 64]), "provider_answer_invalid", "embedding.model"),
    "nulls": (behaviours.vectors([[None] * 64]), "provider_answer_invalid", "embedding.model"),
    "empty list": (behaviours.vectors([]), "provider_answer_invalid", "embedding.model"),
    "empty vector": (behaviours.vectors([[]]), "provider_answer_invalid", "embedding.model"),
    "two for one": (
        behaviours.vectors([[1.0] * 64] * 2),
        "provider_answer_invalid",
        "embedding.model",
    ),
    "no data": (behaviours.raw(b"{}"), "provider_answer_invalid", "embedding.base_url"),
    "no json": (behaviours.raw(b"<html>"), "provider_answer_invalid", "embedding.base_url"),
    "empty answer": (behaviours.raw(b""), "provider_answer_invalid", "embedding.base_url"),
    "no utf-8": (
        behaviours.raw(b'{"data":"\xff"}'),
        "provider_answer_invalid",
        "embedding.base_url",
    ),
}
RANKERS = ("chatcrystal", "v049", "vector")
ATTEMPTS = 5


@pytest.fixture(scope="module")
def module_stub() -> Iterator[StubProvider]:
    with StubProvider() as running:
        yield running


@pytest.fixture(scope="module")
def small(
    module_stub: StubProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Application]:
    """Two notes, embedded; for one test at a time."""
    values = stub_values(module_stub, query_cache="0")
    with opened(tmp_path_factory.mktemp("small"), values) as built:
        add_two_notes(built)
        yield built


@pytest.fixture(scope="module")
def impatient(
    module_stub: StubProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Application]:
    """The same, where the provider may take half a second."""
    values = stub_values(module_stub, timeout="0.5", query_cache="0")
    with opened(tmp_path_factory.mktemp("impatient"), values) as built:
        add_two_notes(built)
        yield built


@pytest.fixture
def asking(request: pytest.FixtureRequest, code: str) -> Application:
    """Who asks the provider: only for those that are slow a machine may be too slow as well."""
    name = "impatient" if code == "provider_timeout" else "small"
    application: Application = request.getfixturevalue(name)
    return application


def add_two_notes(application: Application) -> None:
    """Embedded, however long a busy machine takes for the first one."""
    client = application.flask().test_client()
    for title in ("redis pool", "数据库"):
        note = data_of(client.post("/api/notes", json={"title": title}), 201)
        address = f"/api/notes/{note['id']}"
        for _ in range(ATTEMPTS):
            if data_of(client.get(address))["embedding_status"] == "done":
                break
            client.post(f"{address}/embed")


@contextmanager
def failing(stub: StubProvider, behaviour: Behaviour) -> Iterator[None]:
    """Let the provider fail for a while."""
    stub.behave(behaviour)
    try:
        yield
    finally:
        stub.behave(behaviours.fine)


def contents(application: Application) -> list[Any]:
    """Every row of the tables that an embedding may touch."""
    with application.database.read() as connection:
        return [
            connection.exec_driver_sql(f"SELECT * FROM {table}").all()
            for table in ("notes", "embeddings", "note_spaces", "embedding_spaces", "index_state")
        ]


@pytest.mark.parametrize(("behaviour", "code", "advice"), FAILURES.values(), ids=FAILURES)
def test_reads_and_embeds(
    asking: Application, module_stub: StubProvider, behaviour: Behaviour, code: str, advice: str
) -> None:
    client = asking.flask().test_client()
    before = contents(asking)
    with failing(module_stub, behaviour):
        answers = [
            client.get("/api/search?q=redis"),
            client.get("/api/search/why?q=redis&note_id=1"),
            client.post("/api/notes/1/embed"),
        ]
        if code != "provider_timeout":
            answers += [client.get(f"/api/search?q=redis&ranker={ranker}") for ranker in RANKERS]
    for answer in answers:
        assert advice in error_of(answer, 503, code)
    assert contents(asking) == before
    assert ids_of(client.get("/api/search?q=redis")) == [1]
    assert data_of(client.get("/api/notes/1"))["embedding_status"] == "done"


@pytest.mark.parametrize(("behaviour", "code", "advice"), FAILURES.values(), ids=FAILURES)
def test_writes(
    asking: Application, module_stub: StubProvider, behaviour: Behaviour, code: str, advice: str
) -> None:
    """The note is stored, told to be not embedded and why, and found by its text."""
    client = asking.flask().test_client()
    with failing(module_stub, behaviour):
        response = client.post("/api/notes", json={"title": "kafka", "tags": ["lag"]})
    created = data_of(response, 201)
    assert created["embedding_status"] == "failed"
    assert advice in created["embedding_error"]
    assert envelope_of(response)["warnings"] == [f"Not embedded: {created['embedding_error']}"]
    note_id = created["id"]
    assert data_of(client.get(f"/api/notes/{note_id}")) == created
    assert ids_of(client.get("/api/notes?search=kafka")) == [note_id]
    assert ids_of(client.get("/api/search?q=kafka")) == []
    why = data_of(client.get(f"/api/search/why?q=kafka&note_id={note_id}"))
    assert created["embedding_error"] in why["message"]
    assert data_of(client.post(f"/api/notes/{note_id}/embed"))["chunks"] == 1
    assert data_of(client.get(f"/api/notes/{note_id}"))["embedding_error"] is None
    assert ids_of(client.get("/api/search?q=kafka")) == [note_id]
    data_of(client.delete(f"/api/notes/{note_id}"))


def test_an_edit_that_cannot_be_embedded(small: Application, module_stub: StubProvider) -> None:
    """The vectors of the old text would speak of what is gone, so the note has none."""
    client = small.flask().test_client()
    with failing(module_stub, behaviours.status(500)):
        edited = data_of(client.patch("/api/notes/2", json={"title": "postgres"}))
        assert (edited["title"], edited["embedding_status"]) == ("postgres", "failed")
        named = data_of(client.patch("/api/notes/2", json={"project": "atlas"}))
        assert (named["project"], named["embedding_status"]) == ("atlas", "failed")
    assert ids_of(client.get("/api/search?q=数据库")) == []
    assert ids_of(client.get("/api/notes?search=postgres")) == [2]
    back = data_of(client.patch("/api/notes/2", json={"title": "数据库"}))
    assert (back["embedding_status"], back["embedding_error"]) == ("done", None)
    assert ids_of(client.get("/api/search?q=数据库")) == [2]


def test_one_bad_text_fails_one_note(client: FlaskClient, provider: StubProvider) -> None:
    """The provider refuses whatever call holds it."""

    def refuse(asked: behaviours.Asked, vector: behaviours.VectorFunction) -> behaviours.Reply:
        is_bad = any("poison" in text for text in asked.texts)
        return (behaviours.status(400) if is_bad else behaviours.fine)(asked, vector)

    lines = [
        line
        for number, title in enumerate(("one", "poison", "three"), start=1)
        for line in (
            {"type": "conversation", "external_id": f"c{number}"},
            {
                "type": "note",
                "external_id": f"n{number}",
                "conversation": f"c{number}",
                "title": title,
            },
        )
    ]
    client.post("/api/import", data=json_lines(lines), content_type="application/x-ndjson")
    provider.behave(refuse)
    assert data_of(client.post("/api/notes/1/embed"))["chunks"] == 1
    error_of(client.post("/api/notes/2/embed"), 503, "provider_rejected")
    note = data_of(client.get("/api/notes/2"))
    assert note["embedding_status"] == "failed"
    assert "embedding.max_chars" in note["embedding_error"]


def test_down(tmp_path: Any) -> None:
    """Nobody listens at the address, from the first start on."""
    with ExitStack() as stack:
        address = stack.enter_context(refused_address())
        values = {"provider": "openai", "base_url": address, "retries": "0"}
        settings = {f"embedding.{name}": value for name, value in values.items()}
        built = stack.enter_context(opened(tmp_path, settings))
        client = built.flask().test_client()
        for path in ("search?q=x", "search/why?q=x&note_id=1", "ready"):
            sentence = error_of(client.get(f"/api/{path}"), 503, "provider_unreachable")
            assert "embedding.base_url" in sentence
        created = data_of(client.post("/api/notes", json={"title": "kept"}), 201)
        assert created["embedding_status"] == "failed"
        assert "embedding.base_url" in created["embedding_error"]
        error_of(client.post("/api/notes/1/embed"), 503, "provider_unreachable")
        assert ids_of(client.get("/api/notes?search=kept")) == [1]
        assert data_of(client.get("/api/status"))["stats"]["totalNotes"] == 1
        data_of(client.get("/api/health"))


def test_a_provider_that_passes_is_not_noticed(editor: FlaskClient, stub: StubProvider) -> None:
    """What was embedded is found from memory of the query, whatever became of the provider."""
    found = editor.get("/api/search?q=docker").get_data()
    stub.behave(behaviours.status(500))
    assert editor.get("/api/search?q=docker").get_data() == found
    error_of(editor.get("/api/search?q=dockers"), 503, "provider_rejected")
    stub.behave(behaviours.fine)
    data_of(editor.get("/api/search?q=dockers"))


def test_a_redirect_is_not_followed(client: FlaskClient, provider: StubProvider) -> None:
    """Neither the texts nor the key go to where a provider, or who plays one, points."""
    with StubProvider() as elsewhere:
        provider.behave(behaviours.status(307, {"Location": f"{elsewhere.base_url}/v1/embeddings"}))
        assert "redirects are not followed" in error_of(
            client.get("/api/search?q=redis"), 503, "provider_rejected"
        )
        assert elsewhere.requests == []


def test_the_state_of_the_provider_is_told(tmp_path: Any) -> None:
    """Down, and left alone: words still answer, and readiness says how it stands."""
    with refused_address() as address:
        values = {"embedding.provider": "openai", "embedding.base_url": address,
                  "embedding.retries": "0"}  # fmt: skip
        with opened(tmp_path, values) as built:
            client = built.flask().test_client()
            data_of(client.post("/api/notes", json={"title": "kafka lag"}), 201)
            state = client.get("/api/ready").get_json()["data"]["provider"]
            assert (state["up"], state["failures"] >= 2) == (False, True)
            figures = client.get("/api/metrics").get_data(as_text=True)
            assert "crystal_provider_up 0.0" in figures
            answer = client.get("/api/search?q=kafka&ranker=fusion")
            assert ids_of(answer) == [1]
            assert "words alone" in envelope_of(answer)["warnings"][0]
