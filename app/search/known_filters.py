"""The ids that pass filters, kept between searches while nothing is committed.

Owns what is kept of them. Must not know how ids are found.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from sqlalchemy import Connection

from app.index.protocol import Ids
from app.search.current import Current, VersionOf

MOST_IDS = 4_000_000
"""So many are kept, 32 MB."""


class KnownFilters:
    """The ids that passed the filters asked for last, by what they are ids of."""

    def __init__(self, version_of: VersionOf, most: int = MOST_IDS) -> None:
        """Keep so many ids."""
        self._kept: Current[Hashable, Ids] = Current(version_of, most, len)

    def read(
        self, connection: Connection, epoch: str, asked: Hashable, load: Callable[[], Ids]
    ) -> Ids:
        """Return the ids that pass, as the snapshot has them; nobody may change them.

        Args:
            epoch: That of the snapshot, which must have been read before.
            asked: The filters, and what of.
            load: Reads the ids.
        """
        moment = self._kept.moment_of(connection, epoch)
        known = self._kept.find(moment, [asked])
        if asked not in known:
            known[asked] = load()
            known[asked].setflags(write=False)
            self._kept.keep(moment, known)
        return known[asked]
