"""What a calibration works on: the stored chunks of a space, and queries embedded into it.

Owns the reading and the scan. Must not choose anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from app.db import chunks, notes
from app.domain.calibration import LabelledQuery
from app.domain.chunks import KIND_CHUNK
from app.domain.evidence import ChunkRow
from app.domain.spaces import Space
from app.embedding.base import Embedder
from app.embedding.scale import Means, centre_passages, centre_query
from app.errors import CalibrationRefused
from app.maintenance.calibration.nearness import Grades, Nearness
from app.ranking.chatcrystal.terms import holds_all, query_terms
from app.search.folding import FoldedTexts
from app.text import has_han

DEPTH = 500
"""Chunks looked at for each query: the budget of the default ranker at its usual limit."""

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Labelled queries with their unit vectors (q, d) float32; ``has_han`` is (q,)."""

    labelled: tuple[LabelledQuery, ...]
    vectors: NDArray[np.float32]
    has_han: NDArray[np.bool_]

    @property
    def groups(self) -> list[str]:
        """The class of each query."""
        return [query.group for query in self.labelled]


def embed(embedder: Embedder, queries: Sequence[LabelledQuery], on_progress: Progress) -> Queries:
    """Embed labelled queries.

    Raises:
        ProviderError: the provider failed.
        SpaceMismatch: its vectors do not belong to the space.
    """
    vectors = []
    for number, query in enumerate(queries, start=1):
        vectors.append(embedder.embed_query(query.text).vector)
        on_progress(number)
    holds_han = np.array([has_han(query.text) for query in queries])
    return Queries(tuple(queries), np.stack(vectors), holds_han)


def refuse_without_vectors(connection: Connection, space_id: int) -> None:
    """Refuse a space that holds nothing.

    Raises:
        CalibrationRefused: no note is embedded in it.
    """
    if not chunks.count(connection, space_id, KIND_CHUNK):
        raise CalibrationRefused("No note is embedded in the active space: run crystal reindex")


class Passages:
    """The chunks of a space in one snapshot.

    ``vectors`` (n, d) float32 as the model gave them, ``has_han`` (n,), ``ids`` (n,) ascending.
    """

    def __init__(self, connection: Connection, space: Space) -> None:
        """Read the vectors, of which there must be one at least."""
        dimension = space.spec.dimension or 0
        batches = list(chunks.all_vectors(connection, space.id, KIND_CHUNK, dimension))
        self.ids = np.concatenate([batch.ids for batch in batches])
        self.vectors = np.concatenate([batch.vectors for batch in batches])
        self.has_han = np.concatenate([batch.has_han for batch in batches])
        self._connection = connection
        self._rows: dict[int, ChunkRow] = {}

    def near(self, queries: Queries, means: Means | None) -> list[Nearness]:
        """Return how near the notes are to each query in the space with these means."""
        passages = centre_passages(self.vectors, self.has_han, means)
        found = []
        for query, vector, holds_han in zip(
            queries.labelled, queries.vectors, queries.has_han, strict=True
        ):
            cosines = (passages @ centre_query(vector, bool(holds_han), means)).astype(np.float64)
            order = np.lexsort((self.ids, -cosines))[:DEPTH]
            rows = self._rows_of(self.ids[order].tolist())
            found.append(_nearness(query.text, rows, cosines[order]))
        return found

    def _rows_of(self, chunk_ids: Sequence[int]) -> list[ChunkRow | None]:
        unread = [chunk_id for chunk_id in chunk_ids if chunk_id not in self._rows]
        if unread:
            found = chunks.rows(self._connection, unread)
            self._rows |= FoldedTexts().rows("", found)
        return [self._rows.get(chunk_id) for chunk_id in chunk_ids]


def _nearness(text: str, rows: Sequence[ChunkRow | None], cosines: NDArray[np.float64]) -> Nearness:
    terms = query_terms(text)
    best: dict[int, float] = {}
    floored: set[int] = set()
    for row, cosine in zip(rows, cosines.tolist(), strict=True):
        if row is None or row.note.ineligible_because is not None:
            continue
        note_id = row.note.note_id
        best.setdefault(note_id, cosine)
        if note_id not in floored and holds_all(row.folded, terms):
            floored.add(note_id)
    order = sorted(best, key=lambda note_id: (-best[note_id], note_id))
    return Nearness(
        np.array(order, dtype=np.int64),
        np.array([best[note_id] for note_id in order], dtype=np.float64),
        np.array([note_id in floored for note_id in order], dtype=np.bool_),
    )


def grades_by_id(
    connection: Connection, queries: Sequence[LabelledQuery]
) -> tuple[list[Grades], tuple[str, ...]]:
    """Find the notes that queries name, by external id, else by path, else by id.

    Returns:
        The grades of each query, and the names that no note has, which count as never found.

    Raises:
        CalibrationRefused: there is none of the notes.
    """
    ids = _ids_by_name(connection)
    mentioned = dict.fromkeys(name for query in queries for name in query.grades)
    unknown = tuple(name for name in mentioned if name not in ids)
    if mentioned and len(unknown) == len(mentioned):
        raise CalibrationRefused(f"The database has none of the {len(mentioned)} notes named")
    absent = {name: -number for number, name in enumerate(unknown, start=1)}
    known = ids | absent
    return [
        {known[name]: grade for name, grade in query.grades.items()} for query in queries
    ], unknown


def _ids_by_name(connection: Connection) -> dict[str, int]:
    found: Mapping[int, notes.NoteDetails] = notes.details(
        connection, notes.all_ids(connection), ("path", "external_id")
    )
    ids = {str(note_id): note_id for note_id in found}
    for name in ("path", "external_id"):
        ids |= {each.extra[name]: note_id for note_id, each in found.items() if each.extra[name]}
    return ids
