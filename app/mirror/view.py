"""A consistent view: indexes as they stand at one sequence number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.domain.changes import IndexState
from app.domain.chunks import KIND_CHUNK
from app.domain.spaces import Space
from app.embedding.scale import Means, centre_query
from app.index.protocol import VectorIndex
from app.lexical.index import LexicalIndex
from app.text import has_han


@dataclass(frozen=True, slots=True)
class View:
    """What one process knows at one moment of the feed.

    ``vectors`` has an index per kind that was asked for, none while no space with a known
    dimension is active; ``words`` is None until it was asked for.
    """

    state: IndexState
    space: Space | None
    means: Means | None
    vectors: Mapping[str, VectorIndex]
    words: LexicalIndex | None = None

    @property
    def index(self) -> VectorIndex | None:
        """The index of chunks."""
        return self.vectors.get(KIND_CHUNK)

    def prepared(self, vector: NDArray[np.float32], text: str) -> NDArray[np.float32]:
        """Bring a query vector (d,) to the form in which the index holds its vectors."""
        return centre_query(vector, has_han(text), self.means)
