"""Stored vectors of notes, as the indexes hold them, and what is nearest to one.

Owns how far an index is asked so that what is left out takes no places. Must not embed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from app.db import chunks, coverage, note_graph
from app.domain.chunks import KIND_CHUNK, KIND_WHOLE
from app.domain.evidence import Candidate
from app.embedding.scale import centre_passages
from app.index.exact import exact_scores
from app.mirror.view import View
from app.ranking.notebrain.matches import Caps, Match, best_matches

Vector = NDArray[np.float32]

FIRST = 2
"""Candidates asked for at first, for each that the caps let through."""

GROWTH = 4
"""When candidates do not settle the answer, so many times as many are asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A chunk of a note: its number, what it stands under, its vector (d,)."""

    number: int
    heading_path: str | None
    vector: Vector


class NoteVectors:
    """The vectors of the active space, over one snapshot and the view that agrees with it."""

    def __init__(self, connection: Connection, view: View) -> None:
        self._connection = connection
        self._view = view
        self._owners: dict[int, tuple[int, int] | None] = {}

    def nearest(
        self,
        kind: str,
        vector: Vector,
        caps: Caps,
        left_out: Collection[int],
        *,
        only_positive: bool = True,
    ) -> list[Match]:
        """Return the best vectors of a kind within the caps, those of some notes left out.

        The index is asked for as many more as those notes have vectors.
        """
        index, space = self._view.vectors.get(kind), self._view.space
        if index is None or space is None or not caps.in_all:
            return []
        unwanted = chunks.places_of_notes(self._connection, space.id, kind, left_out)
        size, count = FIRST * caps.in_all + len(unwanted), index.count()
        while True:
            candidates = index.search(vector, size)
            found = self._matches(candidates, unwanted)
            best = best_matches(found, caps, only_positive=only_positive)
            if size >= count or _is_settled(candidates, best, caps, only_positive=only_positive):
                return best
            size *= GROWTH

    def _matches(self, candidates: Sequence[Candidate], unwanted: Collection[int]) -> list[Match]:
        """Return the candidates whose notes may be found."""
        wanted = [each for each in candidates if each.chunk_id not in unwanted]
        fresh = [each.chunk_id for each in wanted if each.chunk_id not in self._owners]
        self._owners |= dict.fromkeys(fresh)
        self._owners |= note_graph.chunk_owners(self._connection, fresh)
        owned = ((self._owners[each.chunk_id], each.cosine) for each in wanted)
        return [Match(*owner, cosine) for owner, cosine in owned if owner is not None]

    def best_cosines(self, vector: Vector, note_ids: Iterable[int]) -> dict[int, float]:
        """Return the cosine of each note's best chunk."""
        index, space = self._view.index, self._view.space
        if index is None or space is None:
            return {}
        places = chunks.places_of_notes(self._connection, space.id, KIND_CHUNK, note_ids)
        best: dict[int, float] = {}
        for chunk_id, cosine in index.scores(vector, sorted(places)).items():
            note_id, _ = places[chunk_id]
            best[note_id] = max(cosine, best.get(note_id, cosine))
        return best

    def sections(self, note_id: int) -> list[Section]:
        """Return the chunks of a note in the order of its text."""
        places = self._places(KIND_CHUNK, [note_id])
        headings = note_graph.heading_paths(self._connection, places)
        return [
            Section(places[chunk_id][1], headings[chunk_id], vector)
            for chunk_id, vector in sorted(
                self._vectors(places).items(), key=lambda each: places[each[0]]
            )
        ]

    def of_whole(self, note_id: int) -> Vector | None:
        """Return the vector of a whole note, the mean of its chunks where it has none yet."""
        found = self._vectors(self._places(KIND_WHOLE, [note_id]))
        if found:
            return next(iter(found.values()))
        return self._means([note_id]).get(note_id)

    def lacking_whole(self) -> tuple[int, ...]:
        """Return the embedded notes that have no vector of the whole yet."""
        space = self._view.space
        return coverage.notes_lacking(self._connection, space.id, KIND_WHOLE) if space else ()

    def means_beside(self, vector: Vector, note_ids: Iterable[int]) -> list[Match]:
        """Compare a vector with the means of notes' chunks."""
        means = self._means(note_ids)
        return [
            Match(note_id, 0, float(exact_scores(mean[None, :], vector)[0]))
            for note_id, mean in means.items()
        ]

    def _means(self, note_ids: Iterable[int]) -> dict[int, Vector]:
        places = self._places(KIND_CHUNK, note_ids)
        by_note: dict[int, list[Vector]] = {}
        vectors = self._vectors(places)
        for chunk_id in sorted(vectors, key=places.__getitem__):
            by_note.setdefault(places[chunk_id][0], []).append(vectors[chunk_id])
        return {note_id: _mean(rows) for note_id, rows in by_note.items()}

    def _places(self, kind: str, note_ids: Iterable[int]) -> dict[int, tuple[int, int]]:
        space = self._view.space
        if space is None:
            return {}
        return chunks.places_of_notes(self._connection, space.id, kind, note_ids)

    def _vectors(self, chunk_ids: Collection[int]) -> dict[int, Vector]:
        """Return vectors in the form in which the indexes hold them."""
        space = self._view.space
        if space is None or space.spec.dimension is None or not chunk_ids:
            return {}
        batch = chunks.vectors(self._connection, chunk_ids, space.spec.dimension)
        centred = centre_passages(batch.vectors, batch.has_han, self._view.means)
        return dict(zip(batch.ids.tolist(), centred, strict=True))


def _is_settled(
    candidates: Sequence[Candidate], best: Sequence[Match], caps: Caps, *, only_positive: bool
) -> bool:
    """Tell whether no further candidate can be among the best, by its cosine or as a tie."""
    last = candidates[-1].cosine
    return (only_positive and last <= 0) or (len(best) == caps.in_all and last < best[-1].score)


def _mean(rows: Sequence[Vector]) -> Vector:
    mean = np.mean(np.stack(rows), axis=0, dtype=np.float64)
    length = float(np.sqrt(np.square(mean).sum()))
    return np.asarray(mean / length if length else mean, dtype=np.float32)
