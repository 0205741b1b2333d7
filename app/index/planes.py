"""How the numbers of vectors lie in memory: a plane that is scanned, and what that leaves out.

A float32 number is kept as the bfloat16 nearest to it and its own low 16 bits. The first alone is
scanned, which halves the reading; both together give back every bit. A float16 number is whole in
its one plane.

Owns the parting and the joining. Must not know faiss, nor whose the vectors are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Plane = NDArray[Any]
Rows = slice | NDArray[np.int64] | NDArray[np.bool_]
Vectors = NDArray[np.float32]

PLANES: dict[str, tuple[type[Any], ...]] = {
    "float32": (np.uint16, np.uint16),
    "float16": (np.float16,),
}
"""The planes of each precision; the first is the one that is scanned."""

_HALF = 16
_MIDDLE = np.uint32(0x8000)


@dataclass(frozen=True, eq=False, slots=True)
class Planes:
    """Vectors (n, d), as one or two arrays of that shape.

    ``rounding`` is how far the scanned plane of one of them is from it at most, in length.
    """

    parts: tuple[Plane, ...]
    rounding: float = 0.0

    @classmethod
    def over(
        cls,
        memory: NDArray[np.uint8],
        count: int,
        dimension: int,
        precision: str,
        rounding: float = 0.0,
    ) -> Planes:
        """Take the planes that lie one after the other at the beginning of some memory."""
        parts: list[Plane] = []
        start = 0
        for kind in PLANES[precision]:
            end = start + count * dimension * np.dtype(kind).itemsize
            parts.append(memory[start:end].view(kind).reshape(count, dimension))
            start = end
        return cls(tuple(parts), rounding)

    def __len__(self) -> int:
        return len(self.parts[0])

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return int(self.parts[0].shape[1])

    @property
    def nbytes(self) -> int:
        """Bytes of all planes."""
        return sum(part.nbytes for part in self.parts)

    def take(self, rows: Rows) -> Vectors:
        """Return some vectors as float32 (k, d)."""
        chosen = [_chosen(part, rows) for part in self.parts]
        if len(chosen) == 1:
            return np.asarray(chosen[0], dtype=np.float32)
        bits = chosen[0].astype(np.int32)
        bits <<= _HALF
        # The low bits are a number from -0x8000 to 0x7fff that was rounded away.
        bits += chosen[1].view(np.int16)
        return bits.view(np.float32)

    def put(self, rows: slice | NDArray[np.int64], vectors: Vectors) -> float:
        """Write float32 vectors (k, d) into some rows; return how far they were rounded at most.

        That is the length of what the scanned plane leaves out of one of them; nothing is left
        out of float16, which they are held as. Vectors of a damaged row, which are no numbers, do
        not count.
        """
        if len(self.parts) == 1:
            self.parts[0][rows] = vectors
            return 0.0
        bits = np.ascontiguousarray(vectors).view(np.uint32)
        near = (bits + _MIDDLE) >> _HALF
        self.parts[1][rows] = bits.astype(np.uint16)
        self.parts[0][rows] = near
        with np.errstate(invalid="ignore"):
            left_out = vectors - (near << _HALF).view(np.float32)
        lengths = np.linalg.norm(left_out, axis=1)
        return float(lengths.max(initial=0.0, where=np.isfinite(lengths)))

    def copy(self, rows: NDArray[np.int64], source: Planes, chosen: Rows) -> None:
        """Copy chosen vectors of other planes of the same precision into some rows."""
        for mine, other in zip(self.parts, source.parts, strict=True):
            mine[rows] = other[chosen]

    def blocks(self, size: int) -> Iterator[slice]:
        """Part the rows into runs of a size."""
        return (slice(start, min(start + size, len(self))) for start in range(0, len(self), size))


def _chosen(part: Plane, rows: Rows) -> Plane:
    if isinstance(rows, slice) or rows.dtype == np.bool_:
        return part[rows]
    # As ``part[rows]``, but faster.
    return part.take(rows, axis=0)


def as_held(vectors: Vectors, precision: str) -> Vectors:
    """Return vectors as they come back from the planes of a precision."""
    if precision == "float32":
        return vectors
    return vectors.astype(np.float16).astype(np.float32)
