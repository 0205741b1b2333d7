"""Folded texts of chunks, kept between searches.

Owns the cache. Must not read the database.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock

from app.db.chunks import StoredChunk
from app.domain.evidence import ChunkRow
from app.text import fold

FOLDED_CHARACTERS = 16_000_000
"""So many characters of folded texts are kept in memory; each takes one to four bytes."""


class FoldedTexts:
    """A bounded cache of folded texts by chunk id, shared by all searches.

    A chunk's text never changes under its id, but its note's title may: both are kept together.
    ``characters`` are held, about as many as are kept at most.
    Another epoch is another history of the database, in which an id may mean another chunk.
    """

    def __init__(self, most_characters: int = FOLDED_CHARACTERS) -> None:
        self._most = most_characters
        self.characters = 0
        self._epoch = ""
        self._texts: dict[int, tuple[str, str]] = {}
        self._lock = Lock()

    def rows(self, epoch: str, found: Iterable[StoredChunk]) -> dict[int, ChunkRow]:
        """Fold titles and texts of the chunk rows of an epoch."""
        with self._lock:
            if epoch != self._epoch or self.characters > self._most:
                self._texts.clear()
                self.characters = 0
                self._epoch = epoch
            return {row.chunk_id: self._row(row) for row in found}

    def _row(self, row: StoredChunk) -> ChunkRow:
        chunk_id, index, text, note = row
        title, folded = self._texts.get(chunk_id, (None, ""))
        if title != note.title:
            self.characters -= len(folded)
            folded = f"{fold(note.title)}\n{fold(text)}"
            self.characters += len(folded)
            self._texts[chunk_id] = (note.title, folded)
        return ChunkRow(chunk_id, index, note, folded)
