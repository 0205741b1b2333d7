"""Batches, checks, unit length, dimensions and the query cache, with a provider of three lines."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.spaces import PLAIN_BORDER, SpaceSpec
from app.embedding.answers import unit_vectors
from app.embedding.base import REMOTE_MAX_CHARS, Embedder
from app.errors import BlankText, ProviderAnswerInvalid, ProviderUnreachable, SpaceMismatch
from app.settings.values import EmbeddingSettings

SettingsMaker = Callable[..., EmbeddingSettings]


class Scripted(Embedder):
    """Where the network begins: answers with what it is told and remembers what it was asked."""

    provider = "scripted"
    default_model = "counting"

    def __init__(
        self,
        settings: EmbeddingSettings,
        expected_dimension: int | None = None,
        reply: Callable[[Sequence[str]], Any] | None = None,
    ) -> None:
        super().__init__(settings, expected_dimension)
        self.reply = reply or (lambda texts: [[float(len(text)), 1.0] for text in texts])
        self.asked: list[tuple[list[str], bool]] = []

    def request_vectors(self, texts: Sequence[str], *, is_query: bool) -> object:
        self.asked.append((list(texts), is_query))
        return self.reply(texts)


def test_a_provider_writes_one_method() -> None:
    assert Embedder.__abstractmethods__ == {"request_vectors"}


def test_passages_are_batched_in_order(settings: SettingsMaker) -> None:
    embedder = Scripted(settings(batch_size=2))
    progress: list[int] = []
    vectors = embedder.embed_passages(["a", "bb", "ccc", "dddd", "eeeee"], progress.append)
    assert [len(texts) for texts, _ in embedder.asked] == [2, 2, 1]
    assert not any(is_query for _, is_query in embedder.asked)
    assert progress == [2, 4, 5]
    assert vectors.dtype == np.float32
    expected = np.array([[n, 1.0] for n in range(1, 6)])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_array_equal(vectors, expected.astype(np.float32))


@pytest.mark.parametrize(
    ("expected", "shape"), [(None, (0, 0)), (7, (0, 7))], ids=["unknown", "known"]
)
def test_no_passages_need_no_provider(
    settings: SettingsMaker, expected: int | None, shape: tuple[int, int]
) -> None:
    embedder = Scripted(settings(), expected)
    vectors = embedder.embed_passages([])
    assert vectors.shape == shape
    assert vectors.dtype == np.float32
    assert embedder.asked == []


@pytest.mark.parametrize(
    "text",
    ["", " ", "\n\n", "\ufeff", "\u3000\u00a0\t", "\x00", " \x00 "],
    ids=["empty", "space", "newlines", "bom", "wide", "nul", "nul-in-space"],
)
def test_blank_texts_are_refused_before_anything_is_sent(
    settings: SettingsMaker, text: str
) -> None:
    embedder = Scripted(settings())
    with pytest.raises(BlankText):
        embedder.embed_passages(["visible", text])
    with pytest.raises(BlankText):
        embedder.embed_query(text)
    assert embedder.asked == []


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("a\x00b", "ab"),
        ("lone \ud800 surrogate", "lone \ufffd surrogate"),
        (" not trimmed ", " not trimmed "),
        ("🎉", "🎉"),
        ("…?!", "…?!"),
    ],
    ids=["nul", "surrogate", "spaces", "emoji", "punctuation"],
)
def test_texts_are_sent_clean(settings: SettingsMaker, text: str, sent: str) -> None:
    embedder = Scripted(settings())
    embedder.embed_passages([text])
    embedder.embed_query(text)
    assert embedder.asked == [([sent], False), ([sent], True)]


BAD_ANSWERS: dict[str, Any] = {
    "none": None,
    "text": "[[1.0]]",
    "number": 1.0,
    "dict": {"data": []},
    "empty": [],
    "too-few": [[1.0, 0.0]],
    "too-many": [[1.0, 0.0]] * 3,
    "flat": [1.0, 0.0],
    "empty-vector": [[], []],
    "null-vector": [[1.0], None],
    "mixed-length": [[1.0, 0.0], [1.0]],
    "text-number": [["1.0", 0.0], [1.0, 0.0]],
    "bool": [[True, 0.0], [1.0, 0.0]],
    "null-number": [[None, 1.0], [1.0, 0.0]],
    "nested": [[[1.0], [1.0]], [[1.0], [1.0]]],
    "nan": [[float("nan"), 1.0], [1.0, 0.0]],
    "infinite": [[float("inf"), 1.0], [1.0, 0.0]],
    "beyond-float": [[10**400, 1], [1.0, 0.0]],
    "zeros": [[0.0, 0.0], [1.0, 0.0]],
    "array-of-objects": np.array([[None, 1], [1, 2]]),
    "array-of-bool": np.ones((2, 2), dtype=bool),
    "array-flat": np.ones(2),
    "array-too-few": np.ones((1, 2)),
    "array-no-columns": np.ones((2, 0)),
    "array-nan": np.array([[np.nan, 1.0], [1.0, 1.0]]),
}


@pytest.mark.parametrize("answer", BAD_ANSWERS.values(), ids=BAD_ANSWERS.keys())
def test_any_other_answer_is_invalid(settings: SettingsMaker, answer: Any) -> None:
    embedder = Scripted(settings(), reply=lambda texts: answer)
    with pytest.raises(ProviderAnswerInvalid, match="embedding provider"):
        embedder.embed_passages(["one", "two"])
    assert embedder.spec.dimension is None


@pytest.mark.parametrize(
    "answer",
    [
        [[3, 4]],
        [[3e200, 4e200]],
        [[3e-200, 4e-200]],
        np.array([[3.0, 4.0]], dtype=np.float32),
        np.array([[3, 4]]),
    ],
    ids=["whole-numbers", "huge", "tiny", "array", "integer-array"],
)
def test_vectors_become_unit_length(answer: Any) -> None:
    np.testing.assert_array_equal(unit_vectors(answer, 1), np.array([[0.6, 0.8]], np.float32))


finite = st.floats(allow_nan=False, allow_infinity=False)
rows = st.integers(1, 8).flatmap(
    lambda size: st.lists(
        st.lists(finite, min_size=size, max_size=size).filter(any), min_size=1, max_size=5
    )
)


@given(rows)
def test_every_finite_vector_but_zero_is_taken(answer: list[list[float]]) -> None:
    vectors = unit_vectors(answer, len(answer))
    assert vectors.shape == (len(answer), len(answer[0]))
    np.testing.assert_allclose(np.linalg.norm(vectors.astype(np.float64), axis=1), 1, atol=1e-6)


def test_the_first_answer_shows_the_dimension(settings: SettingsMaker) -> None:
    embedder = Scripted(settings())
    assert embedder.spec == SpaceSpec(
        "scripted", "counting", None, REMOTE_MAX_CHARS, PLAIN_BORDER, None
    )
    embedder.embed_query("a")
    assert embedder.spec.dimension == 2


def test_settings_name_model_and_limit(settings: SettingsMaker) -> None:
    spec = Scripted(settings(model="other", max_chars=77)).spec
    assert (spec.model, spec.max_chars) == ("other", 77)


@pytest.mark.parametrize("expected", [3, None], ids=["expected", "seen-first"])
def test_another_dimension_is_a_mismatch(settings: SettingsMaker, expected: int | None) -> None:
    embedder = Scripted(settings(), expected)
    if expected is None:
        embedder.reply = lambda texts: [[1.0, 2.0, 3.0]] * len(texts)
        embedder.embed_query("first")
    embedder.reply = lambda texts: [[1.0, 2.0]] * len(texts)
    with pytest.raises(SpaceMismatch, match=r"2 dimensions.* have 3: .*crystal reindex"):
        embedder.embed_query("second")
    with pytest.raises(SpaceMismatch):
        embedder.embed_passages(["second"])
    assert embedder.spec.dimension == 3


def test_a_query_is_embedded_once(settings: SettingsMaker) -> None:
    embedder = Scripted(settings())
    first = embedder.embed_query("same")
    assert embedder.embed_query("same") is first
    assert embedder.embed_query("same ") is not first
    assert embedder.asked == [(["same"], True), (["same "], True)]
    assert first.vector.shape == (2,)
    assert first.vector.dtype == np.float32
    assert first.warnings == ()
    with pytest.raises(ValueError, match="read-only"):
        first.vector[0] = 1.0


@pytest.mark.parametrize(("size", "calls"), [(0, 5), (1, 5), (2, 3), (3, 3)], ids=str)
def test_the_least_recently_used_query_leaves(
    settings: SettingsMaker, size: int, calls: int
) -> None:
    embedder = Scripted(settings(query_cache=size))
    for text in ["a", "b", "a", "c", "a"]:
        embedder.embed_query(text)
    assert len(embedder.asked) == calls


def test_failures_are_not_cached(settings: SettingsMaker) -> None:
    embedder = Scripted(settings())
    fine = embedder.reply

    def fail(texts: Sequence[str]) -> Any:
        raise ProviderUnreachable("gone")

    embedder.reply = fail
    with pytest.raises(ProviderUnreachable):
        embedder.embed_query("text")
    embedder.reply = fine
    assert embedder.embed_query("text").vector.shape == (2,)


def test_a_long_query_is_the_mean_of_its_parts(settings: SettingsMaker) -> None:
    embedder = Scripted(settings(max_chars=10, batch_size=2))
    embedder.reply = lambda texts: [
        [1.0, 0.0] if text.startswith("a") else [0.0, 1.0] for text in texts
    ]
    query = embedder.embed_query("aaaaaaaa bbbbbbbb")
    assert embedder.asked == [(["aaaaaaaa ", "bbbbbbbb"], True)]
    np.testing.assert_allclose(query.vector, [np.sqrt(0.5)] * 2, rtol=1e-6)
    (warning,) = query.warnings
    assert "17 characters" in warning
    assert "10" in warning
    assert "2 parts" in warning
    assert embedder.embed_query("aaaaaaaa bbbbbbbb") is query


def test_parts_of_a_query_are_batched(settings: SettingsMaker) -> None:
    embedder = Scripted(settings(max_chars=4, batch_size=2))
    embedder.embed_query("x" * 17)
    assert [len(texts) for texts, _ in embedder.asked] == [2, 2, 1]


def test_parts_that_cancel_out_are_invalid(settings: SettingsMaker) -> None:
    embedder = Scripted(settings(max_chars=1), reply=lambda texts: [[1.0], [-1.0]])
    with pytest.raises(ProviderAnswerInvalid):
        embedder.embed_query("ab")


def test_blank_parts_of_a_query_are_left_out(settings: SettingsMaker) -> None:
    embedder = Scripted(settings(max_chars=10))
    query = embedder.embed_query("word" + " " * 40)
    assert [texts for texts, _ in embedder.asked] == [["word     "]]
    assert len(query.warnings) == 1


def test_queries_from_many_threads_agree(settings: SettingsMaker) -> None:
    embedder = Scripted(settings(query_cache=3))
    texts = ["x" * (1 + number % 7) for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(embedder.embed_query, texts))
    for text, query in zip(texts, found, strict=True):
        np.testing.assert_allclose(query.vector[0] / query.vector[1], len(text), rtol=1e-6)
