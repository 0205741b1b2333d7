"""Meets the needs of rankers: the only reads between a query and its ranking.

Owns the cache of folded texts. A chunk's text never changes under its id, so its folded form may
be kept; the title may change, so it is folded from the row that was just read.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
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
    """A bounded cache of folded chunk texts by chunk id, shared by all searches.

    Another epoch is another history of the database, in which an id may mean another chunk.
    """

    def __init__(self, size: int = FOLDED_TEXTS) -> None:
        self._size = size
        self._epoch = ""
        self._texts: OrderedDict[int, str] = OrderedDict()
        self._lock = Lock()

    def rows(self, epoch: str, found: Mapping[int, StoredChunk]) -> dict[int, ChunkRow]:
        """Fold the titles and texts of chunk rows of an epoch."""
        with self._lock:
            if epoch != self._epoch:
                self._texts.clear()
                self._epoch = epoch
            folded = {chunk_id: self._folded(row) for chunk_id, row in found.items()}
        return {
            chunk_id: ChunkRow(
                chunk_id, row.chunk_index, row.note, f"{fold(row.note.title)}\n{folded[chunk_id]}"
            )
            for chunk_id, row in found.items()
        }

    def _folded(self, row: StoredChunk) -> str:
        text = self._texts.get(row.chunk_id)
        if text is None:
            text = self._texts[row.chunk_id] = fold(row.text)
            if len(self._texts) > self._size:
                self._texts.popitem(last=False)
        return text


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
