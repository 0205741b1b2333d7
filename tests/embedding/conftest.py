"""Settings for embedders, made as the application makes them."""

from collections.abc import Callable, Iterator

import pytest

from app.embedding.base import Embedder
from app.embedding.builtin import BuiltinEmbedder
from app.embedding.registry import create
from app.settings.values import EmbeddingSettings, parse

SettingsMaker = Callable[..., EmbeddingSettings]
EmbedderMaker = Callable[..., Embedder]


def make_settings(**values: object) -> EmbeddingSettings:
    """Embedding settings by their leaf names; the rest are the defaults."""
    stored = {f"embedding.{name}": str(value) for name, value in values.items()}
    return parse(stored, {}).embedding


@pytest.fixture
def settings() -> SettingsMaker:
    return make_settings


@pytest.fixture
def embedder() -> Iterator[EmbedderMaker]:
    """Makes embedders of the registry and closes them in the end."""
    made: list[Embedder] = []

    def make(expected_dimension: int | None = None, **values: object) -> Embedder:
        made.append(create(make_settings(**values), expected_dimension))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture(scope="session")
def builtin() -> BuiltinEmbedder:
    """The bundled model, loaded once."""
    model = BuiltinEmbedder(make_settings())
    model.warm()
    return model
