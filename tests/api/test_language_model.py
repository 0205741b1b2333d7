"""The language model over HTTP: configured, shown without its key, asked only when wanted."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app.settings.store import read
from tests.api.answers import data_of, error_of
from tests.api.test_summaries import finished
from tests.distill.talks import POOL
from tests.support.application import opened, stub_values
from tests.support.chat import answering
from tests.support.provider import StubProvider
from tests.support.talks import put
from tests.sync.test_distilling import ANSWER

KEY = "sk-very-secret"


def test_it_is_set_and_shown_without_its_key(client: FlaskClient, tmp_path: Path) -> None:
    body = {"llm": {"provider": "openai", "baseURL": "http://[::1]:1", "apiKey": KEY, "model": "m"}}
    response = client.post("/api/config", json=body)
    assert data_of(response)["llm"] == {
        "provider": "openai", "baseURL": "http://[::1]:1", "model": "m", "hasApiKey": True,
    }  # fmt: skip
    assert KEY not in response.get_data(as_text=True)
    assert read(tmp_path)["llm.api_key"] == KEY
    data = data_of(client.post("/api/config", json={"llm": {"baseURL": "http://[::1]:2"}}))
    assert data["llm"]["hasApiKey"] is False
    assert data_of(client.get("/api/config"))["llm"]["provider"] == "openai"


@pytest.mark.parametrize(
    "llm", [{"provider": "anthropic"}, {"timeout": "9"}, {"model": 3}, "openai"]
)
def test_what_cannot_be_set_is_refused(client: FlaskClient, llm: object) -> None:
    error_of(client.post("/api/config", json={"llm": llm}), 400, "invalid_parameter")
    assert data_of(client.get("/api/config"))["llm"]["provider"] == "none"


def test_it_is_asked_only_when_wanted_and_its_cost_is_told_first(tmp_path: Path) -> None:
    with StubProvider(usual=answering(ANSWER)) as stub, opened(tmp_path, stub_values(stub)) as app:
        caller = app.flask().test_client()
        put(app, "pool", POOL)
        llm = {"provider": "ollama", "baseURL": stub.base_url, "model": "m"}
        data_of(caller.post("/api/config", json={"llm": llm}))
        estimate = data_of(caller.post("/api/summarize/batch?model=true&dryRun=true"))["estimate"]
        assert (estimate["conversations"], estimate["model"]) == (1, "ollama/m")
        assert estimate["tokens"] > 100
        assert not [each for each in stub.requests if "messages" in each.body]
        data_of(caller.post("/api/conversations/pool/summarize?model=true"))
        finished(app)
        assert data_of(caller.get("/api/notes/1"))["title"] == ANSWER["title"]
        chats = [each for each in stub.requests if "messages" in each.body]
        assert len(chats) == 1
        assert len(chats[0].body["messages"][1]["content"]) <= estimate["characters"]


def test_relations_by_a_model_need_one(editor: FlaskClient) -> None:
    message = error_of(editor.post("/api/notes/1/discover-relations?model=true"), 400)
    assert "llm.provider" in message
