"""Meets the needs of rankers that look at fragments: roots, chunks and entities.

Owns where a fragment's evidence comes from. Must hold no rule about order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from app.db import entities, fragments, graph, lexical, notes
from app.db.fragments import Piece
from app.domain.chunks import KIND_CHUNK, KIND_ENTITY, KIND_WHOLE
from app.domain.evidence import Candidate
from app.domain.fragments import (
    BODY,
    CHUNK,
    ROOT,
    TEXT,
    Fragment,
    FragmentHit,
    FragmentText,
    GraphSlice,
    SourceCard,
)
from app.domain.notes import Note
from app.embedding.chunking import NoteText, note_text
from app.index.work import aside
from app.lexical.passages import best_passage
from app.mirror.view import View
from app.ranking.run import (
    EntityNames,
    FragmentTexts,
    NearestFragments,
    RelationsOf,
    SourceCards,
    WordedFragments,
)
from app.search.passing import Passing
from app.text import is_blank

KINDS = (KIND_CHUNK, KIND_WHOLE, KIND_ENTITY)
"""The kinds of vectors that fragments have."""


class FragmentEvidence:
    """The evidence of one search about fragments."""

    def __init__(
        self,
        connection: Connection,
        view: View,
        text: str,
        passing: Passing,
        nearest: Callable[[str, int], Callable[[], Sequence[Candidate]]],
    ) -> None:
        """Read a snapshot; ``nearest`` gives the scan for the nearest vectors of a kind."""
        self._connection = connection
        self._view = view
        self._text = text
        self._passing = passing
        self._nearest_of = nearest
        self.meet: dict[type[Any], Callable[[Any], Any]] = {
            NearestFragments: self._nearest,
            WordedFragments: self._worded,
            RelationsOf: self._relations,
            SourceCards: self._cards,
            FragmentTexts: self._texts,
            EntityNames: lambda need: entities.named(self._connection, need.entity_ids),
        }

    @property
    def _space_id(self) -> int | None:
        return self._view.space.id if self._view.space else None

    def _nearest(self, need: NearestFragments) -> list[FragmentHit]:
        found = {
            each.chunk_id: each.cosine
            for kind in KINDS
            for each in self._nearest_of(kind, need.limit)()
        }
        owners = fragments.owners_of_vectors(self._connection, found)
        hits = [FragmentHit(*owners[id_], cosine) for id_, cosine in found.items() if id_ in owners]
        return sorted(hits, key=lambda hit: (-hit.value, hit.fragment))[: need.limit]

    def _worded(self, need: WordedFragments) -> list[FragmentHit]:
        if self._view.fragments is None:
            return []
        found = self._view.fragments.run_documents(self._text).best(
            need.limit, self._passing.documents()
        )
        owners = lexical.owners(self._connection, [hit.id for hit in found])
        hits = [FragmentHit(*owners[hit.id], hit.score) for hit in found if hit.id in owners]
        return sorted(hits, key=lambda hit: (-hit.value, hit.fragment))

    def _relations(self, need: RelationsOf) -> GraphSlice:
        # The database works for most of it, without the interpreter.
        with aside():
            return graph.relations_of(
                self._connection,
                self._space_id,
                need.fragments,
                limit=need.limit,
                entity_degree=need.entity_degree,
                is_inner=need.is_inner,
            )

    def _cards(self, need: SourceCards) -> dict[int, SourceCard]:
        cards = fragments.source_cards(self._connection, need.note_ids)
        passing = self._passing.notes()
        if passing is None:
            return cards
        return {id_: card for id_, card in cards.items() if _holds(passing, id_)}

    def _texts(self, need: FragmentTexts) -> dict[Fragment, FragmentText]:
        return texts_of(self._connection, need.fragments, self._text)


def _holds(ids: NDArray[np.int64], id_: int) -> bool:
    place = int(np.searchsorted(ids, id_))
    return place < len(ids) and int(ids[place]) == id_


def texts_of(
    connection: Connection, wanted: Sequence[Fragment], query: str
) -> dict[Fragment, FragmentText]:
    """Return what is shown of roots and chunks; those that do not exist are absent."""
    pieces = fragments.pieces(connection, [each.id for each in wanted if each.name == CHUNK])
    owners = {each.id for each in wanted if each.name == ROOT}
    owners |= {piece.note_id for piece in pieces.values()}
    found = {note.id: note for note in notes.get_many(connection, sorted(owners))}
    shown: dict[Fragment, FragmentText] = {}
    for each in wanted:
        if each.name == ROOT and each.id in found:
            shown[each] = _of_root(found[each.id], query)
        elif each.name == CHUNK and each.id in pieces and pieces[each.id].note_id in found:
            piece = pieces[each.id]
            shown[each] = _of_chunk(piece, found[piece.note_id], query)
    return shown


def place_of(piece: Piece, note: Note) -> tuple[str, int | None, int | None]:
    """Return where a chunk stands: in the body or in the text, from where to where."""
    if piece.start is not None and piece.end is not None:
        return BODY, piece.start, piece.end
    start = note_text(NoteText.of(note)).find(piece.text)
    return (TEXT, start, start + len(piece.text)) if start >= 0 else (TEXT, None, None)


def _of_root(note: Note, query: str) -> FragmentText:
    # The title is shown anyway; without anything else it is all that there is.
    told = note_text(NoteText("", note.summary, note.key_conclusions))
    shown = note.title if is_blank(told) else told
    return FragmentText(_preview(shown, query), None, TEXT, 0, len(root_text(note)))


def root_text(note: Note) -> str:
    """Return what a root stands for, with which the note's text begins."""
    return note_text(NoteText(note.title, note.summary, note.key_conclusions))


def _of_chunk(piece: Piece, note: Note, query: str) -> FragmentText:
    part, start, end = place_of(piece, note)
    # Without the title and headings that a section begins with when it is embedded.
    own = (note.body or "")[start:end] if part == BODY else ""
    shown = piece.text if is_blank(own) else own
    return FragmentText(_preview(shown, query), piece.heading_path, part, start, end)


def _preview(text: str, query: str) -> str:
    passage = best_passage(text, query)
    return " ".join(passage.text.split()) if passage else ""
