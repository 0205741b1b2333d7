"""Values that hold for one moment of the database, kept between searches.

Owns when they are dropped: with whatever is committed, by whatever program. Must not know what
they are.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from threading import Lock
from typing import Generic, TypeVar

from sqlalchemy import Connection

from app.db.versions import Version

VersionOf = Callable[[Connection], Version | None]
"""Tells what is equal for two snapshots only if they hold the same data, None where it cannot."""

Moment = tuple[str, Version]
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Current(Generic[Key, Value]):
    """Values by key, as the last moment that was asked for has them; safe among threads."""

    def __init__(self, version_of: VersionOf, most: int, size_of: Callable[[Value], int]) -> None:
        """Keep values of such a size altogether; the oldest make room."""
        self._version_of = version_of
        self._most = most
        self._size_of = size_of
        self._moment: Moment | None = None
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self.size = 0
        self._lock = Lock()

    def moment_of(self, connection: Connection, epoch: str) -> Moment | None:
        """Return which moment a snapshot shows, None where that is not known.

        Args:
            epoch: That of the snapshot, which must have been read before.
        """
        version = self._version_of(connection)
        return None if version is None else (epoch, version)

    def find(self, moment: Moment | None, keys: Sequence[Key]) -> dict[Key, Value]:
        """Return the values of these keys that are kept for a moment; of an unknown one none."""
        if moment is None:
            return {}
        with self._lock:
            if moment != self._moment:
                self._values.clear()
                self._moment, self.size = moment, 0
            found = zip(keys, map(self._values.get, keys), strict=True)
            return {key: value for key, value in found if value is not None}

    def keep(self, moment: Moment | None, found: Mapping[Key, Value]) -> None:
        """Keep values of a moment, unless another search has gone on to another one."""
        with self._lock:
            if moment is None or moment != self._moment:
                return
            for key, value in found.items():
                self._forget(key)
                self._values[key] = value
                self.size += self._size_of(value)
            while self.size > self._most:
                self._forget(next(iter(self._values)))

    def _forget(self, key: Key) -> None:
        value = self._values.pop(key, None)
        if value is not None:
            self.size -= self._size_of(value)
