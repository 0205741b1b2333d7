"""What lies near a note in meaning: hidden notes, hidden notes by section, boosted search.

Owns which stored vectors are compared. Never the note's name: only vectors that were made of its
text. Linked notes are left out of the candidates, not of the answer, so they cannot starve it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from app.db import note_graph, notes
from app.domain.chunks import KIND_CHUNK, KIND_WHOLE
from app.domain.graph import BoostedNote, HiddenNote, SectionMatch
from app.embedding.active import ActiveEmbedder
from app.errors import NoteNotFound
from app.mirror.mirror import Mirror
from app.ranking.notebrain.boosted import CANDIDATES_PER_RESULT, boosted
from app.ranking.notebrain.matches import Caps, best_matches, caps_of
from app.ranking.notebrain.sections import hidden_behind
from app.search.graph import linked_to
from app.search.meaning import prepared
from app.search.vectors import NoteVectors, Section

NOT_COMPARED = "Note {} has no vectors yet (status {}): nothing could be compared with it"


@dataclass(frozen=True, slots=True)
class Hidden:
    """Hidden notes, best first; ``sections`` counts those of the note asked about."""

    found: tuple[HiddenNote, ...]
    sections: int | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Boosted:
    """An answer of boosted search, best first."""

    found: tuple[BoostedNote, ...]
    warnings: tuple[str, ...] = ()


class Neighbours:
    """Answers what lies near notes; safe among threads."""

    def __init__(self, mirror: Mirror, active: ActiveEmbedder) -> None:
        self._mirror = mirror
        self._active = active

    def hidden(self, note_id: int, limit: int, *, with_linked: bool) -> Hidden:
        """Return the notes nearest to a whole note, linked ones left out unless asked for.

        Raises:
            NoteNotFound: there is no such note.
            DatabaseUnavailable: the database cannot be read.
        """
        with self._mirror.open((KIND_WHOLE,)) as (connection, view):
            left_out = _left_out(connection, note_id, with_linked=with_linked)
            vectors = NoteVectors(connection, view)
            lacking = vectors.lacking_whole()
            seed = vectors.of_whole(note_id)
            if seed is None:
                return Hidden((), warnings=(_not_compared(connection, note_id),))
            caps = Caps(limit, 1)
            found = vectors.nearest(KIND_WHOLE, seed, caps, left_out, only_positive=False)
            others = notes.exists(connection, set(lacking) - left_out)
            found += vectors.means_beside(seed, others)
            best = best_matches(found, caps, only_positive=False)
            stubs = note_graph.stubs(connection, [match.note_id for match in best])
        listed = tuple(HiddenNote(stubs[each.note_id], each.score) for each in best)
        return Hidden(listed, warnings=_stood_in(lacking))

    def hidden_deep(self, note_id: int, limit: int, per_note: int, *, with_linked: bool) -> Hidden:
        """Return the notes that come near the most sections of a note.

        Raises:
            NoteNotFound: there is no such note.
            DatabaseUnavailable: the database cannot be read.
        """
        caps = caps_of(limit, per_note)
        with self._mirror.open((KIND_CHUNK,)) as (connection, view):
            left_out = _left_out(connection, note_id, with_linked=with_linked)
            vectors = NoteVectors(connection, view)
            sections = vectors.sections(note_id)
            if not sections:
                return Hidden((), 0, (_not_compared(connection, note_id),))
            near = [vectors.nearest(KIND_CHUNK, each.vector, caps, left_out) for each in sections]
            best = hidden_behind(near, limit)
            stubs = note_graph.stubs(connection, [note.note_id for note in best])
        listed = tuple(
            HiddenNote(
                stubs[note.note_id],
                note.score,
                len(note.matched),
                tuple(_section_match(sections, *each) for each in note.shown),
            )
            for note in best
        )
        return Hidden(listed, len(sections))

    def boosted(self, note_id: int, topics: Sequence[str], limit: int, boost: float) -> Boosted:
        """Search by meaning, the direct neighbours of a note lifted.

        Raises:
            NoteNotFound: there is no such note.
            ProviderError: the queries could not be embedded.
            SpaceMismatch: the provider's vectors do not belong to the active space.
            DatabaseUnavailable: the database cannot be read.
        """
        with self._mirror.open(()) as (connection, _):
            _linked(connection, note_id)
        active = self._active.searching
        queries = active.embedder.embed_queries(topics)
        with self._mirror.open((KIND_CHUNK,)) as (connection, view):
            linked = _linked(connection, note_id)
            asked = [
                prepared(view, active, query.vector, text)
                for text, query in zip(topics, queries, strict=True)
            ]
            vectors = NoteVectors(connection, view)
            caps = Caps(CANDIDATES_PER_RESULT * limit, 1)
            found = [
                vectors.nearest(KIND_CHUNK, each, caps, (), only_positive=False) for each in asked
            ]
            candidates = {match.note_id for matches in found for match in matches}
            cosines = [vectors.best_cosines(each, candidates) for each in asked]
            stubs = note_graph.stubs(connection, candidates)
        titles = {each: stub.title for each, stub in stubs.items()}
        rows = boosted(cosines, linked, titles, limit, boost)
        listed = tuple(
            BoostedNote(stubs[row.note_id], row.score, row.cosine, row.is_linked, row.passed)
            for row in rows
        )
        warnings = tuple(warning for query in queries for warning in query.warnings)
        return Boosted(listed, warnings)


def _linked(connection: Connection, note_id: int) -> frozenset[int]:
    if not notes.exists(connection, [note_id]):
        raise NoteNotFound
    return linked_to(connection, note_id)


def _left_out(connection: Connection, note_id: int, *, with_linked: bool) -> frozenset[int]:
    linked = _linked(connection, note_id)
    return frozenset({note_id}) if with_linked else linked | {note_id}


def _section_match(sections: Sequence[Section], section: int, score: float) -> SectionMatch:
    return SectionMatch(sections[section].number, sections[section].heading_path, score)


def _not_compared(connection: Connection, note_id: int) -> str:
    note = notes.get(connection, note_id)
    return NOT_COMPARED.format(note_id, note.embedding_status if note else "unknown")


def _stood_in(lacking: Sequence[int]) -> tuple[str, ...]:
    if not lacking:
        return ()
    what = "1 note has" if len(lacking) == 1 else f"{len(lacking)} notes have"
    return (f"{what} no vector of the whole yet: the mean of the chunks stood in for it",)
