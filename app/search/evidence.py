"""Meets the needs of rankers: the only reads between a query and its ranking.

Owns the cache of folded texts.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from app.db import chunks, relations
from app.db.chunks import StoredChunk
from app.domain.chunks import KIND_CHUNK
from app.domain.evidence import Candidate, ChunkRow, Standing
from app.index.protocol import Ids
from app.mirror.view import View
from app.ranking.run import ChunkRows, EdgesOf, NearestChunks, Need
from app.text import fold

FOLDED_TEXTS = 20_000
"""Folded chunk texts kept in memory, about 1 KB each."""


class FoldedTexts:
    """A bounded cache of folded texts by chunk id, shared by all searches.

    A chunk's text never changes under its id, but its note's title may: both are kept together.
    Another epoch is another history of the database, in which an id may mean another chunk.
    """

    def __init__(self, size: int = FOLDED_TEXTS) -> None:
        self._size = size
        self._epoch = ""
        self._texts: dict[int, tuple[str, str]] = {}
        self._lock = Lock()

    def rows(self, epoch: str, found: Iterable[StoredChunk]) -> dict[int, ChunkRow]:
        """Fold titles and texts of the chunk rows of an epoch."""
        with self._lock:
            if epoch != self._epoch or len(self._texts) > self._size:
                self._texts.clear()
                self._epoch = epoch
            return {row.chunk_id: self._row(row) for row in found}

    def _row(self, row: StoredChunk) -> ChunkRow:
        chunk_id, index, text, note = row
        title, folded = self._texts.get(chunk_id, (None, ""))
        if title != note.title:
            folded = f"{fold(note.title)}\n{fold(text)}"
            self._texts[chunk_id] = (note.title, folded)
        return ChunkRow(chunk_id, index, note, folded)


class Evidence:
    """The evidence of one search: one snapshot, one index, one prepared query vector."""

    def __init__(
        self,
        connection: Connection,
        view: View,
        vector: NDArray[np.float32],
        allowed: Ids | None,
        texts: FoldedTexts,
    ) -> None:
        self._connection = connection
        self._view = view
        self._vector = vector
        self._allowed = allowed
        self._texts = texts

    def meet(self, need: Need) -> Any:
        """Fetch what a ranker asked for."""
        match need:
            case NearestChunks(limit):
                return self._nearest(limit)
            case ChunkRows(chunk_ids):
                found = chunks.rows(self._connection, chunk_ids)
                return self._texts.rows(self._view.state.epoch, found)
            case EdgesOf(note_ids):
                return relations.edges_of(self._connection, note_ids)

    def _nearest(self, limit: int) -> list[Candidate]:
        index = self._view.index
        return index.search(self._vector, limit, self._allowed) if index else []

    def standing(self, note_id: int, *, filtered: bool = True) -> Standing | None:
        """Return the place of a note's best chunk among all that the request may find.

        With ``filtered`` off, among all that the index holds.
        """
        space, index = self._view.space, self._view.index
        if space is None or index is None:
            return None
        ids = chunks.ids_of_note(self._connection, space.id, KIND_CHUNK, note_id)
        standings = index.standings(self._vector, ids, self._allowed if filtered else None)
        return min(standings, key=lambda each: each.rank, default=None)
