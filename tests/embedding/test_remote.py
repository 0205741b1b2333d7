"""OpenAI-compatible servers and Ollama, over a real connection to a real server."""

import gzip
import json
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import chain
from typing import Any

import httpx
import numpy as np
import pytest

from app.embedding.base import Embedder
from app.errors import (
    CrystalError,
    ProviderAnswerInvalid,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnreachable,
    SpaceMismatch,
)
from app.remote import client as remote
from tests.support.provider import (
    Behaviour,
    Reply,
    StubProvider,
    delayed,
    dripping,
    fine,
    golden_vector,
    of_dimension,
    raw,
    refused_address,
    status,
    vectors,
)

EmbedderMaker = Callable[..., Embedder]

KEY = "sk-hush-hush"
PROVIDERS = ("openai", "ollama")
HANGING = 3.0
"""Seconds that no call with a deadline of half a second may take: a bound against hanging."""

pytestmark = pytest.mark.usefixtures("quick_retries")


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "FIRST_PAUSE", 0.005)


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def unit(text: str) -> Any:
    return np.array(golden_vector(text), np.float32)


def test_openai_asks_in_openai_form(embedder: EmbedderMaker) -> None:
    with StubProvider() as stub:
        one = embedder(
            provider="openai", base_url=f"{stub.base_url}/v1", model="m", api_key=KEY, batch_size=2
        )
        found = one.embed_passages(["alpha", "beta", "混合 text"])
    np.testing.assert_allclose(found, [unit("alpha"), unit("beta"), unit("混合 text")], atol=1e-7)
    assert [asked.path for asked in stub.requests] == ["/v1/embeddings"] * 2
    assert stub.requests[0].body == {
        "model": "m",
        "input": ["alpha", "beta"],
        "encoding_format": "float",
    }
    assert stub.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert stub.requests[0].headers["content-type"] == "application/json"


def test_ollama_asks_in_ollama_form(embedder: EmbedderMaker) -> None:
    with StubProvider() as stub:
        one = embedder(provider="ollama", base_url=stub.base_url, model="m")
        found = one.embed_query("alpha")
    np.testing.assert_allclose(found.vector, unit("alpha"), atol=1e-7)
    (asked,) = stub.requests
    assert asked.path == "/api/embed"
    assert asked.body == {"model": "m", "input": ["alpha"]}
    assert "authorization" not in asked.headers


@pytest.mark.parametrize(
    ("name", "suffix", "path"),
    [
        ("ollama", "", "/api/embed"),
        ("ollama", "/", "/api/embed"),
        ("ollama", "/v1", "/api/embed"),
        ("ollama", "/v1/", "/api/embed"),
        ("ollama", "/proxy/v1/", "/proxy/api/embed"),
        ("openai", "", "/embeddings"),
        ("openai", "/v1/", "/v1/embeddings"),
        ("openai", "/v1?version=2", "/v1/embeddings?version=2"),
    ],
)
def test_addresses_are_taken_as_people_write_them(
    embedder: EmbedderMaker, name: str, suffix: str, path: str
) -> None:
    with StubProvider() as stub:
        embedder(provider=name, base_url=stub.base_url + suffix).embed_query("alpha")
    assert stub.requests[0].path == path


def test_user_and_password_of_the_address_are_sent_and_not_shown(
    embedder: EmbedderMaker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with StubProvider(script=[fine], usual=status(400)) as stub:
        address = stub.base_url.replace("//", "//user:hush@")
        one = embedder(provider="openai", base_url=address)
        one.embed_query("alpha")
        with pytest.raises(ProviderRejected) as caught:
            one.embed_query("beta")
    assert stub.requests[0].headers["authorization"].startswith("Basic ")
    assert "hush" not in str(caught.value) + caplog.text


def test_openai_answers_are_sorted_by_index(embedder: EmbedderMaker) -> None:
    def backwards(asked: Any, vector: Any) -> Reply:
        reply = json.loads(fine(asked, vector).body)
        return Reply(json.dumps({"data": reply["data"][::-1]}).encode())

    with StubProvider(usual=backwards) as stub:
        found = embedder(provider="openai", base_url=stub.base_url).embed_passages(["one", "two"])
    np.testing.assert_allclose(found, [unit("one"), unit("two")], atol=1e-7)


def test_openai_answers_without_index_keep_their_order(embedder: EmbedderMaker) -> None:
    def bare(asked: Any, vector: Any) -> Reply:
        items = [{"embedding": vector(text)} for text in asked.texts]
        return Reply(json.dumps({"data": items}).encode())

    with StubProvider(usual=bare) as stub:
        found = embedder(provider="openai", base_url=stub.base_url).embed_passages(["one", "two"])
    np.testing.assert_allclose(found, [unit("one"), unit("two")], atol=1e-7)


def test_packed_answers_are_read(embedder: EmbedderMaker, provider: str) -> None:
    def packed(asked: Any, vector: Any) -> Reply:
        reply = fine(asked, vector)
        return replace(reply, body=gzip.compress(reply.body), headers={"Content-Encoding": "gzip"})

    with StubProvider(usual=packed) as stub:
        found = embedder(provider=provider, base_url=stub.base_url).embed_query("alpha")
    np.testing.assert_allclose(found.vector, unit("alpha"), atol=1e-7)


INVALID: dict[str, Behaviour] = {
    "no-json": raw(b"<html>hush</html>"),
    "no-text": raw(b"\xff\xfe\xff"),
    "nothing": raw(b""),
    "deep": raw(b"[" * 100_000),
    "list": raw(b"[]"),
    "null": raw(b"null"),
    "other-object": raw(b'{"hush": 1}'),
    "data-of-numbers": raw(b'{"data": [1], "embeddings": [1]}'),
    "data-null": raw(b'{"data": null, "embeddings": null}'),
    "no-embedding": raw(b'{"data": [{}], "embeddings": [null]}'),
    "badly-packed": raw(b"hush", {"Content-Encoding": "gzip"}),
    "empty": vectors([]),
    "too-many": vectors([[1.0], [1.0]]),
    "nan": vectors([[float("nan"), 1.0]]),
    "infinity": vectors([[float("inf"), 1.0]]),
    "zeros": vectors([[0.0, 0.0]]),
    "text": vectors([["0.5"]]),
    "base64": vectors(["AACAPw=="]),
}


@pytest.mark.parametrize("behaviour", INVALID.values(), ids=INVALID.keys())
def test_answers_that_are_no_vectors_are_invalid(
    embedder: EmbedderMaker, provider: str, behaviour: Behaviour
) -> None:
    with StubProvider(usual=behaviour) as stub:
        one = embedder(provider=provider, base_url=stub.base_url)
        with pytest.raises(ProviderAnswerInvalid) as caught:
            one.embed_query("secret question")
        assert len(stub.requests) == 1
    assert_harmless(caught.value)


def test_an_answer_too_large_is_not_read_to_its_end(
    embedder: EmbedderMaker, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "LARGEST_ANSWER", 1024**2)
    with StubProvider(usual=raw(b" " * (2 * 1024**2))) as stub:
        one = embedder(provider=provider, base_url=stub.base_url)
        with pytest.raises(ProviderAnswerInvalid, match="more than 1 MB"):
            one.embed_query("alpha")


@pytest.mark.parametrize(
    ("code", "advice", "requests"),
    [
        (301, "embedding.base_url", 1),
        (307, "embedding.base_url", 1),
        (400, "embedding.model", 1),
        (401, "embedding.api_key", 1),
        (403, "embedding.api_key", 1),
        (404, "embedding.model", 1),
        (405, "embedding.base_url", 1),
        (408, "try again", 3),
        (413, "embedding.batch_size", 1),
        (429, "too many requests", 3),
        (500, "try again later", 3),
        (503, "try again later", 3),
    ],
    ids=str,
)
def test_error_statuses_say_what_to_check(
    embedder: EmbedderMaker, provider: str, code: int, advice: str, requests: int
) -> None:
    behaviour = status(code, {"Location": "/elsewhere"}, words=f"hush {KEY}")
    with StubProvider(usual=behaviour) as stub:
        one = embedder(provider=provider, base_url=f"{stub.base_url}/v1?hush=1", api_key=KEY)
        with pytest.raises(ProviderRejected, match=advice) as caught:
            one.embed_query("secret question")
        assert len(stub.requests) == requests
        assert stub.base_url in caught.value.message
    assert str(code) in caught.value.message
    assert_harmless(caught.value)


@pytest.mark.parametrize("code", [408, 429, 500, 502, 503, 504], ids=str)
def test_passing_failures_are_tried_again(
    embedder: EmbedderMaker, provider: str, code: int
) -> None:
    with StubProvider(script=[status(code), status(code)]) as stub:
        found = embedder(provider=provider, base_url=stub.base_url).embed_query("alpha")
        assert len(stub.requests) == 3
    np.testing.assert_allclose(found.vector, unit("alpha"), atol=1e-7)


@pytest.mark.parametrize(("retries", "requests"), [(0, 1), (1, 2), (4, 5)], ids=str)
def test_retries_are_bounded(
    embedder: EmbedderMaker, provider: str, retries: int, requests: int
) -> None:
    with StubProvider(usual=status(500)) as stub:
        one = embedder(provider=provider, base_url=stub.base_url, retries=retries)
        with pytest.raises(ProviderRejected):
            one.embed_query("alpha")
        assert len(stub.requests) == requests


def soon() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=1), usegmt=True)


@pytest.mark.parametrize("value", ["0", "1", "soon", "nonsense", "-5"], ids=str)
def test_retry_after_is_honoured(embedder: EmbedderMaker, value: str) -> None:
    header = soon() if value == "soon" else value
    with StubProvider(script=[status(429, {"Retry-After": header})]) as stub:
        started = time.monotonic()
        embedder(provider="openai", base_url=stub.base_url).embed_query("alpha")
        assert len(stub.requests) == 2
        assert value != "1" or time.monotonic() - started >= 1.0


@pytest.mark.parametrize("value", ["3600", "9" * 400], ids=["hour", "endless"])
def test_a_wait_beyond_the_deadline_is_not_begun(embedder: EmbedderMaker, value: str) -> None:
    with StubProvider(usual=status(503, {"Retry-After": value})) as stub:
        started = time.monotonic()
        with pytest.raises(ProviderRejected):
            embedder(provider="openai", base_url=stub.base_url).embed_query("alpha")
        assert len(stub.requests) == 1
        assert time.monotonic() - started < HANGING


SLOW: dict[str, Sequence[Behaviour]] = {
    "silent": [delayed(60)],
    "dripping": [dripping(0.02)],
    "late-then-failing": [delayed(0.1, status(500))],
}


@pytest.mark.parametrize("script", SLOW.values(), ids=SLOW.keys())
def test_a_call_ends_by_its_deadline(
    embedder: EmbedderMaker, provider: str, script: Sequence[Behaviour]
) -> None:
    with StubProvider(usual=script[0]) as stub:
        one = embedder(provider=provider, base_url=stub.base_url, timeout=0.5, retries=10)
        started = time.monotonic()
        with pytest.raises((ProviderTimeout, ProviderRejected)) as caught:
            one.embed_query("secret question")
        assert time.monotonic() - started < HANGING
    assert_harmless(caught.value)


def test_a_timeout_says_what_to_check(embedder: EmbedderMaker, provider: str) -> None:
    with StubProvider(usual=delayed(60)) as stub:
        one = embedder(provider=provider, base_url=stub.base_url, timeout=0.2)
        with pytest.raises(ProviderTimeout, match=r"within 0.2 s: .*embedding.timeout") as caught:
            one.embed_query("alpha")
    assert isinstance(caught.value.__cause__, httpx.TimeoutException)


def test_a_refused_connection_is_unreachable(embedder: EmbedderMaker, provider: str) -> None:
    with refused_address() as address:
        one = embedder(provider=provider, base_url=address, api_key=KEY)
        with pytest.raises(ProviderUnreachable, match=r"embedding\.base_url") as caught:
            one.embed_query("secret question")
    assert address in caught.value.message
    assert isinstance(caught.value.__cause__, httpx.ConnectError)
    assert_harmless(caught.value)


def test_a_host_name_that_cannot_be_is_unreachable(embedder: EmbedderMaker) -> None:
    one = embedder(provider="openai", base_url=f"http://{'a' * 70}.invalid")
    with pytest.raises(ProviderUnreachable):
        one.embed_query("alpha")


def test_a_provider_that_comes_back_is_used_again(embedder: EmbedderMaker, provider: str) -> None:
    with StubProvider(script=[status(401)]) as stub:
        one = embedder(provider=provider, base_url=stub.base_url)
        with pytest.raises(ProviderRejected):
            one.embed_query("alpha")
        one.embed_query("alpha")
        assert len(stub.requests) == 2


def test_another_dimension_than_before_is_a_mismatch(
    embedder: EmbedderMaker, provider: str
) -> None:
    with StubProvider(script=[fine], usual=of_dimension(8)) as stub:
        one = embedder(provider=provider, base_url=stub.base_url)
        one.embed_query("alpha")
        with pytest.raises(SpaceMismatch, match=r"8 dimensions.* have 64"):
            one.embed_query("beta")


def test_nothing_shows_the_key(embedder: EmbedderMaker, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with StubProvider() as stub:
        one = embedder(provider="openai", base_url=stub.base_url, api_key=KEY)
        one.embed_query("alpha")
    shown = [repr(one), str(one), caplog.text]
    shown += [repr(value) for value in vars(one).values()]
    client = vars(one)["_client"]
    shown += [repr(value) for value in vars(client).values()]
    assert KEY not in "".join(shown)


def assert_harmless(error: CrystalError) -> None:
    """Neither the error nor what caused it shows a key, a text or the provider's words."""
    links: list[BaseException] = [error]
    while links[-1].__cause__ is not None:
        links.append(links[-1].__cause__)
    shown = "".join(chain.from_iterable((str(link), repr(link)) for link in links))
    for hidden in ("hush", KEY, "secret question", "?"):
        assert hidden not in shown
