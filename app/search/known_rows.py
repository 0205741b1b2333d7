"""Rows of chunks, their texts folded, kept between searches.

Owns the cache, and when a row that is kept may be answered with. Must not know who asks.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from threading import Lock

from sqlalchemy import Connection

from app.db import chunks
from app.db.chunks import StoredChunk
from app.db.versions import Version
from app.domain.evidence import ChunkRow
from app.search.current import VersionOf
from app.text import fold

MOST_CHARACTERS = 32_000_000
"""So many characters of rows are kept in memory: some 50,000 chunks, 30 to 60 MB."""

ROW_CHARACTERS = 300
"""What a row takes beside its text, in characters."""


def folded_rows(found: Iterable[StoredChunk]) -> dict[int, ChunkRow]:
    """Fold titles and texts of chunk rows; by chunk id."""
    return {
        chunk_id: ChunkRow(chunk_id, index, note, f"{fold(note.title)}\n{fold(text)}")
        for chunk_id, index, text, note in found
    }


class KnownRows:
    """The chunk rows that were read last, by id, shared by all searches.

    A row is answered with as long as nothing at all was committed since it was read, by whatever
    program: titles change without a word in the feed. Beyond that its folded text is still of use,
    as long as its title is the same: a chunk's text never changes under its id. Another epoch is
    another history of the database, in which an id may mean another chunk.
    """

    def __init__(self, version_of: VersionOf, most_characters: int = MOST_CHARACTERS) -> None:
        """Keep so many characters at most.

        Args:
            version_of: Tells what is equal for two snapshots only if they hold the same data,
                None where that is not known.
        """
        self._version_of = version_of
        self._most = most_characters
        self.characters = 0
        self._epoch = ""
        self._version: Version | None = None
        self._rows: OrderedDict[int, ChunkRow] = OrderedDict()
        self._current: dict[int, ChunkRow] = {}
        self._lock = Lock()

    def read(
        self, connection: Connection, epoch: str, chunk_ids: Sequence[int]
    ) -> dict[int, ChunkRow]:
        """Return the rows of these chunks as the snapshot has them; those without one are absent.

        Args:
            epoch: That of the snapshot, which must have been read before.
        """
        version = self._version_of(connection)
        known = self._known(epoch, version, chunk_ids)
        unknown = [chunk_id for chunk_id in chunk_ids if chunk_id not in known]
        if unknown:
            known |= self._kept(epoch, version, chunks.rows(connection, unknown))
        return known

    def _known(
        self, epoch: str, version: Version | None, chunk_ids: Sequence[int]
    ) -> dict[int, ChunkRow]:
        with self._lock:
            if epoch != self._epoch:
                self._rows.clear()
                self._current.clear()
                self.characters, self._epoch = 0, epoch
            if version is None:
                return {}
            if version != self._version:
                self._current.clear()
                self._version = version
            found = zip(chunk_ids, map(self._current.get, chunk_ids), strict=True)
            return {chunk_id: row for chunk_id, row in found if row is not None}

    def _kept(
        self, epoch: str, version: Version | None, found: Iterable[StoredChunk]
    ) -> dict[int, ChunkRow]:
        with self._lock:
            if epoch != self._epoch:
                return folded_rows(found)
            # Another search may have gone on to another version meanwhile.
            is_current = version is not None and version == self._version
            rows = {each.chunk_id: self._folded(each) for each in found}
            for chunk_id, row in rows.items():
                if is_current or chunk_id not in self._current:
                    self._keep(chunk_id, row)
            if is_current:
                self._current.update(rows)
            while self.characters > self._most:
                self._forget(next(iter(self._rows)))
            return rows

    def _folded(self, stored: StoredChunk) -> ChunkRow:
        chunk_id, index, _, note = stored
        kept = self._rows.get(chunk_id)
        if kept is not None and kept.note.title == note.title:
            return ChunkRow(chunk_id, index, note, kept.folded)
        return folded_rows([stored])[chunk_id]

    def _keep(self, chunk_id: int, row: ChunkRow) -> None:
        self._forget(chunk_id)
        self._rows[chunk_id] = row
        self.characters += _size(row)

    def _forget(self, chunk_id: int) -> None:
        row = self._rows.pop(chunk_id, None)
        if row is not None:
            self.characters -= _size(row)
            self._current.pop(chunk_id, None)


def _size(row: ChunkRow) -> int:
    return len(row.folded) + ROW_CHARACTERS
