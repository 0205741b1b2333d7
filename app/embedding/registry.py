"""Which providers there are.

Owns the flat table that settings, help and documentation are checked against.
"""

from __future__ import annotations

from app.embedding.base import Embedder
from app.embedding.builtin import BuiltinEmbedder
from app.embedding.ollama import OllamaEmbedder
from app.embedding.openai import OpenAIEmbedder
from app.errors import ConfigurationError
from app.settings.values import EmbeddingSettings

PROVIDERS: dict[str, type[Embedder]] = {
    "builtin": BuiltinEmbedder,
    "openai": OpenAIEmbedder,
    "ollama": OllamaEmbedder,
}


def create(settings: EmbeddingSettings, expected_dimension: int | None = None) -> Embedder:
    """Make the embedder that the settings name; it neither connects nor loads yet.

    Args:
        expected_dimension: That of the stored vectors, if there are any.

    Raises:
        ConfigurationError: No such provider, or its settings cannot be used.
    """
    if settings.provider not in PROVIDERS:
        raise ConfigurationError(
            f"Setting embedding.provider must be one of {', '.join(PROVIDERS)}"
        )
    return PROVIDERS[settings.provider](settings, expected_dimension)
