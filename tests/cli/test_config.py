"""`crystal config`: what is shown, what a change wants, and keys that nobody sees."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.domain.notes import NoteDraft
from app.factory import Application
from app.settings import store
from tests.cli.conftest import Ran, Runner, run_on_terminal, runner_over
from tests.support.application import opened, planted_vector, stub_values
from tests.support.provider import StubProvider, refused_address

KEY = "sk-very-secret"
ANOTHER_MODEL = ("config", "set", "embedding.model", "another")


@pytest.fixture
def application(provider: StubProvider, tmp_path: Path) -> Iterator[Application]:
    """An application with one embedded note."""
    with opened(tmp_path, stub_values(provider)) as built:
        built.writer.create_note(NoteDraft("Redis pool", "cos=0.9"))
        yield built


@pytest.fixture
def transport(application: Application) -> httpx.WSGITransport:
    return httpx.WSGITransport(app=application.flask())


@pytest.fixture
def run(transport: httpx.WSGITransport) -> Runner:
    return runner_over(transport)


def stored(application: Application) -> dict[str, str]:
    return store.read(application.settings.data_dir)


def test_json_is_what_the_server_says(library: httpx.WSGITransport, read: Runner) -> None:
    ran = read("config", "get")
    assert ran.code == 0
    with httpx.Client(transport=library, base_url="http://localhost") as client:
        assert ran.data == client.get("/api/config").json()["data"]


def facts(ran: Ran) -> dict[str, str]:
    """The lines of two columns."""
    pairs = [line.strip().split("  ", 1) for line in ran.out.splitlines() if line.strip()]
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}


def test_a_terminal_gets_a_table(library: httpx.WSGITransport) -> None:
    ran = run_on_terminal(library, "config", "get")
    shown = facts(ran)
    assert ran.code == 0
    assert shown["Provider"] == "openai"
    assert shown["Model"] == "text-embedding-3-small"
    assert shown["Address"].startswith("http://127.0.0.1:")
    assert shown["API key"] == "not set"
    assert shown["Ranker"] == "chatcrystal"
    assert shown["Space"] == "openai/text-embedding-3-small, 8 dimensions"
    assert shown["Border"] == "0.58"
    assert shown["Means"] == "none"
    assert (shown["codex"], shown["claude-code"]) == ("1", "5")


def test_a_terminal_gets_what_the_original_says_too() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        data: dict[str, Any] = {"server": True}
        if request.url.path == "/api/config":
            embedding = {"provider": "ollama", "model": "m", "baseURL": "", "hasApiKey": True}
            source = {"name": "codex", "displayName": "Codex", "conversationCount": 3}
            data = {"llm": {}, "embedding": embedding, "sources": [source]}
        return httpx.Response(200, json={"success": True, "data": data})

    ran = run_on_terminal(httpx.MockTransport(answer), "config", "get")
    shown = facts(ran)
    assert ran.code == 0
    assert (shown["Provider"], shown["API key"], shown["codex"]) == ("ollama", "set", "3")
    assert shown["Address"] == "the provider's usual one"
    assert not {"Space", "Ranker"} & set(shown)


def test_a_change_without_consequences_is_made(run: Runner, application: Application) -> None:
    ran = run("config", "set", "search.ranker", "vector")
    assert (ran.code, ran.err) == (0, "")
    assert ran.data["search"]["ranker"] == "vector"
    assert stored(application) == {"search.ranker": "vector"}
    assert run("config", "get").data == ran.data


def test_a_terminal_gets_a_sentence(transport: httpx.WSGITransport) -> None:
    ran = run_on_terminal(transport, "config", "set", "search.ranker", "vector")
    assert (ran.code, ran.out.strip()) == (0, "search.ranker is changed.")


def test_a_change_that_wants_confirmation_says_why_and_changes_nothing(
    run: Runner, application: Application
) -> None:
    before = run("config", "get").data
    ran = run(*ANOTHER_MODEL)
    assert (ran.code, ran.out) == (1, "")
    warning, error = ran.err.splitlines()
    assert warning.startswith("Warning: The embedding model changes from ")
    assert error == "Error: Nothing is changed; give --confirm to change it all the same"
    assert run("config", "get").data == before
    assert stored(application) == {}

    lines = [json.loads(line) for line in run(*ANOTHER_MODEL, "--json").err.splitlines()]
    assert list(lines[0]) == ["warning"]
    assert lines[1]["code"] == "confirmation_needed"


def test_a_confirmed_change_is_made(run: Runner, application: Application) -> None:
    ran = run(*ANOTHER_MODEL, "--confirm")
    assert ran.code == 0
    assert ran.error.startswith("Warning: The embedding model changes from ")
    assert ran.data["embedding"]["model"] == "another"
    assert stored(application)["embedding.model"] == "another"


def test_the_address_is_changed_as_the_original_names_it(run: Runner) -> None:
    with StubProvider(vector=planted_vector) as moved:
        ran = run("config", "set", "embedding.baseURL", moved.base_url)
        assert ran.data["embedding"]["baseURL"] == moved.base_url


@pytest.mark.parametrize("given", [KEY, f"{KEY}\n", f"  {KEY}\r\n"], ids=["bare", "line", "blanks"])
def test_a_key_is_read_from_stdin_and_never_shown(
    run: Runner, application: Application, given: str
) -> None:
    ran = run("config", "set", "embedding.apiKey", "-", given=given)
    assert ran.code == 0, ran.err
    assert ran.data["embedding"]["hasApiKey"] is True
    assert KEY not in ran.out + ran.err
    assert stored(application)["embedding.api_key"] == KEY


def test_an_empty_key_takes_it_away(run: Runner) -> None:
    run("config", "set", "embedding.apiKey", "-", given=KEY)
    assert run("config", "set", "embedding.apiKey", "").data["embedding"]["hasApiKey"] is False


USAGE: dict[str, tuple[tuple[str, ...], str | bytes, str]] = {
    "key-in-arguments": (("embedding.apiKey", KEY), "", "Arguments are shown to every user"),
    "no-key": (("embedding.apiKey",), KEY, "Give - and the API key on stdin"),
    "empty-stdin": (("embedding.apiKey", "-"), "\n", "Give the API key on stdin, as one line."),
    "two-lines": (("embedding.apiKey", "-"), "a\nb", "Give the API key on stdin, as one line."),
    "no-utf8": (("embedding.apiKey", "-"), b"\xff", "The API key on stdin is not UTF-8."),
    "no-value": (("embedding.model",), "", "Missing argument 'VALUE'."),
    "near": (("embedding.base_url", "x"), "", "Did you mean 'embedding.baseURL'?"),
    "far": (("server.port", "1"), "", "Use one of embedding.provider, "),
    "no-leaf": (("embedding", "x"), "", "There is no key 'embedding'."),
}


@pytest.mark.parametrize(("arguments", "given", "said"), USAGE.values(), ids=USAGE)
def test_wrong_usage_is_one_line_and_changes_nothing(
    run: Runner,
    application: Application,
    arguments: tuple[str, ...],
    given: str | bytes,
    said: str,
) -> None:
    ran = run("config", "set", *arguments, given=given)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.error
    assert KEY not in ran.error
    assert stored(application) == {}


@pytest.mark.parametrize("key", ["llm.provider", "llm.apiKey", "llm"])
def test_language_models_are_not_part_of_this(run: Runner, key: str) -> None:
    ran = run("config", "set", key, "openai")
    assert (ran.code, ran.out) == (1, "")
    assert "language models are not part of chatcrystal-search" in ran.error


@pytest.mark.parametrize(
    ("key", "value"),
    [("embedding.provider", "bogus"), ("search.ranker", "best")],
)
def test_a_value_that_the_server_refuses_is_one_line(
    run: Runner, application: Application, key: str, value: str
) -> None:
    ran = run("config", "set", key, value)
    assert (ran.code, ran.out) == (1, "")
    assert "must be one of" in ran.error
    assert stored(application) == {}


def test_a_provider_that_answers_is_told(run: Runner, transport: httpx.WSGITransport) -> None:
    ran = run("config", "test")
    assert (ran.code, ran.err) == (0, "")
    assert ran.data["embedding"]["ok"] is True
    shown = run_on_terminal(transport, "config", "test").out.strip()
    assert shown == "openai/text-embedding-3-small answers with 8 dimensions."


def test_a_provider_that_fails_is_exit_1(tmp_path: Path) -> None:
    with (
        refused_address() as address,
        opened(
            tmp_path,
            {
                "embedding.provider": "openai",
                "embedding.base_url": address,
                "embedding.retries": "0",
            },
        ) as application,
    ):
        transport = httpx.WSGITransport(app=application.flask())
        ran = runner_over(transport)("config", "test", "--json")
        assert ran.code == 1
        assert ran.data["embedding"]["ok"] is False
        assert json.loads(ran.error)["code"] == "provider_unreachable"
        shown = run_on_terminal(transport, "config", "test")
        assert (shown.code, shown.out) == (1, "")
        assert "embedding.base_url" in shown.error


@pytest.mark.parametrize(
    ("outcome", "code"),
    [({"connected": True}, 0), ({"connected": False, "error": "no such model"}, 1)],
    ids=["well", "failed"],
)
def test_a_trial_by_the_original_is_understood(outcome: dict[str, Any], code: int) -> None:
    answer = {"success": True, "data": {"server": True, "embedding": outcome}}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=answer))
    ran = run_on_terminal(transport, "config", "test")
    assert ran.code == code
    assert ("The embedding provider answers." in ran.out) is (code == 0)
    assert ("no such model" in ran.err) is (code == 1)
