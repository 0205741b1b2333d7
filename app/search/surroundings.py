"""What lies around one note: the next step after a search has found it.

Owns how the graph of a note is read for people and agents. Ranks neighbours as ``finder`` does,
with the note itself as the only seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from app.db import entities, fragments, graph, notes, spaces
from app.domain.fragments import (
    CHUNK,
    ENTITY,
    MENTIONS,
    ROOT,
    Entity,
    Fragment,
    FragmentName,
    FragmentRelation,
    GraphSlice,
    NamedRelation,
    Neighbour,
    NoteFragment,
    Surroundings,
    root,
)
from app.domain.notes import Note
from app.embedding.chunking import NoteText, note_text
from app.errors import NoteNotFound
from app.ranking.finder.options import FinderOptions
from app.ranking.finder.rollup import roll_up
from app.ranking.finder.slicing import slice_around
from app.ranking.finder.spreading import ppr
from app.search.fragments import place_of, root_text
from app.text import round_half_up

Relations = Sequence[FragmentRelation[Fragment]]


@dataclass(frozen=True, slots=True)
class _Scene:
    """A note in its slice of the graph; ``own`` are its fragments."""

    note_id: int
    around: GraphSlice
    own: frozenset[Fragment]
    options: FinderOptions

    @property
    def touching(self) -> Relations:
        """The relations of its fragments."""
        own = self.own
        return [each for each in self.around.relations if each.source in own or each.target in own]

    @property
    def mentioned(self) -> list[int]:
        """The entities that it mentions."""
        return sorted({each.target.id for each in self.touching if each.target.name == ENTITY})

    def named(self, names: Mapping[int, Entity]) -> Iterator[NamedRelation]:
        """Yield the relations of its fragments under the names of their ends."""
        for each in self.touching:
            yield NamedRelation(
                each.kind,
                self._name(each.source, names),
                self._name(each.target, names),
                self.options.weight_of(each.kind) * each.share,
            )

    def _name(self, fragment: Fragment, names: Mapping[int, Entity]) -> FragmentName:
        if fragment.name == ENTITY:
            return FragmentName(ENTITY, entity=names.get(fragment.id))
        chunk_id = fragment.id if fragment.name == CHUNK else None
        return FragmentName(fragment.name, self.around.note_of.get(fragment), chunk_id)


def surroundings(
    connection: Connection, note_id: int, options: FinderOptions, limit: int
) -> Surroundings:
    """Return a note's fragments, their relations, and its ``limit`` nearest neighbours.

    Raises:
        NoteNotFound: there is no such note.
    """
    note = notes.get(connection, note_id)
    if note is None:
        raise NoteNotFound
    space = spaces.searching(connection)
    space_id = space.id if space else None
    around = _slice(connection, space_id, note_id, options)
    own = frozenset(each for each, owner in around.note_of.items() if owner == note_id)
    scene = _Scene(note_id, around, own | {root(note_id)}, options)
    names = entities.named(connection, scene.mentioned)
    return Surroundings(
        note_id,
        note.title,
        note_text(NoteText.of(note)),
        tuple(_fragments(connection, space_id, note)),
        tuple(scene.named(names)),
        tuple(_neighbours(connection, scene, names, limit)),
    )


def _slice(
    connection: Connection, space_id: int | None, note_id: int, options: FinderOptions
) -> GraphSlice:
    walk = slice_around([root(note_id)], options)
    need = next(walk)
    while True:
        found = graph.relations_of(
            connection,
            space_id,
            need.fragments,
            limit=need.limit,
            entity_degree=need.entity_degree,
            is_inner=need.is_inner,
        )
        try:
            need = walk.send(found)
        except StopIteration as finished:
            around: GraphSlice = finished.value
            return around


def _fragments(connection: Connection, space_id: int | None, note: Note) -> Iterator[NoteFragment]:
    text = root_text(note)
    yield NoteFragment(ROOT, None, text, None, (0, len(text)), "text")
    for chunk_id, piece in fragments.pieces_of_note(connection, space_id, note.id).items():
        part, start, end = place_of(piece, note)
        extent = (start, end) if start is not None and end is not None else None
        yield NoteFragment(CHUNK, chunk_id, piece.text, piece.heading_path, extent, part)


def _neighbours(
    connection: Connection, scene: _Scene, names: Mapping[int, Entity], limit: int
) -> Iterator[Neighbour]:
    relations, note_of = scene.around.relations, scene.around.note_of
    mass = ppr({root(scene.note_id): 1.0}, relations, scene.options).mass
    others = {fragment: part for fragment, part in mass.items() if fragment not in scene.own}
    sources = roll_up(others, note_of)[:limit]
    cards = fragments.source_cards(connection, [source.id for source in sources])
    for source in sources:
        if source.id in cards:
            theirs = frozenset(each for each, owner in note_of.items() if owner == source.id)
            kinds, shared = _between(scene.own, theirs, relations)
            yield Neighbour(
                source.id,
                cards[source.id].title,
                round_half_up(source.score),
                kinds,
                tuple(names[id_] for id_ in shared if id_ in names),
            )


def _between(
    own: frozenset[Fragment], theirs: frozenset[Fragment], relations: Relations
) -> tuple[tuple[str, ...], list[int]]:
    """Return the types of relations between two notes, and the entities that both mention."""
    kinds: set[str] = set()
    mentioned: tuple[set[int], set[int]] = (set(), set())
    for each in relations:
        if each.kind == MENTIONS:
            for ends, ids in zip((own, theirs), mentioned, strict=True):
                if each.source in ends:
                    ids.add(each.target.id)
        elif (each.source in own and each.target in theirs) or (
            each.source in theirs and each.target in own
        ):
            kinds.add(each.kind)
    return tuple(sorted(kinds)), sorted(mentioned[0] & mentioned[1])
