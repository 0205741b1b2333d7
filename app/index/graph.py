"""A navigable small-world graph over a run of vectors, for answers that need not be exact.

Owns the building, the walk and the bytes of one graph. The vectors stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

import faiss
import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class GraphForm:
    """Links of a node, and how many candidates are kept while building and while searching."""

    links: int = 16
    ef_construction: int = 100
    ef_search: int = 100


@dataclass(frozen=True, eq=False, slots=True)
class Graph:
    """A graph that never changes; ``storage`` holds the vectors of its nodes."""

    index: faiss.IndexHNSW
    storage: faiss.Index
    form: GraphForm

    @classmethod
    def built(
        cls, blocks: Iterable[NDArray[np.float32]], storage: faiss.Index, form: GraphForm
    ) -> Graph:
        """Join the vectors, which ``storage`` holds in the same order."""
        index = faiss.IndexHNSWFlat(storage.d, form.links, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = form.ef_construction
        for block in blocks:
            index.add(block)
        # The vectors that it took a copy of go with it.
        return cls.of_bytes(_bytes_of(index), storage, form)

    @classmethod
    def of_bytes(cls, data: NDArray[np.uint8], storage: faiss.Index, form: GraphForm) -> Graph:
        """Read what ``to_bytes`` gave."""
        index: Any = faiss.deserialize_index(data, faiss.IO_FLAG_SKIP_STORAGE)
        index.own_fields = False
        index.storage = storage
        return cls(index, storage, form)

    def to_bytes(self) -> NDArray[np.uint8]:
        """Return the graph without the vectors."""
        return _bytes_of(self.index)

    def search(
        self, query: NDArray[np.float32], limit: int, selector: faiss.IDSelector | None
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return float32 scores and positions (1, limit); -1 where the walk found no more."""
        # faiss's list of types does not have it.
        make_parameters: Any = vars(faiss)["SearchParametersHNSW"]
        parameters = make_parameters(efSearch=max(limit, self.form.ef_search), sel=selector)
        scores, positions = self.index.search(query[np.newaxis, :], limit, params=parameters)
        return cast("NDArray[np.float32]", scores), cast("NDArray[np.int64]", positions)


def _bytes_of(index: faiss.IndexHNSW) -> NDArray[np.uint8]:
    return np.asarray(faiss.serialize_index(index, faiss.IO_FLAG_SKIP_STORAGE), dtype=np.uint8)
