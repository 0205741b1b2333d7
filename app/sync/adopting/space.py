"""Which space the vectors of a directory belong to, and which settings would make it ours.

Owns the choice, and what is said where nobody named the model. Must not store anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.domain.adoption import AdoptionRequest
from app.domain.spaces import SpaceSpec
from app.embedding import registry
from app.embedding.base import REMOTE_MAX_CHARS, Embedder
from app.errors import ConfigurationError, ImportFailed, ProviderError, SpaceMismatch
from app.importers.chatcrystal import Origin
from app.settings.values import EmbeddingSettings

PROBE = "dimension"
"""What a provider is asked to embed when its dimension is not known yet."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The space of the vectors; None when nobody can say which it is.

    ``is_assumed`` says that only the dimension speaks for it.
    """

    space: SpaceSpec | None
    is_assumed: bool = False
    warnings: tuple[str, ...] = ()


def named(request: AdoptionRequest, said: Origin) -> Origin:
    """Return provider and model as the request names them, and where it does not, the directory.

    What the directory says of a model, an address or a key holds for its own provider only.
    """
    if request.provider not in (None, said.provider):
        said = Origin(request.provider)
    return replace(said, model=request.model or said.model)


def choose(
    origin: Origin, dimension: int, embedder: Embedder, settings: EmbeddingSettings
) -> Choice:
    """Choose the space of vectors of a dimension.

    Raises:
        ImportFailed: they were made by the named model, and cannot have been.
        ConfigurationError: the provider does not offer the named model.
    """
    mine = embedder.spec
    if origin.provider is None or origin.model is None:
        return _assumed(origin, dimension, embedder)
    if (origin.provider, origin.model) != (mine.provider, mine.model):
        mine = space_of(origin, dimension, settings)
    if mine.dimension not in (None, dimension):
        raise ImportFailed(
            f"The vectors have {dimension} dimensions and those of {mine.provider}/{mine.model} "
            f"{mine.dimension}: another model made them; name it with --provider and --model"
        )
    return Choice(mine)


def _assumed(origin: Origin, dimension: int, embedder: Embedder) -> Choice:
    mine = embedder.spec
    is_possible = origin.provider in (None, mine.provider) and origin.model in (None, mine.model)
    if is_possible and _dimension_of(embedder) in (None, dimension):
        warning = (
            f"Nothing says which model made the vectors; by their {dimension} dimensions "
            f"they are taken for those of {mine.provider}/{mine.model}, which is configured. If "
            'another one made them, run "crystal reindex"'
        )
        return Choice(mine, is_assumed=True, warnings=(warning,))
    warning = (
        f"The vectors, of {dimension} dimensions, were left out: nothing says which "
        f"model made them, and it was not the configured {mine.provider}/{mine.model}. To take "
        "them over, run again with --provider and --model"
    )
    return Choice(None, warnings=(warning,))


def _dimension_of(embedder: Embedder) -> int | None:
    """Return the dimension of a provider's vectors, asked for if need be; None if it is silent."""
    if embedder.spec.dimension is None:
        try:
            embedder.embed_passages([PROBE])
        except (ProviderError, SpaceMismatch):
            return None
    return embedder.spec.dimension


def space_of(origin: Origin, dimension: int, settings: EmbeddingSettings) -> SpaceSpec:
    """Return the space of a named provider's model, whether or not we can call that provider.

    Raises:
        ConfigurationError: the provider is built in, and has no such model.
    """
    provider, model = origin.provider or "", origin.model or ""
    offered = registry.PROVIDERS.get(provider)
    if offered is None or offered.known_dimension is None:
        max_chars = offered.default_max_chars if offered else REMOTE_MAX_CHARS
        return SpaceSpec(provider, model, dimension, max_chars)
    embedder = offered(replace(settings, provider=provider, model=model, max_chars=0))
    embedder.close()
    return embedder.spec


def settings_for(origin: Origin, now: EmbeddingSettings) -> dict[str, str]:
    """Return the settings that change when a provider and model become the configured ones.

    Where another provider is configured now, its address and key go with it.

    Raises:
        ConfigurationError: they are not named, or not known here.
    """
    if origin.provider is None or origin.model is None:
        raise ConfigurationError(
            "The directory does not name the provider and model of its vectors: "
            "give --provider and --model"
        )
    if origin.provider not in registry.PROVIDERS:
        raise ConfigurationError(
            f"The provider {origin.provider} cannot be configured here; it must be one of "
            f"{', '.join(registry.PROVIDERS)}"
        )
    wanted = {
        "embedding.provider": origin.provider,
        "embedding.model": origin.model,
        "embedding.base_url": origin.base_url,
        "embedding.api_key": origin.api_key.reveal(),
    }
    kept = dict.fromkeys(wanted, "")
    if origin.provider == now.provider:
        values = (now.provider, now.model, now.base_url, now.api_key.reveal())
        kept = dict(zip(wanted, values, strict=True))
    return {name: value for name, value in wanted.items() if value not in ("", kept[name])}
