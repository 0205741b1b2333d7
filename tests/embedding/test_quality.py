"""The second bundled model itself, of the extra `quality`."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from types import SimpleNamespace

import numpy as np
import pytest

from app.embedding import quality as module
from app.embedding.quality import (
    DIMENSION,
    MAX_CHARS,
    MODEL,
    PACKAGE,
    SPACE_FILE,
    QualityEmbedder,
    packaged_scale,
)
from app.embedding.registry import PROVIDERS
from app.embedding.scale import centre_passages, centre_query, means_of
from app.errors import BlankText, ConfigurationError
from app.settings.table import PROVIDERS as CHOICES
from app.settings.values import EmbeddingSettings
from tests.embedding.conftest import make_settings

SettingsMaker = Callable[..., EmbeddingSettings]

QUERY = "数据库连接不够用"
TEXTS = (
    "The database connection pool ran out because a transaction stayed open.",
    "数据库连接池耗尽，因为事务一直没有提交。",
    "Use multi-stage builds to make the Docker image smaller.",
)


@pytest.fixture(scope="module")
def quality() -> QualityEmbedder:
    """The model, loaded once."""
    model = QualityEmbedder(make_settings())
    model.warm()
    return model


def test_spec_has_the_packaged_scale_and_the_version_of_the_weights(
    quality: QualityEmbedder,
) -> None:
    spec = quality.spec
    assert (spec.provider, spec.model) == ("builtin-quality", MODEL)
    assert (spec.dimension, spec.max_chars) == (DIMENSION, MAX_CHARS)
    assert (spec.border, spec.means) == packaged_scale()
    assert 0 < spec.border < 1
    assert MODEL.endswith(sys.modules[PACKAGE].__version__)


def test_packaged_file_says_its_dimension() -> None:
    content = resources.files("app.embedding").joinpath(SPACE_FILE).read_text(encoding="utf-8")
    assert json.loads(content)["dimension"] == DIMENSION


def test_it_is_no_provider_that_settings_may_name() -> None:
    """It is too slow to be the only one."""
    assert QualityEmbedder.provider not in {*PROVIDERS, *CHOICES}


def test_settings_of_the_first_model_do_not_reach_it(settings: SettingsMaker) -> None:
    embedder = QualityEmbedder(settings(model="use-multilingual-v3", max_chars=100))
    assert (embedder.model, embedder.max_chars) == (MODEL, MAX_CHARS)


def test_centred_cosines_tell_meaning_across_languages(quality: QualityEmbedder) -> None:
    """Not centred, all of them are about 0.8."""
    means = means_of(quality.spec)
    raw = quality.embed_passages(TEXTS)
    assert (raw @ quality.embed_query(QUERY).vector).min() > 0.75
    passages = centre_passages(raw, np.array([False, True, False]), means)
    cosines = passages @ centre_query(quality.embed_query(QUERY).vector, True, means)
    assert cosines[:2].min() > quality.spec.border
    assert cosines[2] < 0.1


def test_queries_and_passages_are_embedded_apart(quality: QualityEmbedder) -> None:
    passage = quality.embed_passages(TEXTS[:1])[0]
    assert quality.embed_query(TEXTS[0]).vector @ passage < 0.999


def test_vectors_are_unit_length(quality: QualityEmbedder) -> None:
    vectors = quality.embed_passages(TEXTS)
    assert vectors.shape == (3, DIMENSION)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_a_batch_gives_what_its_texts_give_alone_and_again(quality: QualityEmbedder) -> None:
    together = quality.embed_passages(TEXTS)
    alone = np.concatenate([quality.embed_passages([text]) for text in TEXTS])
    np.testing.assert_array_equal(together, alone)


def test_threads_share_the_model(quality: QualityEmbedder) -> None:
    alone = quality.embed_passages(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(quality.embed_passages, [TEXTS] * 4))
    for vectors in found:
        np.testing.assert_array_equal(vectors, alone)


@pytest.mark.parametrize(
    "text",
    ["🎉🚀", "?!…", "a\ud800b", "\u200b", "a\x00b"],
    ids=["emoji", "punctuation", "surrogate", "zero-width", "nul"],
)
def test_odd_texts_are_embedded(quality: QualityEmbedder, text: str) -> None:
    assert quality.embed_passages([text]).shape == (1, DIMENSION)
    assert quality.embed_query(text).vector.shape == (DIMENSION,)


def test_what_follows_a_nul_counts(quality: QualityEmbedder) -> None:
    """Below, texts are C strings, which end at the first one."""
    one, other = quality.embed_passages(["pool\x00", "pool\x00 of Docker images"])
    assert one @ other < 0.999


def test_a_blank_text_is_refused(quality: QualityEmbedder) -> None:
    with pytest.raises(BlankText):
        quality.embed_query(" \n")


def test_a_query_is_embedded_once(quality: QualityEmbedder) -> None:
    assert quality.embed_query(QUERY) is quality.embed_query(QUERY)


COUNT_THREADS = """
import os, app
from app.embedding.quality import load_encoder
encoder = load_encoder()
encoder.query(["text"]), encoder.passage(["text"] * 4)
print(len(os.listdir("/proc/self/task")))
"""


def test_it_runs_on_one_thread() -> None:
    """More would spin on the cores that searches need."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("OMP_")}
    done = subprocess.run(
        [sys.executable, "-c", COUNT_THREADS], env=kept, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "1"


def test_the_model_is_loaded_at_first_use(
    settings: SettingsMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[str] = []

    class Recording:
        def query(self, texts: list[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
            return np.ones((len(texts), DIMENSION), np.float32)

        passage = query

    def load() -> module.Encoder:
        loads.append("loaded")
        return Recording()

    monkeypatch.setattr(module, "load_encoder", load)
    embedder = QualityEmbedder(settings())
    assert embedder.spec.dimension == DIMENSION
    assert loads == []
    embedder.warm()
    embedder.embed_query("text")
    assert loads == ["loaded"]


def test_a_missing_extra_is_named_and_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert module.is_installed()
    monkeypatch.setitem(sys.modules, PACKAGE, None)
    assert not module.is_installed()
    with pytest.raises(ConfigurationError, match=r"pip install 'chatcrystal-search\[quality\]'"):
        module.load_encoder()


@pytest.mark.parametrize("fault", [OSError("no such instruction"), RuntimeError("no model")])
def test_a_model_that_does_not_load_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def refuse() -> None:
        raise fault

    monkeypatch.setitem(sys.modules, PACKAGE, SimpleNamespace(E5=refuse))
    with pytest.raises(ConfigurationError, match=f"does not load here: {fault}"):
        module.load_encoder()
