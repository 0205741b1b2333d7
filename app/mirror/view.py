"""A consistent view: indexes as they stand at one sequence number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.domain.changes import IndexState
from app.domain.chunks import KIND_CHUNK, SECOND_PARTS
from app.domain.spaces import Space
from app.embedding.scale import Means, centre_query
from app.index.protocol import VectorIndex
from app.lexical.index import LexicalIndex
from app.text import has_han


@dataclass(frozen=True, slots=True)
class SecondView:
    """The second space; ``is_complete`` is None while nobody asked since vectors changed."""

    space: Space
    means: Means | None
    is_complete: bool | None = None


@dataclass(frozen=True, slots=True)
class View:
    """What one process knows at one moment of the feed.

    ``vectors`` has an index per part that was asked for: kinds of the active space, none while no
    space with a known dimension is active, and ``SECOND_PARTS``, none while ``second`` is None;
    ``words`` and its likes, ``fragments`` and ``messages`` with the documents of those, are None
    until they were asked for.
    """

    state: IndexState
    space: Space | None
    means: Means | None
    vectors: Mapping[str, VectorIndex]
    words: LexicalIndex | None = None
    second: SecondView | None = None
    fragments: LexicalIndex | None = None
    messages: LexicalIndex | None = None

    @property
    def index(self) -> VectorIndex | None:
        """The index of chunks."""
        return self.vectors.get(KIND_CHUNK)

    def prepared(self, vector: NDArray[np.float32], text: str) -> NDArray[np.float32]:
        """Bring a query vector (d,) to the form in which the index holds its vectors."""
        return centre_query(vector, has_han(text), self.means)

    def held_in(self, part: str) -> tuple[Space, str] | None:
        """Return the space that an index of vectors belongs to, and the kind that it holds."""
        if part in SECOND_PARTS:
            return (self.second.space, SECOND_PARTS[part]) if self.second else None
        return (self.space, part) if self.space else None

    def means_for(self, part: str) -> Means | None:
        """Return the means by which the vectors of an index are centred."""
        if part in SECOND_PARTS:
            return self.second.means if self.second else None
        return self.means
