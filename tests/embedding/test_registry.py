"""The table of providers and the settings that choose from it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from app.embedding.builtin import MODEL
from app.embedding.registry import PROVIDERS, create
from app.errors import ConfigurationError
from app.settings import table
from app.settings.values import EmbeddingSettings

SettingsMaker = Callable[..., EmbeddingSettings]


def test_settings_know_the_same_providers() -> None:
    assert tuple(PROVIDERS) == table.PROVIDERS


@pytest.mark.parametrize(
    ("provider", "model", "dimension", "max_chars"),
    [
        ("builtin", MODEL, 512, 2_000),
        ("openai", "text-embedding-3-small", None, 32_764),
        ("ollama", "nomic-embed-text", None, 32_764),
    ],
    ids=PROVIDERS,
)
def test_defaults_of_a_provider(
    settings: SettingsMaker, provider: str, model: str, dimension: int | None, max_chars: int
) -> None:
    embedder = create(settings(provider=provider))
    assert type(embedder) is PROVIDERS[provider]
    spec = embedder.spec
    assert (spec.provider, spec.model) == (provider, model)
    assert (spec.dimension, spec.max_chars) == (dimension, max_chars)
    embedder.close()


def test_expected_dimension_is_passed_on(settings: SettingsMaker) -> None:
    assert create(settings(provider="ollama"), 64).spec.dimension == 64


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"provider": "builtin", "model": "other"}, "embedding.model"),
        ({"provider": "openai", "base_url": "nonsense"}, "embedding.base_url"),
        ({"provider": "openai", "base_url": "ftp://host/"}, "embedding.base_url"),
        ({"provider": "ollama", "base_url": "http://[::1"}, "embedding.base_url"),
        ({"provider": "ollama", "base_url": "http://u:hush@"}, "embedding.base_url"),
        ({"provider": "openai", "api_key": "hush\nhush"}, "embedding.api_key"),
        ({"provider": "openai", "api_key": "hush键"}, "embedding.api_key"),
    ],
    ids=["model", "no-scheme", "scheme", "bracket", "no-host", "key-newline", "key-chinese"],
)
def test_unusable_settings_are_named(
    settings: SettingsMaker, values: dict[str, str], named: str
) -> None:
    with pytest.raises(ConfigurationError, match=named) as caught:
        create(settings(**values))
    assert "hush" not in str(caught.value)


def test_unknown_provider(settings: SettingsMaker) -> None:
    with pytest.raises(ConfigurationError, match="builtin, openai, ollama"):
        create(replace(settings(), provider="other"))
