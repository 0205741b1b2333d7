"""Ollama by its own API.

Owns the form of that request and answer. Must not know HTTP beyond the client it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from app.domain.health import Health
from app.embedding.base import Embedder
from app.embedding.http import ProviderClient
from app.errors import ProviderAnswerInvalid
from app.settings.values import EmbeddingSettings

DEFAULT_URL = "http://localhost:11434"


class OllamaEmbedder(Embedder):
    """``POST {base_url}/api/embed``; the address may end in ``/v1``, as others write it."""

    provider: ClassVar[str] = "ollama"
    default_model: ClassVar[str] = "nomic-embed-text"

    def __init__(self, settings: EmbeddingSettings, expected_dimension: int | None = None) -> None:
        """Set up without connecting.

        Raises:
            ConfigurationError: The address or the key cannot be used.
        """
        super().__init__(settings, expected_dimension)
        address = (settings.base_url or DEFAULT_URL).rstrip("/").removesuffix("/v1")
        self._client = ProviderClient(settings, address)

    def request_vectors(self, texts: Sequence[str], *, is_query: bool) -> object:
        """Ask for the vectors of one batch; queries and passages are sent alike."""
        answer = self._client.post("/api/embed", {"model": self.model, "input": list(texts)})
        if not isinstance(answer, dict) or "embeddings" not in answer:
            raise ProviderAnswerInvalid(
                "The embedding provider's answer has no embeddings: check embedding.base_url"
            )
        return answer["embeddings"]

    def health(self) -> Health:
        """Tell how the provider does."""
        return self._client.health()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
