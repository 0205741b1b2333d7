"""The file of vectors that ChatCrystal keeps with the library vectra.

Owns its streaming: whatever the size of the file, only the vectors that are wanted are held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import ijson
import numpy as np
from numpy.typing import NDArray

from app.errors import ImportFailed
from app.importers.settled import read_settled
from app.importers.shallow import ShallowStream

REPORTED_ITEMS = 500
"""Progress is told after so many vectors."""

_BUFFER_BYTES = 1 << 18


@dataclass(frozen=True, slots=True)
class Wanted:
    """The chunk rows whose vectors are wanted: by vector id, or by note and index without one."""

    by_id: Mapping[str, int]
    by_place: Mapping[tuple[int, int], int]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.by_id) + len(self.by_place)


@dataclass(slots=True)
class Vectors:
    """The vectors found, by chunk row: float32 bytes of unit length, all of one dimension.

    ``dimension`` is None when none was found. The rest is counted by why it was left out.
    """

    dimension: int | None = None
    by_row: dict[int, bytes] = field(default_factory=dict)
    without_chunk: int = 0
    of_other_dimension: int = 0
    of_no_direction: int = 0


def read_vectors(
    path: Path, wanted: Wanted, on_progress: Callable[[int, int], None] | None = None
) -> Vectors:
    """Read the wanted vectors.

    Args:
        on_progress: Called with the bytes read so far and the size of the file.

    Raises:
        ImportFailed: the file is damaged, or keeps being written.
    """
    return read_settled(path, lambda: _read_once(path, wanted, on_progress))


def _read_once(
    path: Path, wanted: Wanted, on_progress: Callable[[int, int], None] | None
) -> Vectors:
    found = Vectors()
    count, size = 0, path.stat().st_size
    with path.open("rb") as file:
        for item in _items(file, path):
            _take(item, wanted, found)
            count += 1
            if on_progress is not None and count % REPORTED_ITEMS == 0:
                on_progress(file.tell(), size)
    if count == 0:
        _check_form(path)
    _settle_dimension(found)
    if on_progress is not None:
        on_progress(size, size)
    return found


def _items(file: BinaryIO, path: Path) -> Iterator[Any]:
    try:
        shallow = ShallowStream(file, str(path))
        yield from ijson.items(shallow, "items.item", use_float=True, buf_size=_BUFFER_BYTES)
    except (ijson.JSONError, UnicodeDecodeError) as error:
        raise ImportFailed(
            f"{path} is damaged: it is no whole JSON ({_first_words(error)})"
        ) from error


def _first_words(error: Exception) -> str:
    """Return the reason without the piece of the file that the parser shows below it."""
    reason = error.args[0] if error.args else ""
    if isinstance(reason, bytes):
        reason = reason.decode("utf-8", "replace")
    return str(reason).splitlines()[0].strip().rstrip(".") if reason else "unreadable"


def _check_form(path: Path) -> None:
    with path.open("rb") as file:
        events = ijson.parse(ShallowStream(file, str(path)))
        prefixes = (prefix for prefix, event, _ in events if event == "start_array")
        if "items" not in prefixes:
            raise ImportFailed(f"{path} is damaged: it has no list of items")


def _take(item: Any, wanted: Wanted, found: Vectors) -> None:
    row = _row_of(item, wanted)
    if row is None or row in found.by_row:
        found.without_chunk += 1
        return
    unit = _unit_vector(item.get("vector"))
    if unit is None:
        found.of_no_direction += 1
    else:
        found.by_row[row] = unit.tobytes()


def _row_of(item: Any, wanted: Wanted) -> int | None:
    if not isinstance(item, dict):
        return None
    vector_id, metadata = item.get("id"), item.get("metadata")
    if isinstance(vector_id, str) and vector_id in wanted.by_id:
        return wanted.by_id[vector_id]
    if not isinstance(metadata, dict):
        return None
    note_id, index = metadata.get("noteId"), metadata.get("chunkIndex")
    if not isinstance(note_id, int) or not isinstance(index, int):
        return None
    return wanted.by_place.get((note_id, index))


def _unit_vector(values: object) -> NDArray[np.float32] | None:
    """Return (d,) of unit length, normalised in float64; None when it points nowhere."""
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all():
        return None
    peak = np.abs(vector).max()
    if peak == 0.0:
        return None
    # A power of two changes no digit, and keeps the squares of extreme numbers in range.
    scaled = np.ldexp(vector, -np.frexp(peak)[1])
    unit: NDArray[np.float32] = (scaled / np.linalg.norm(scaled)).astype(np.float32)
    return unit


def _settle_dimension(found: Vectors) -> None:
    """Keep the vectors of the most common dimension; of equally common ones the first met."""
    sizes = Counter(len(vector) for vector in found.by_row.values())
    if not sizes:
        return
    usual = sizes.most_common(1)[0][0]
    found.dimension = usual // np.dtype(np.float32).itemsize
    for row in [row for row, vector in found.by_row.items() if len(vector) != usual]:
        del found.by_row[row]
        found.of_other_dimension += 1
