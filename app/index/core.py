"""A run of vectors in memory that faiss scans where it lies, and the graph over it, if any.

Owns the faiss calls and the layout of that memory, which may be a mapped file. Must not know which
of the vectors are alive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from app.index.exact import FLOAT32_ERROR, exact_scores
from app.index.graph import Graph, GraphForm
from app.index.planes import PLANES, Planes

Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]
Positions = NDArray[np.int64]
Memory = NDArray[np.uint8]

DENSE_SPAN = 8
"""A lookup table may span this many times the ids before a binary search is cheaper."""

FRONT_BYTES = 256
"""What faiss reads before the vectors must fit in here."""

ALIGNMENT = 64
"""Vectors begin at a multiple of this many bytes."""

BLOCK_ROWS = 8_192
"""So many rows are joined to float32 at once."""

NARROW_SHARE = 0.2
"""A filter that lets less of a run pass is scanned: a graph would miss what is scattered in it."""

MARGIN = 1.1
"""What rounding was measured to be is taken for so many times as much, to be sure."""

_SCANNED_AS = {
    "float32": faiss.ScalarQuantizer.QT_bf16,
    "float16": faiss.ScalarQuantizer.QT_fp16,
}
_FRONT_ROWS = 3


@dataclass(frozen=True, slots=True)
class Form:
    """How vectors are held: the width of their numbers, and the graph over large runs."""

    precision: str = "float32"
    graph: GraphForm | None = None

    @property
    def width(self) -> int:
        """Bytes of one number."""
        return sum(np.dtype(kind).itemsize for kind in PLANES[self.precision])


PLAIN = Form()


@dataclass(frozen=True, eq=False, slots=True)
class Core:
    """Vectors with their ids ascending; ``scanner`` is faiss's own view of their first plane."""

    ids: Ids
    planes: Planes
    scanner: faiss.Index
    graph: Graph | None = None

    @classmethod
    def filled(
        cls,
        count: int,
        dimension: int,
        fill: Callable[[Ids, Planes], float],
        form: Form = PLAIN,
    ) -> Core:
        """Reserve the exact memory once and let ``fill`` write ids and vectors into it.

        It returns the rounding of what it has written.
        """
        raw = np.empty(FRONT_BYTES + ALIGNMENT + count * dimension * form.width, dtype=np.uint8)
        address = raw.__array_interface__["data"][0]
        start = FRONT_BYTES + -(address + FRONT_BYTES) % ALIGNMENT
        end = start + count * dimension * form.width
        core = cls.over(np.empty(count, dtype=np.int64), raw[:end], start, dimension, form)
        rounding = fill(core.ids, core.planes)
        return replace(core, planes=replace(core.planes, rounding=rounding))

    @classmethod
    def over(
        cls,
        ids: Ids,
        memory: Memory,
        start: int,
        dimension: int,
        form: Form,
        *,
        rounding: float = 0.0,
    ) -> Core:
        """Take vectors of a rounding that lie in writable memory from ``start`` to its end.

        The ``FRONT_BYTES`` before them are written over. The memory is kept alive.
        """
        planes = Planes.over(memory[start:], len(ids), dimension, form.precision, rounding)
        front = _front(len(ids), dimension, form.precision)
        memory[start - len(front) : start] = front
        part = memory[start - len(front) : start + planes.parts[0].nbytes]
        # faiss's list of types has neither the reader nor the member.
        make_reader: Any = vars(faiss)["ZeroCopyIOReader"]
        scanner: Any = faiss.read_index(make_reader(faiss.swig_ptr(part), part.size))
        if scanner.ntotal != len(ids) or (len(ids) and scanner.codes.is_owned):
            raise RuntimeError(f"faiss {faiss.__version__} did not take the memory as it lies")
        return cls(ids, planes, scanner)

    def with_graph(self, form: GraphForm) -> Core:
        """Return the core with a graph over the same memory; takes minutes for 100,000 rows."""
        return replace(self, graph=Graph.built(self.blocks(), self.scanner, form))

    def blocks(self) -> Iterator[NDArray[np.float32]]:
        """Hand out the vectors as float32, in order."""
        return (self.planes.take(rows) for rows in self.planes.blocks(BLOCK_ROWS))

    def error(self, query: NDArray[np.float32]) -> float:
        """Return how far a score that a scan gives may be from the exact one."""
        return self.planes.rounding * MARGIN * float(np.linalg.norm(query)) + FLOAT32_ERROR

    def exact(self, positions: Positions, query: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the exact scores of the vectors at some positions."""
        return exact_scores(self.planes.take(positions), query)

    def above(
        self, query: NDArray[np.float32], border: float
    ) -> tuple[Positions, NDArray[np.float32]]:
        """Return positions and scores of a scan for all that score more than a border."""
        _, scores, positions = self.scanner.range_search(query[np.newaxis, :], border)
        return positions, scores

    def search(
        self, query: NDArray[np.float32], limit: int, selected: Mask | None
    ) -> tuple[Positions, NDArray[np.float32]]:
        """Return positions and scores of the best by a scan, in no promised order among equals.

        They are the best by these scores, unless there is a graph and ``selected`` is not narrow.
        """
        wanted = min(limit, len(self.ids))
        if self.graph is not None and not _is_narrow(selected):
            scores, positions = self.graph.search(query, wanted, _selector(selected))
        else:
            parameters = None
            if selected is not None:
                parameters = faiss.SearchParameters(sel=_selector(selected))  # type: ignore[call-arg]
            scores, positions = self.scanner.search(query[np.newaxis, :], wanted, params=parameters)
        found = positions[0] >= 0
        return positions[0][found], scores[0][found]

    def positions(self, ids: Ids) -> Positions:
        """Return the positions of those ids that are here."""
        if not len(self.ids) or not len(ids):
            return np.empty(0, dtype=np.int64)
        found = np.searchsorted(self.ids, ids)
        found[found == len(self.ids)] = 0
        return np.asarray(found[self.ids[found] == ids], dtype=np.int64)

    def membership(self, ids: Ids) -> Mask:
        """Tell for each position whether its id is among the (ascending) ids."""
        mask = np.zeros(len(self.ids), dtype=np.bool_)
        low = np.searchsorted(ids, self.ids[0])
        high = np.searchsorted(ids, self.ids[-1], side="right")
        wanted = ids[low:high]
        span = int(self.ids[-1] - self.ids[0]) + 1
        if not len(wanted):
            return mask
        if span == len(self.ids):
            mask[wanted - self.ids[0]] = True
        elif span <= DENSE_SPAN * len(self.ids):
            table = np.zeros(span, dtype=np.bool_)
            table[wanted - self.ids[0]] = True
            mask = table[self.ids - self.ids[0]]
        else:
            mask[self.positions(wanted)] = True
        return mask


def _is_narrow(selected: Mask | None) -> bool:
    return selected is not None and int(selected.sum()) < NARROW_SHARE * len(selected)


def _selector(selected: Mask | None) -> faiss.IDSelector | None:
    if selected is None:
        return None
    bits = np.packbits(selected, bitorder="little")
    return faiss.IDSelectorBitmap(bits)  # type: ignore[call-arg, arg-type]


def _front(count: int, dimension: int, precision: str) -> Memory:
    """Return what faiss reads before the vectors of an index of so many.

    It is what this faiss writes for a small one, with both counts exchanged.
    """
    sample, entry = _sample(dimension, precision)
    front = sample.copy()
    front[8:16] = np.frombuffer(np.int64(count).tobytes(), dtype=np.uint8)
    front[-8:] = np.frombuffer(np.uint64(count * entry).tobytes(), dtype=np.uint8)
    return front


@lru_cache
def _sample(dimension: int, precision: str) -> tuple[Memory, int]:
    """Return the front of a small index, and the size of one vector as the front counts it."""
    kind = _SCANNED_AS[precision]
    index = faiss.IndexScalarQuantizer(dimension, kind, faiss.METRIC_INNER_PRODUCT)
    index.add(np.zeros((_FRONT_ROWS, dimension), dtype=np.float32))
    written = faiss.serialize_index(index)
    front = written[: len(written) - _FRONT_ROWS * index.code_size]
    total = int(np.frombuffer(front[-8:].tobytes(), dtype=np.uint64)[0])
    return front, total // _FRONT_ROWS
