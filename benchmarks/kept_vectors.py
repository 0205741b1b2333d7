"""Vectors of the second model that are kept in the repository, since making them takes minutes.

Owns the file. The model is the real one; only its answers to the texts of the graded corpora are
not asked for again. ``python -m benchmarks.ratchet --update`` makes the file anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.embedding.quality import DIMENSION, QualityEmbedder
from app.settings.values import EmbeddingSettings

FILE = Path(__file__).parent.parent / "fixtures" / "graded" / "quality-vectors.npz"
KEY_BYTES = 8


class NotKept(Exception):
    """Texts have no kept vector: the corpora, or what is embedded of a note, have changed."""


class KeptVectors:
    """Vectors by text, half precision; ``used`` are the keys that were asked for."""

    def __init__(self, vectors: Mapping[int, NDArray[np.float16]]) -> None:
        self.vectors = dict(vectors)
        self.used: set[int] = set()

    @classmethod
    def read(cls, path: Path = FILE) -> KeptVectors:
        """Read the file; without one nothing is kept."""
        if not path.exists():
            return cls({})
        with np.load(path) as content:
            return cls(dict(zip(content["keys"].tolist(), content["vectors"], strict=True)))

    def write(self, path: Path = FILE) -> None:
        """Write the vectors that were used, the same bytes for the same vectors."""
        keys = sorted(self.used)
        np.savez(
            path,
            keys=np.array(keys, dtype=np.uint64),
            vectors=np.stack([self.vectors[key] for key in keys]),
        )


def key_of(text: str, *, is_query: bool) -> int:
    """Return the key of a text, which the model embeds in one way as a query."""
    kind = "query" if is_query else "passage"
    return int.from_bytes(blake2b(f"{kind}: {text}".encode(), digest_size=KEY_BYTES).digest())


class KeptEmbedder(QualityEmbedder):
    """The second model, with its vectors taken from those that are kept.

    One that is not kept is made where ``makes`` says so, and kept from then on.
    """

    def __init__(self, settings: EmbeddingSettings, kept: KeptVectors, *, makes: bool) -> None:
        super().__init__(settings)
        self._kept = kept
        self._makes = makes

    def request_vectors(self, texts: Sequence[str], *, is_query: bool) -> object:
        """Return (n, 384) float32.

        Raises:
            NotKept: a vector is missing and none is to be made.
        """
        found = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for place, text in enumerate(texts):
            key = key_of(text, is_query=is_query)
            self._kept.used.add(key)
            if key not in self._kept.vectors:
                self._kept.vectors[key] = self._made(text, is_query=is_query)
            found[place] = self._kept.vectors[key]
        return found

    def _made(self, text: str, *, is_query: bool) -> NDArray[np.float16]:
        if not self._makes:
            raise NotKept(
                f"No vector is kept of {text[:60]!r}: run python -m benchmarks.ratchet --update"
            )
        vectors = super().request_vectors([text], is_query=is_query)
        return np.asarray(vectors, dtype=np.float16).reshape(DIMENSION)
