"""The nearest notes of notes, by the vectors of whole notes.

Owns the raw score of two notes. Reads only, in as many statements for a hundred notes as for one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from app.db import chunks
from app.domain.chunks import KIND_WHOLE
from app.domain.evidence import Candidate
from app.domain.spaces import Space
from app.embedding.scale import centre_passages
from app.index.protocol import VectorIndex
from app.mirror.view import View
from app.ranking.chatcrystal.candidates import raw_score

MOST_NEAR = 20
"""Notes that are looked at around one, as in the original."""

Vectors = Mapping[int, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Raw scores of the nearest notes, nearest first, and of others that were asked for.

    ``mutual`` is the nearest one, if the note is its nearest too.
    """

    scores: dict[int, float]
    mutual: int | None = None


def neighbours_of(
    connection: Connection,
    view: View,
    note_ids: Iterable[int],
    beside: Mapping[int, Collection[int]],
) -> dict[int, Neighbours]:
    """Return the neighbours of notes; notes without a vector of their whole are absent.

    Args:
        beside: Further notes whose scores are wanted, by note.
    """
    index = view.vectors.get(KIND_WHOLE)
    if index is None or view.space is None:
        return {}
    around = _Around(connection, view, view.space, index)
    vectors = around.vectors_of(note_ids)
    near = around.near(vectors, MOST_NEAR)
    firsts = {note_id: _first(scores) for note_id, scores in near.items()}
    others = around.vectors_of({each for each in firsts.values() if each is not None} - set(near))
    back = {note_id: _first(scores) for note_id, scores in around.near(others, 1).items()} | firsts
    further = around.scores(vectors, beside)
    return {
        note_id: Neighbours(
            {**scores, **further.get(note_id, {})}, _mutual(note_id, firsts[note_id], back)
        )
        for note_id, scores in near.items()
    }


def _first(scores: Mapping[int, float]) -> int | None:
    return next(iter(scores), None)


def _mutual(note_id: int, first: int | None, back: Mapping[int, int | None]) -> int | None:
    return first if first is not None and back.get(first) == note_id else None


class _Around:
    """Searches of one index, in one snapshot."""

    def __init__(
        self, connection: Connection, view: View, space: Space, index: VectorIndex
    ) -> None:
        self._connection = connection
        self._view = view
        self._space = space
        self._index = index

    def _places(self, note_ids: Iterable[int]) -> dict[int, int]:
        """Return the note of each vector, by chunk id."""
        places = chunks.places_of_notes(
            self._connection, self._space.id, KIND_WHOLE, sorted(set(note_ids))
        )
        return {chunk_id: note_id for chunk_id, (note_id, _) in places.items()}

    def vectors_of(self, note_ids: Iterable[int]) -> dict[int, NDArray[np.float32]]:
        """Return the vectors of notes, as the index holds them."""
        places = self._places(note_ids)
        batch = chunks.vectors(self._connection, places, self._index.dimension)
        centred = centre_passages(batch.vectors, batch.has_han, self._view.means)
        return {places[int(id_)]: vector for id_, vector in zip(batch.ids, centred, strict=True)}

    def near(self, vectors: Vectors, most: int) -> dict[int, dict[int, float]]:
        """Return the raw scores of the notes around each note, nearest first."""
        found = {
            note_id: self._index.search(vector, most + 1) for note_id, vector in vectors.items()
        }
        chunk_ids = {each.chunk_id for some in found.values() for each in some}
        owners = chunks.owners(self._connection, sorted(chunk_ids))
        return {
            note_id: dict(list(self._scored(some, owners, note_id).items())[:most])
            for note_id, some in found.items()
        }

    def _scored(
        self, found: Sequence[Candidate], owners: Mapping[int, int], note_id: int
    ) -> dict[int, float]:
        border = self._space.spec.border
        return {
            owners[each.chunk_id]: raw_score(each.cosine, border)
            for each in found
            if owners.get(each.chunk_id, note_id) != note_id
        }

    def scores(
        self, vectors: Vectors, wanted: Mapping[int, Collection[int]]
    ) -> dict[int, dict[int, float]]:
        """Return the raw scores between each note and those that are wanted beside it."""
        places = self._places(each for some in wanted.values() for each in some)
        chunk_of = {note_id: chunk_id for chunk_id, note_id in places.items()}
        border = self._space.spec.border
        found = {}
        for note_id, vector in vectors.items():
            ids = [chunk_of[each] for each in wanted.get(note_id, ()) if each in chunk_of]
            cosines = self._index.scores(vector, ids) if ids else {}
            found[note_id] = {
                places[id_]: raw_score(cosine, border) for id_, cosine in cosines.items()
            }
        return found
