"""Meets the needs of rankers: the only reads between a query and its ranking.

Owns which snapshot, indexes and filters the evidence of one search comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from app.db import chunks, note_graph, notes, opens, relations
from app.domain.chunks import KIND_CHUNK, KIND_ENTITY, SECOND_PARTS
from app.domain.evidence import Candidate, LexicalHit, Standing
from app.domain.notes import NoteFilters
from app.embedding.scale import centre_passages
from app.index.protocol import Ids
from app.index.work import aside
from app.lexical.run import LexicalRun
from app.mirror.view import View
from app.ranking.run import (
    ChunkRows,
    Coverage,
    EdgesOf,
    Headings,
    LexicalHits,
    Likeness,
    NearestChunks,
    NearestNotes,
    Need,
    NoteCards,
    NoteCosines,
    RecentOpens,
    Together,
)
from app.search.fragments import FragmentEvidence
from app.search.kept import Kept
from app.search.passing import Passing

SCAN_THREADS = 4
_SCANS = ThreadPoolExecutor(SCAN_THREADS, thread_name_prefix="scan")


@dataclass(frozen=True, slots=True)
class Sought:
    """What is searched for: the text, its prepared vector (d,) if there is one, the filters.

    ``second`` is the prepared vector in the second space, if that is to be asked; ``further`` are
    the other queries of a search with several, by text and prepared vector.
    """

    text: str
    vector: NDArray[np.float32] | None
    filters: NoteFilters
    second: NDArray[np.float32] | None = None
    further: tuple[tuple[str, NDArray[np.float32]], ...] = ()


class Evidence:
    """The evidence of one search: one snapshot and the view that agrees with it."""

    def __init__(self, connection: Connection, view: View, sought: Sought, kept: Kept) -> None:
        self._connection = connection
        self._view = view
        self._sought = sought
        self._passing = Passing(connection, view.state.epoch, sought.filters, kept.filters)
        self._known_places: dict[tuple[str, tuple[int, ...]], dict[int, tuple[int, int]]] = {}
        self._meet: dict[type[Need], Callable[[Any], Any]] = {
            NearestChunks: self._chunks,
            ChunkRows: lambda need: kept.rows.read(connection, view.state.epoch, need.chunk_ids),
            EdgesOf: lambda need: relations.edges_of(self._connection, need.note_ids),
            LexicalHits: self._hits,
            NoteCards: lambda need: notes.facts(self._connection, need.note_ids),
            RecentOpens: lambda need: opens.latest(self._connection, need.limit),
            NearestNotes: lambda need: self._owners(self._nearest(need.kind, need.limit)()),
            NoteCosines: self._cosines,
            Likeness: self._likeness,
            Coverage: self._coverage,
            Headings: lambda need: note_graph.heading_paths(self._connection, need.chunk_ids),
            Together: self._together,
            **FragmentEvidence(connection, view, sought.text, self._passing, self._nearest).meet,
        }

    @property
    def has_meaning(self) -> bool:
        """Tell whether there is a vector to search with."""
        return self._sought.vector is not None

    @property
    def has_second(self) -> bool:
        """Tell whether the second model is asked too."""
        return self._sought.second is not None

    def meet(self, need: Need) -> Any:
        """Fetch what a ranker asked for."""
        return self._meet[type(need)](need)

    def size(self) -> int:
        """Count the chunks that the request may find."""
        index = self._view.index
        return index.count(self._allowed_vectors(KIND_CHUNK)) if index else 0

    def _allowed_vectors(self, kind: str) -> Ids | None:
        """Return the ids of a kind that pass the filters, None when all do."""
        held = self._view.held_in(kind)
        if held is None or kind == KIND_ENTITY:
            return None
        space, stored = held
        return self._passing.vectors(space.id, stored)

    def _vector(self, kind: str) -> NDArray[np.float32] | None:
        """Return the query's vector in the space of a kind."""
        return self._sought.second if kind in SECOND_PARTS else self._sought.vector

    @cached_property
    def _words(self) -> LexicalRun | None:
        return self._words_of(0)

    def _words_of(self, topic: int) -> LexicalRun | None:
        text = self._sought.further[topic - 1][0] if topic else self._sought.text
        return self._view.words.run(text) if self._view.words else None

    def _chunks(self, need: NearestChunks) -> Sequence[Candidate]:
        index = self._view.index
        if not need.topic or index is None:
            return self._nearest(KIND_CHUNK, need.limit)()
        vector = self._sought.further[need.topic - 1][1]
        return index.search(vector, need.limit, self._allowed_vectors(KIND_CHUNK))

    def _nearest(self, kind: str, limit: int) -> Callable[[], Sequence[Candidate]]:
        """Return the scan for the nearest vectors of a kind; it reads memory alone."""
        index, vector = self._view.vectors.get(kind), self._vector(kind)
        if index is None or vector is None:
            return tuple
        allowed = self._allowed_vectors(kind)
        return lambda: index.search(vector, limit, allowed)

    def _owners(self, candidates: Sequence[Candidate]) -> list[int]:
        owners = chunks.owners(self._connection, [each.chunk_id for each in candidates])
        found = (owners.get(each.chunk_id) for each in candidates)
        return list(dict.fromkeys(note_id for note_id in found if note_id is not None))

    def _hits(self, need: LexicalHits) -> list[LexicalHit]:
        words = self._words_of(need.topic) if need.topic else self._words
        if words is None:
            return []
        return [LexicalHit(*hit) for hit in words.best(need.limit, self._passing.notes())]

    def _coverage(self, need: Coverage) -> dict[int, float]:
        if self._words is None:
            return {}
        shares = self._words.coverage(need.note_ids).tolist()
        return dict(zip(need.note_ids, shares, strict=True))

    def _places(self, kind: str, note_ids: tuple[int, ...]) -> dict[int, tuple[int, int]]:
        """Return note id and number of the vectors of a kind that notes have, by chunk id."""
        held = self._view.held_in(kind)
        if held is None:
            return {}
        if (kind, note_ids) not in self._known_places:
            space, stored = held
            self._known_places[kind, note_ids] = chunks.places_of_notes(
                self._connection, space.id, stored, note_ids
            )
        return self._known_places[kind, note_ids]

    def _cosines(self, need: NoteCosines) -> dict[int, dict[int, float]]:
        index, vector = self._view.vectors.get(need.kind), self._vector(need.kind)
        if index is None or vector is None:
            return {}
        places = self._places(need.kind, need.note_ids)
        cosines: dict[int, dict[int, float]] = {}
        for chunk_id, cosine in index.scores(vector, sorted(places)).items():
            note_id, number = places[chunk_id]
            cosines.setdefault(note_id, {})[number] = cosine
        return cosines

    def _likeness(self, need: Likeness) -> dict[int, float]:
        index = self._view.vectors.get(need.kind)
        places = self._places(need.kind, need.note_ids)
        own = [chunk_id for chunk_id, (note_id, _) in places.items() if note_id == need.to_note_id]
        if index is None or not own:
            return {}
        stored = chunks.vectors(self._connection, own[:1], index.dimension)
        means = self._view.means_for(need.kind)
        vector = centre_passages(stored.vectors, stored.has_han, means)[0]
        cosines = index.scores(vector, sorted(places))
        return {places[chunk_id][0]: cosine for chunk_id, cosine in cosines.items()}

    def _together(self, need: Together) -> list[Any]:
        """Scan vectors in other threads while words are looked up in this one."""
        scans: dict[int, Future[Sequence[Candidate]]] = {}
        for place, each in enumerate(need.needs):
            if not isinstance(each, LexicalHits):
                kind = each.kind if isinstance(each, NearestNotes) else KIND_CHUNK
                scans[place] = _SCANS.submit(self._nearest(kind, each.limit))
        answers: list[Any] = []
        for place, each in enumerate(need.needs):
            found = _result(scans[place]) if place in scans else self.meet(each)
            is_by_note = isinstance(each, NearestNotes)
            answers.append(
                self._owners(cast("Sequence[Candidate]", found)) if is_by_note else found
            )
        return answers

    def standing(self, note_id: int) -> Standing | None:
        """Return the place of a note's best chunk among all that the request may find.

        Of several queries the one counts by which it stands best.
        """
        space, index, vector = self._view.space, self._view.index, self._sought.vector
        if space is None or index is None or vector is None:
            return None
        ids = chunks.ids_of_note(self._connection, space.id, KIND_CHUNK, note_id)
        standings = [
            standing
            for each in (vector, *(further for _, further in self._sought.further))
            for standing in index.standings(each, ids, self._allowed_vectors(KIND_CHUNK))
        ]
        return min(standings, key=lambda each: each.rank, default=None)

    def passes(self, note_id: int) -> bool:
        """Tell whether a note passes the filters of the request."""
        allowed = self._passing.notes()
        return allowed is None or note_id in allowed


def _result(scan: Future[Sequence[Candidate]]) -> Sequence[Candidate]:
    with aside():
        return scan.result()
