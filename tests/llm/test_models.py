"""Language models over a real socket: requests, answers that are refused, secrets that stay."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from app.errors import ConfigurationError, CrystalError, ProviderAnswerInvalid, ProviderRejected
from app.llm import registry
from app.llm.base import LanguageModel, Task
from app.llm.schema import violation
from app.settings.values import LanguageModelSettings, parse
from tests.support.chat import answering, answering_in_turn
from tests.support.provider import Behaviour, StubProvider, raw, refused_address, status

SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string", "minLength": 1}},
    "required": ["title"],
}
TASK = Task("note", "Do it.", "[user]\nhello", SCHEMA)
GOOD = {"title": "Pool"}
PROVIDERS = tuple(registry.PROVIDERS)


def settings(provider: str, url: str, **more: str) -> LanguageModelSettings:
    values = {"provider": provider, "base_url": url, "retries": "1", **more}
    return parse({f"llm.{name}": text for name, text in values.items()}, {}).llm


def asked(
    provider: str, usual: Behaviour, **more: str
) -> tuple[dict[str, Any] | CrystalError, list[Any]]:
    """Ask a stub once; return the answer or error, and the requests that arrived."""
    with StubProvider(usual=usual) as stub:
        model = registry.create(settings(provider, stub.base_url, **more))
        try:
            return model.answer(TASK), stub.requests
        except CrystalError as error:
            return error, stub.requests
        finally:
            model.close()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_answer_in_the_form_that_was_asked_for(provider: str) -> None:
    answer, requests = asked(provider, answering(GOOD), model="m", api_key="secret-key")
    assert answer == GOOD
    (request,) = requests
    assert request.headers["authorization"] == "Bearer secret-key"
    assert request.body["model"] == "m"
    assert [each["role"] for each in request.body["messages"]] == ["system", "user"]
    assert request.body["messages"][1]["content"] == TASK.text


def test_each_provider_is_given_the_schema_in_its_own_way() -> None:
    _, (openai,) = asked("openai", answering(GOOD))
    _, (ollama,) = asked("ollama", answering(GOOD))
    assert openai.path == "/chat/completions"
    assert openai.body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert ollama.path == "/api/chat"
    assert ollama.body["format"] == SCHEMA
    assert ollama.body["stream"] is False
    assert ollama.body["options"]["num_ctx"] > 4000


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_violation_is_told_and_asked_again(provider: str) -> None:
    behaviour = answering_in_turn("no json", GOOD)
    answer, requests = asked(provider, behaviour)
    assert answer == GOOD
    assert "no JSON" in requests[1].body["messages"][-1]["content"]


@pytest.mark.parametrize("bad", ["", "[]", {"title": " "}, {"other": 1}, {"title": 3}, None])
def test_an_answer_that_never_fits_is_an_error(bad: Any) -> None:
    answer, requests = asked("openai", answering(bad))
    assert isinstance(answer, ProviderAnswerInvalid)
    assert "llm.model" in answer.message
    assert len(requests) == 2


def test_a_fenced_answer_is_read() -> None:
    answer, _ = asked("openai", answering(f"```json\n{json.dumps(GOOD)}\n```"))
    assert answer == GOOD


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("body", [b"{}", b"[]", b"nonsense"], ids=["empty", "list", "no json"])
def test_something_else_than_a_chat_is_an_error(provider: str, body: bytes) -> None:
    answer, _ = asked(provider, raw(body))
    assert isinstance(answer, ProviderAnswerInvalid)
    assert "llm.base_url" in answer.message


def test_an_error_says_what_to_check_and_no_secret() -> None:
    answer, _ = asked("openai", status(401, words="bad key sk-1"), api_key="sk-1")
    assert isinstance(answer, ProviderRejected)
    assert "language model" in answer.message and "llm.api_key" in answer.message
    assert "sk-1" not in answer.message
    assert "sk-1" not in repr(settings("openai", "http://x", api_key="sk-1"))


def test_nobody_there() -> None:
    with refused_address() as address:
        model = registry.create(settings("ollama", address, retries="0"))
        with pytest.raises(CrystalError, match=r"cannot be reached.*llm\.base_url"):
            model.answer(TASK)
        model.close()


@pytest.mark.parametrize(
    "make",
    [
        lambda: registry.create(settings("none", "")),
        lambda: registry.create(settings("openai", "no address")),
        lambda: registry.create(settings("openai", "http://x", api_key="ключ")),
    ],
    ids=["none", "address", "key"],
)
def test_settings_that_cannot_be_used(make: Callable[[], LanguageModel]) -> None:
    with pytest.raises(ConfigurationError, match="llm"):
        make()


def test_an_address_of_ollama_may_end_in_v1() -> None:
    with StubProvider(usual=answering(GOOD)) as stub:
        model = registry.create(settings("ollama", f"{stub.base_url}/v1"))
        assert model.answer(TASK) == GOOD
        model.close()


@pytest.mark.parametrize(
    ("value", "schema", "problem"),
    [
        ({"a": 1}, {"type": "object", "required": ["b"]}, "lacks b"),
        ([1, 2], {"type": "array", "maxItems": 1}, "at most 1"),
        (["x"], {"type": "array", "items": {"type": "integer"}}, r"answer\[0\] must be of type"),
        ("c", {"enum": ["a", "b"]}, "one of a, b"),
        (True, {"type": "integer"}, "type integer"),
        (2, {"type": "number", "maximum": 1}, "range"),
        (
            {"a": {"b": 1}},
            {"type": "object", "properties": {"a": {"type": "string"}}},
            r"answer\.a",
        ),
    ],
)
def test_violations_name_their_place(value: Any, schema: dict[str, Any], problem: str) -> None:
    found = violation(value, schema)
    assert found is not None
    assert re.search(problem, found)
    assert violation({"title": "x"}, SCHEMA) is None
