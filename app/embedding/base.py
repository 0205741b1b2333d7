"""What every provider shares: batches, checks, unit length, the query cache.

Owns the ``Embedder``; a provider adds one method. Must not talk to a network or a model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from threading import Lock
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from app.domain.health import Health
from app.domain.spaces import SpaceSpec
from app.embedding.answers import normalised, unit_vectors
from app.embedding.cache import QueryCache, QueryVector
from app.embedding.sentences import even_parts
from app.errors import BlankText, SpaceMismatch
from app.settings.values import EmbeddingSettings
from app.text import clean, is_blank

__all__ = ("REMOTE_MAX_CHARS", "Embedder", "QueryVector")

REMOTE_MAX_CHARS = 32_764
"""8,191 tokens of 4 characters: the limit of remote providers that state no other (fusion.md)."""


class Embedder(ABC):
    """Turns texts into unit vectors of one space; safe among threads.

    A provider names itself and its defaults, and writes ``request_vectors``.
    """

    provider: ClassVar[str]
    default_model: ClassVar[str]
    default_max_chars: ClassVar[int] = REMOTE_MAX_CHARS
    known_dimension: ClassVar[int | None] = None

    def __init__(self, settings: EmbeddingSettings, expected_dimension: int | None = None) -> None:
        """Set up without touching network or model.

        Args:
            expected_dimension: That of the stored vectors; answers of another are refused.
        """
        self.model = settings.model or self.default_model
        self.max_chars = settings.max_chars or self.default_max_chars
        self._batch_size = settings.batch_size
        self._cache = QueryCache(settings.query_cache)
        self._dimension = expected_dimension or self.known_dimension
        self._dimension_lock = Lock()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} model={self.model!r}>"

    @abstractmethod
    def request_vectors(self, texts: Sequence[str], *, is_query: bool) -> object:
        """Return one vector per text: a list of lists of numbers, or an array (n, d).

        The caller checks the answer. The texts are not blank and encode as UTF-8; they are at
        most a batch.
        """

    @property
    def spec(self) -> SpaceSpec:
        """The space that the vectors live in."""
        return SpaceSpec(self.provider, self.model, self._dimension, self.max_chars)

    def warm(self) -> None:  # noqa: B027 - most providers have nothing to load
        """Load what the first call would otherwise wait for."""

    def health(self) -> Health:
        """Tell how the provider does; one without a network is always up."""
        return Health()

    def close(self) -> None:  # noqa: B027 - nor to give back
        """Give back connections; the embedder is not used again."""

    def embed_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] | None = None
    ) -> NDArray[np.float32]:
        """Embed texts to be found.

        Args:
            on_progress: Called after every batch with the number of texts done so far.

        Returns:
            (n, d) float32, unit length, in the order of the texts; (0, d) for none, with d 0
            while the dimension is unknown.

        Raises:
            BlankText: A text has nothing visible; nothing is embedded then.
            ProviderError: The provider failed or answered with something else.
            SpaceMismatch: The vectors have another dimension than expected.
        """
        prepared = [_prepare(text) for text in texts]
        batches = [np.empty((0, self._dimension or 0), np.float32)] if not prepared else []
        for start in range(0, len(prepared), self._batch_size):
            batch = prepared[start : start + self._batch_size]
            batches.append(self._embed(batch, is_query=False))
            if on_progress is not None:
                on_progress(start + len(batch))
        return np.concatenate(batches)

    def embed_query(self, text: str) -> QueryVector:
        """Embed a query, or take it from the cache.

        A query over ``max_chars`` is embedded in parts, their mean taken, and a warning says so.

        Raises:
            BlankText: The text has nothing visible.
            ProviderError: The provider failed or answered with something else.
            SpaceMismatch: The vector has another dimension than expected.
        """
        return self.embed_queries([text])[0]

    def embed_queries(self, texts: Sequence[str]) -> list[QueryVector]:
        """Embed several queries as ``embed_query`` does, those not in the cache in one call.

        Raises:
            BlankText: A text has nothing visible; nothing is embedded then.
            ProviderError: The provider failed or answered with something else.
            SpaceMismatch: A vector has another dimension than expected.
        """
        prepared = [_prepare(text) for text in texts]
        kept = {text: self._cache.get(text) for text in prepared}
        found = {text: entry for text, entry in kept.items() if entry is not None}
        fresh = [text for text, entry in kept.items() if entry is None]
        short = [text for text in fresh if len(text) <= self.max_chars]
        made = dict(zip(short, self._embed_short(short), strict=True))
        made |= {text: self._embed_query(text) for text in fresh if text not in made}
        for text in fresh:
            self._cache.put(text, made[text])
        return [(found | made)[text] for text in prepared]

    def _embed_short(self, texts: Sequence[str]) -> list[QueryVector]:
        batches = [
            self._embed(texts[start : start + self._batch_size], is_query=True)
            for start in range(0, len(texts), self._batch_size)
        ]
        return [_query_vector(row) for batch in batches for row in batch]

    def _embed_query(self, text: str) -> QueryVector:
        parts = even_parts(text, self.max_chars)
        vectors = [
            self._embed(parts[start : start + self._batch_size], is_query=True)
            for start in range(0, len(parts), self._batch_size)
        ]
        rows = np.concatenate(vectors)
        warnings: tuple[str, ...] = ()
        if len(text) > self.max_chars:
            rows = normalised(rows.mean(axis=0, dtype=np.float64, keepdims=True))
            warnings = (
                f"The query has {len(text)} characters, more than the {self.max_chars} that the "
                f"embedding model takes: the mean of its {len(parts)} parts was searched for",
            )
        return _query_vector(rows[0], warnings)

    def _embed(self, batch: Sequence[str], *, is_query: bool) -> NDArray[np.float32]:
        vectors = unit_vectors(self.request_vectors(batch, is_query=is_query), len(batch))
        self._settle_dimension(vectors.shape[1])
        return vectors

    def _settle_dimension(self, found: int) -> None:
        with self._dimension_lock:
            if self._dimension is None:
                self._dimension = found
            expected = self._dimension
        if found != expected:
            raise SpaceMismatch(
                f"{self.provider} model {self.model} answered with {found} dimensions, the "
                f"vectors in use have {expected}: set embedding.provider, embedding.model and "
                'embedding.base_url back, or run "crystal reindex" to embed everything anew'
            )


def _query_vector(row: NDArray[np.float32], warnings: tuple[str, ...] = ()) -> QueryVector:
    vector = row.copy()
    vector.setflags(write=False)
    return QueryVector(vector, warnings)


def _prepare(text: str) -> str:
    cleaned = clean(text)
    if is_blank(cleaned):
        raise BlankText("A text without a single visible character cannot be embedded")
    return cleaned
