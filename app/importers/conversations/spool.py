"""Messages put aside while a file is read: in memory, and beyond some size in a temporary file.

Owns the bytes. Must not know their order.
"""

from __future__ import annotations

import tempfile
from types import TracebackType

IN_MEMORY = 16 * 1024 * 1024

Place = tuple[int, int]
"""Where a record is: its offset and its length."""


class Spool:
    """Holds records until it is closed."""

    def __init__(self) -> None:
        # Closed by the context manager that this is.
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
        self._end = 0

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def put(self, record: bytes) -> Place:
        """Keep a record and return where."""
        self._file.seek(self._end)
        self._file.write(record)
        place = (self._end, len(record))
        self._end += len(record)
        return place

    def get(self, place: Place) -> bytes:
        """Return the record at a place."""
        offset, length = place
        self._file.seek(offset)
        return self._file.read(length)

    def clear(self) -> None:
        """Forget all records."""
        self._file.seek(0)
        self._file.truncate()
        self._end = 0
