"""Any server that speaks OpenAI's embeddings API.

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

DEFAULT_URL = "https://api.openai.com/v1"


class OpenAIEmbedder(Embedder):
    """``POST {base_url}/embeddings``; most providers and local servers offer it."""

    provider: ClassVar[str] = "openai"
    default_model: ClassVar[str] = "text-embedding-3-small"

    def __init__(self, settings: EmbeddingSettings, expected_dimension: int | None = None) -> None:
        """Set up without connecting.

        Raises:
            ConfigurationError: The address or the key cannot be used.
        """
        super().__init__(settings, expected_dimension)
        self._client = ProviderClient(settings, settings.base_url or DEFAULT_URL)

    def request_vectors(self, texts: Sequence[str], *, is_query: bool) -> object:
        """Ask for the vectors of one batch; queries and passages are sent alike."""
        answer = self._client.post(
            "/embeddings",
            {"model": self.model, "input": list(texts), "encoding_format": "float"},
        )
        return _vectors(answer)

    def health(self) -> Health:
        """Tell how the provider does."""
        return self._client.health()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _vectors(answer: object) -> object:
    items = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ProviderAnswerInvalid(
            "The embedding provider's answer has no list named data: check embedding.base_url"
        )
    if all(type(item.get("index")) is int for item in items):
        items = sorted(items, key=lambda item: item["index"])
    return [item.get("embedding") for item in items]
