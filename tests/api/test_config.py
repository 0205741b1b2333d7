"""The configuration over HTTP: what is shown, what may change, and what that does to vectors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.domain.notes import NoteDraft
from app.factory import Application, build
from app.settings import store
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider, refused_address

KEY = "sk-very-secret"


def change(client: FlaskClient, **body: Any) -> tuple[int, dict[str, Any]]:
    answer = client.post("/api/config", json=body)
    return answer.status_code, answer.get_json()


def statuses(client: FlaskClient) -> dict[str, int]:
    found: dict[str, int] = client.get("/api/status").get_json()["data"]["embedding"]["notes"]
    return found


def titles(client: FlaskClient, query: str) -> list[str]:
    rows = client.get("/api/search", query_string={"q": query}).get_json()["data"]
    return [row["title"] for row in rows]


@pytest.fixture
def noted(stub: StubProvider, tmp_path: Path) -> Iterator[Application]:
    """An application with two notes, embedded by the stub."""
    with opened(tmp_path, stub_values(stub, api_key=KEY)) as application:
        application.writer.create_note(NoteDraft("Redis pool", "connections ran out"))
        application.writer.create_note(NoteDraft("数据库锁", "写事务太长"))
        yield application


def test_the_shape_is_the_originals_with_ours_behind(reader: FlaskClient) -> None:
    shown = reader.get("/api/config").get_json()["data"]
    assert list(shown)[:5] == ["llm", "embedding", "sources", "enabledSources", "claudeProjectsDir"]
    assert list(shown["embedding"]) == ["provider", "baseURL", "model", "hasApiKey"]
    assert {source["name"]: source["conversationCount"] for source in shown["sources"]}
    assert shown["space"]["dimension"] == 64


def test_a_key_is_never_shown(noted: Application) -> None:
    client = noted.flask().test_client()
    answer = client.get("/api/config")
    assert answer.get_json()["data"]["embedding"]["hasApiKey"] is True
    assert KEY not in answer.get_data(as_text=True)


def test_another_model_wants_confirmation_and_changes_nothing_before(noted: Application) -> None:
    client = noted.flask().test_client()
    before = client.get("/api/config").get_json()
    status, answer = change(client, embedding={"model": "another"})
    assert status == 200
    assert answer["data"]["requiresConfirm"] is True
    assert "another" in answer["data"]["warnings"][0]
    assert client.get("/api/config").get_json() == before
    assert not (noted.settings.data_dir / store.FILE_NAME).exists()
    assert titles(client, "redis pool") == ["Redis pool"]


def test_a_confirmed_model_has_a_space_of_its_own_and_the_old_one_is_kept(
    noted: Application,
) -> None:
    client = noted.flask().test_client()
    status, answer = change(client, embedding={"model": "another"}, confirm=True)
    assert status == 200
    assert answer["data"]["space"]["model"] == "another"
    assert statuses(client) == {"pending": 2}
    assert titles(client, "redis pool") == ["Redis pool"]
    noted.batches.embed_many(noted.batches.unembedded())
    assert titles(client, "redis pool") == ["Redis pool"]
    change(client, embedding={"model": ""}, confirm=True)
    assert statuses(client) == {"done": 2}
    assert titles(client, "数据库锁") == ["数据库锁"]


def test_the_change_outlives_the_process(noted: Application, stub: StubProvider) -> None:
    change(noted.flask().test_client(), embedding={"model": "another"}, confirm=True)
    stored = store.read(noted.settings.data_dir)
    assert stored["embedding.model"] == "another"
    with StubProvider() as other:
        values = {"data_dir": str(noted.settings.data_dir)} | stub_values(other)
        settings = store.load(values | {"embedding.model": stored["embedding.model"]}, {})
        again = build(settings)
        assert again.embedder.spec.model == "another"
        again.close()


def test_another_address_of_the_same_model_keeps_the_vectors(noted: Application) -> None:
    client = noted.flask().test_client()
    with StubProvider() as moved:
        status, answer = change(client, embedding={"baseURL": moved.base_url})
        assert status == 200
        assert "requiresConfirm" not in answer["data"]
        assert statuses(client) == {"done": 2}
        assert titles(client, "a query never embedded before: redis pool")[:1] in (
            [],
            ["Redis pool"],
        )
        assert moved.requests


def test_another_model_behind_the_same_name_has_notes_embedded_anew_once_confirmed(
    noted: Application,
) -> None:
    client = noted.flask().test_client()
    with StubProvider(vector=lambda text: [1.0, float(len(text)), 2.0]) as other:
        _, asked = change(client, embedding={"baseURL": other.base_url})
        assert asked["data"]["requiresConfirm"] is True
        assert statuses(client) == {"done": 2}
        _, answer = change(client, embedding={"baseURL": other.base_url}, confirm=True)
        assert answer["data"]["space"]["dimension"] == 3
        assert statuses(client) == {"pending": 2}
        assert titles(client, "redis pool") == ["Redis pool"]
        noted.batches.embed_many(noted.batches.unembedded())
        assert statuses(client) == {"done": 2}
        assert client.get("/api/search", query_string={"q": "redis"}).status_code == 200


def test_an_address_that_does_not_answer_is_refused_and_nothing_changes(
    noted: Application,
) -> None:
    client = noted.flask().test_client()
    with refused_address() as address:
        status, answer = change(client, embedding={"baseURL": address}, confirm=True)
    assert (status, answer["code"]) == (503, "provider_unreachable")
    assert titles(client, "redis pool") == ["Redis pool"]


def test_a_new_address_drops_the_key(noted: Application) -> None:
    client = noted.flask().test_client()
    with StubProvider() as moved:
        change(client, embedding={"baseURL": moved.base_url})
        assert client.get("/api/config").get_json()["data"]["embedding"]["hasApiKey"] is False
        assert all("authorization" not in asked.headers for asked in moved.requests)
    assert KEY not in (noted.settings.data_dir / store.FILE_NAME).read_text(encoding="utf-8")


def test_the_file_is_readable_by_its_owner_only(noted: Application) -> None:
    change(noted.flask().test_client(), search={"ranker": "vector"})
    path = noted.settings.data_dir / store.FILE_NAME
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_text(encoding="utf-8"))["search"] == {"ranker": "vector"}


def test_a_search_follows_the_new_default_ranker(noted: Application) -> None:
    client = noted.flask().test_client()
    assert titles(client, "nothing that anyone wrote") == []
    change(client, search={"ranker": "vector"})
    assert len(titles(client, "nothing that anyone wrote")) == 2


@pytest.mark.parametrize(
    ("body", "named"),
    [
        pytest.param({}, "embedding", id="nothing"),
        pytest.param({"embedding": {}}, "embedding", id="an-empty-group"),
        pytest.param({"embedding": {"provider": "bogus"}}, "provider", id="a-bogus-provider"),
        pytest.param({"embedding": {"dataDir": "/"}}, "embedding", id="a-folder"),
        pytest.param({"embedding": {"model": 3}}, "embedding.model", id="no-text"),
        pytest.param({"embedding": "ollama"}, "embedding", id="no-object"),
        pytest.param({"search": {"ranker": "best"}}, "search.ranker", id="a-bogus-ranker"),
        pytest.param({"confirm": "yes"}, "confirm", id="no-boolean"),
        pytest.param({"server": {"host": "0.0.0.0"}}, "server", id="another-group"),
    ],
)
def test_a_bad_change_is_named_and_changes_nothing(
    noted: Application, body: dict[str, Any], named: str
) -> None:
    client = noted.flask().test_client()
    before = client.get("/api/config").get_json()
    answer = client.post("/api/config", json=body)
    assert answer.status_code == 400
    assert named in answer.get_json()["error"]
    assert client.get("/api/config").get_json() == before


def test_a_setting_that_the_environment_rules_cannot_be_changed(
    noted: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDING_MODEL", "fixed")
    status, answer = change(noted.flask().test_client(), embedding={"model": "another"})
    assert status == 400
    assert "EMBEDDING_MODEL" in answer["error"]


def test_a_trial_tells_what_the_provider_answers(noted: Application) -> None:
    answer = noted.flask().test_client().post("/api/config/test", json={})
    assert answer.get_json()["data"]["embedding"] == {
        "ok": True,
        "connected": True,
        "provider": "openai",
        "model": "text-embedding-3-small",
        "dimension": 64,
    }


def test_a_trial_that_fails_says_what_to_check_and_changes_nothing(noted: Application) -> None:
    client = noted.flask().test_client()
    before = client.get("/api/config").get_json()
    with refused_address() as address:
        answer = client.post("/api/config/test", json={"embedding": {"baseURL": address}})
    outcome = answer.get_json()["data"]["embedding"]
    assert outcome["ok"] is False
    assert "embedding.base_url" in outcome["error"]
    assert client.get("/api/config").get_json() == before
