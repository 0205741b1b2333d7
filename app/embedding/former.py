"""The embedder of a space that was made with other settings than today's.

Owns what is still known of those: the model, its address, and the key while the address is today's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from app.domain.spaces import SpaceSpec
from app.embedding import registry
from app.embedding.base import Embedder
from app.errors import ConfigurationError, ProviderUnreachable
from app.settings.values import EmbeddingSettings, Secret


class LostEmbedder(Embedder):
    """Stands for a model that cannot be asked any more; says so whenever it is asked."""

    provider: ClassVar[str] = "lost"
    default_model: ClassVar[str] = ""

    def __init__(self, settings: EmbeddingSettings, spec: SpaceSpec, reason: str) -> None:
        """Stand for the model of a space; ``reason`` says what is missing."""
        super().__init__(replace(settings, model=spec.model), spec.dimension)
        self._spec = spec
        self._reason = reason

    @property
    def spec(self) -> SpaceSpec:
        """The space that the model's vectors live in."""
        return self._spec

    def request_vectors(self, texts: Sequence[str], *, is_query: bool) -> object:
        """Refuse.

        Raises:
            ProviderUnreachable: always.
        """
        raise ProviderUnreachable(
            f"The model {self._spec.provider}/{self._spec.model}, whose vectors are searched, "
            f"cannot be asked any more: {self._reason}"
        )


def create(settings: EmbeddingSettings, spec: SpaceSpec, address: str | None) -> Embedder:
    """Make the embedder of a space by today's settings and the address it had, if that is known."""
    is_same_provider = spec.provider == settings.provider
    if address is None:
        address = settings.base_url if is_same_provider else ""
    keeps_key = is_same_provider and address == settings.base_url
    former = replace(
        settings,
        provider=spec.provider,
        model=spec.model,
        base_url=address,
        api_key=settings.api_key if keeps_key else Secret(""),
    )
    try:
        return registry.create(former, spec.dimension)
    except ConfigurationError as error:
        return LostEmbedder(settings, spec, error.message)
