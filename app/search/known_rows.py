"""Rows of chunks, their texts folded, kept between searches while nothing is committed.

Owns what is kept of them. Must not know who asks.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from app.db import chunks
from app.domain.evidence import ChunkRow
from app.search.current import Current, VersionOf
from app.search.folding import FoldedTexts

MOST_CHARACTERS = 32_000_000
"""So many characters of rows are kept in memory: some 50,000 chunks, 30 to 60 MB."""

ROW_CHARACTERS = 300
"""What a row takes beside its text, in characters."""


class KnownRows:
    """The chunk rows that were read last.

    A row is answered with as long as nothing at all was committed since it was read: titles change
    without a word in the feed. Beyond that its folded text is still of use.
    """

    def __init__(self, version_of: VersionOf, most_characters: int = MOST_CHARACTERS) -> None:
        """Keep so many characters at most."""
        self._rows: Current[int, ChunkRow] = Current(version_of, most_characters, _size)
        self._texts = FoldedTexts()

    def read(
        self, connection: Connection, epoch: str, chunk_ids: Sequence[int]
    ) -> dict[int, ChunkRow]:
        """Return the rows of these chunks as the snapshot has them; those without one are absent.

        Args:
            epoch: That of the snapshot, which must have been read before.
        """
        moment = self._rows.moment_of(connection, epoch)
        known = self._rows.find(moment, chunk_ids)
        unknown = [chunk_id for chunk_id in chunk_ids if chunk_id not in known]
        if unknown:
            found = self._texts.rows(epoch, chunks.rows(connection, unknown))
            self._rows.keep(moment, found)
            known |= found
        return known


def _size(row: ChunkRow) -> int:
    return len(row.folded) + ROW_CHARACTERS
