"""Rankers run from memory, at any border, over the vectors of an application.

Owns the evidence of a set of queries. The rankers are the real ones; only what they ask for is
answered from arrays and not from the database, so that a thousand runs take seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.db import chunks, notes
from app.domain.chunks import KIND_CHUNK
from app.domain.evidence import Candidate, ChunkRow
from app.domain.notes import NoteFilters
from app.embedding.base import Embedder
from app.embedding.scale import Means, centre_passages, centre_query
from app.factory import Application
from app.index.exact import best_first, exact_scores
from app.ranking.registry import BY_NAME
from app.ranking.run import ChunkRows, NearestChunks, Need, Question, Ranking
from app.search.evidence import Evidence, Sought
from app.search.kept import Kept
from app.text import has_han
from benchmarks.collection import UnusableCollection

LIMIT = 10


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """Vectors of an application, by ascending id.

    ``vectors`` (n, d) float32 as the model gave them, ``has_han`` (n,), ``rows`` by chunk id,
    ``external_ids`` by note id.
    """

    ids: NDArray[np.int64]
    vectors: NDArray[np.float32]
    has_han: NDArray[np.bool_]
    rows: Mapping[int, ChunkRow]
    external_ids: Mapping[int, str]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Queries and their unit vectors (n, d) float32; ``has_han`` (n,) says which hold Han."""

    texts: tuple[str, ...]
    vectors: NDArray[np.float32]
    has_han: NDArray[np.bool_]


def stored_vectors(application: Application, part: str = KIND_CHUNK) -> Stored:
    """Read every vector of a part of the view, chunks unless told otherwise.

    Raises:
        UnusableCollection: there is none.
    """
    with application.mirror.open((part,)) as (connection, view):
        held, index = view.held_in(part), view.vectors.get(part)
        if held is None or index is None or index.count() == 0:
            raise UnusableCollection("no note is embedded")
        space, kind = held
        batches = list(chunks.all_vectors(connection, space.id, kind, index.dimension))
        ids = np.concatenate([batch.ids for batch in batches])
        nothing = Sought("", None, NoteFilters())
        evidence = Evidence(connection, view, nothing, Kept.over(application.database.version))
        rows: Mapping[int, ChunkRow] = evidence.meet(ChunkRows(tuple(ids.tolist())))
        known = notes.get_many(connection, {row.note.note_id for row in rows.values()})
    return Stored(
        ids=ids,
        vectors=np.concatenate([batch.vectors for batch in batches]),
        has_han=np.concatenate([batch.has_han for batch in batches]),
        rows=rows,
        external_ids={note.id: note.external_id or "" for note in known},
    )


def ask(embedder: Embedder, texts: Sequence[str]) -> Asked:
    """Embed queries."""
    vectors = [embedder.embed_query(text).vector for text in texts]
    return Asked(tuple(texts), np.stack(vectors), np.array([has_han(text) for text in texts]))


class Replay:
    """Every query against every chunk, centred with the given means."""

    def __init__(self, stored: Stored, asked: Asked, means: Means | None) -> None:
        self._stored = stored
        self._texts = asked.texts
        passages = centre_passages(stored.vectors, stored.has_han, means)
        self.cosines = np.stack(
            [
                exact_scores(passages, centre_query(vector, bool(holds_han), means))
                for vector, holds_han in zip(asked.vectors, asked.has_han, strict=True)
            ]
        )
        """(queries, chunks) float64."""
        self._candidates = [self._nearest(scores) for scores in self.cosines]

    def _nearest(self, scores: NDArray[np.float64]) -> list[Candidate]:
        ids = self._stored.ids
        order = best_first(ids, scores, len(ids))
        return [Candidate(int(ids[place]), float(scores[place])) for place in order]

    def answer(
        self, query: int, border: float, *, ranker: str = "chatcrystal", cut: bool = True
    ) -> tuple[str, ...]:
        """Return the external ids of the notes that a ranker gives a query, best first."""
        question = Question(self._texts[query], LIMIT, len(self._stored.ids), border, cut)

        def meet(need: Need) -> Any:
            match need:
                case NearestChunks(limit):
                    return self._candidates[query][:limit]
                case ChunkRows(chunk_ids):
                    return {chunk_id: self._stored.rows[chunk_id] for chunk_id in chunk_ids}
            raise ValueError(f"{ranker} asks for more than chunks: {need}")

        ranking = _run(ranker, question, meet)
        return tuple(self._stored.external_ids[hit.note.note_id] for hit in ranking.hits)


def _run(ranker: str, question: Question, meet: Callable[[Need], Any]) -> Ranking:
    run = BY_NAME[ranker].rank(question)
    met: Any = None
    while True:
        try:
            met = meet(run.send(met))
        except StopIteration as finished:
            ranking: Ranking = finished.value
            return ranking
