"""Relations that are found by themselves: between notes and their neighbours, in groups.

Owns which pairs are looked at, and that nothing of a person's is touched.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from app.db import relating as rows
from app.db import relations
from app.db.engine import Database
from app.db.entities import of_notes
from app.distill.relating import AUTO, RARE, Pair, is_identifier, related
from app.domain.chunks import KIND_WHOLE
from app.domain.fragments import ERROR, FILE
from app.domain.relations import Relation, RelationDraft
from app.errors import NoteNotFound
from app.mirror.mirror import Mirror
from app.mirror.view import View
from app.sync.companions import CompanionEmbedder
from app.sync.neighbours import Neighbours, neighbours_of
from app.sync.transaction import transaction

GROUP = 64

Triple = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Found:
    """The relations between some notes and what was looked at, and these pairs."""

    drafts: tuple[RelationDraft, ...]
    pairs: frozenset[frozenset[int]]


class Relater:
    """Finds relations and keeps those that it made itself up to date."""

    def __init__(self, database: Database, mirror: Mirror, companions: CompanionEmbedder) -> None:
        self._database = database
        self._mirror = mirror
        self._companions = companions

    def titles(self) -> dict[int, str]:
        """Return id and title of every note, by id."""
        with self._database.read() as connection:
            return rows.all_titles(connection)

    def awaiting(self) -> tuple[int, ...]:
        """Return the distilled notes whose relations are still to be found, by id."""
        with self._database.read() as connection:
            return rows.awaiting(connection)

    def relate_one(self, note_id: int) -> tuple[Relation, ...]:
        """Find the relations of a note; return all that it has, surest first.

        Raises:
            NoteNotFound: there is no such note.
        """
        with self._database.read() as connection:
            if note_id not in rows.cards(connection, [note_id]):
                raise NoteNotFound
        self.relate([note_id])
        with self._database.read() as connection:
            return relations.of_note(connection, note_id)

    def relate(
        self, note_ids: Sequence[int], on_progress: Callable[[int], None] | None = None
    ) -> int:
        """Find the relations of notes, group by group; return how many are new.

        The vectors of whole notes that are missing are made first.

        Raises:
            ProviderError: they could not be made.
        """
        self._companions.fill()
        added = 0
        for start in range(0, len(note_ids), GROUP):
            group = list(note_ids[start : start + GROUP])
            with self._mirror.open((KIND_WHOLE,)) as (connection, view):
                found = _find(connection, view, group)
            with transaction(self._database) as unit:
                added += _settle(unit.connection, group, found)
            if on_progress is not None:
                on_progress(min(start + GROUP, len(note_ids)))
        return added

    def run(self, note_ids: Sequence[str]) -> dict[str, str]:
        """Find the relations of notes of the work queue."""
        self.relate([int(note_id) for note_id in note_ids])
        return {}


def _find(connection: Connection, view: View, note_ids: Sequence[int]) -> Found:
    """Judge every note beside its neighbours and those that name the same rare things."""
    counts = rows.mention_counts(connection, note_ids)
    sharing = _sharing(connection, note_ids, counts)
    near = neighbours_of(connection, view, note_ids, sharing)
    nobody = Neighbours({})
    around = {
        note_id: {*near.get(note_id, nobody).scores, *sharing.get(note_id, ())}
        for note_id in note_ids
    }
    cards = rows.cards(connection, set(note_ids).union(*around.values()))
    names = rows.names_of(connection, counts)
    by_name = {names[entity_id]: count for entity_id, count in counts.items()}
    drafts: dict[Triple, RelationDraft] = {}
    pairs = set()
    for note_id in note_ids:
        mine = near.get(note_id, nobody)
        for other in sorted(around[note_id]):
            pair = frozenset((note_id, other))
            if pair in pairs or not pair <= cards.keys():
                continue
            pairs.add(pair)
            is_mutual = mine.mutual == other
            judged = Pair(cards[note_id], cards[other], mine.scores.get(other), is_mutual)
            drafts |= {_triple(draft): draft for draft in related(judged, by_name)}
    return Found(tuple(drafts.values()), frozenset(pairs))


def _sharing(
    connection: Connection, note_ids: Sequence[int], counts: Mapping[int, int]
) -> dict[int, set[int]]:
    """Return for each note the others that name a file, an error or an identifier of its own."""
    mentioned = of_notes(connection, note_ids)
    telling = {
        entity.id
        for each in mentioned.values()
        for entity in each.values()
        if entity.kind in (FILE, ERROR) or is_identifier(entity.name)
    }
    rare = {entity_id for entity_id in telling if 1 < counts.get(entity_id, 0) <= RARE}
    having = rows.notes_with(connection, rare)
    return {
        note_id: {
            other
            for entity_id in each
            if entity_id in rare
            for other in having[entity_id]
            if other != note_id
        }
        for note_id, each in mentioned.items()
    }


def _settle(connection: Connection, note_ids: Collection[int], found: Found) -> int:
    """Write what is new, retell what changed, delete what no longer holds; ours alone."""
    known = rows.touching(connection, note_ids)
    alive = rows.cards(connection, {end for pair in found.pairs for end in pair})
    by_triple = {_triple(draft): (id_, draft) for id_, draft in known.items()}
    wanted = {
        _triple(draft): draft
        for draft in found.drafts
        if {draft.source_note_id, draft.target_note_id} <= alive.keys()
    }
    others = {_triple(draft) for draft in known.values() if draft.created_by != AUTO}
    fresh = [
        draft
        for triple, draft in wanted.items()
        if triple not in by_triple and not _is_told(triple, others)
    ]
    for triple, draft in wanted.items():
        id_, before = by_triple.get(triple, (0, draft))
        if before.created_by == AUTO and before != draft:
            rows.retell(connection, id_, draft)
    stale = [
        id_
        for triple, (id_, draft) in by_triple.items()
        if draft.created_by == AUTO and triple not in wanted and _ends(draft) in found.pairs
    ]
    rows.remove(connection, stale)
    rows.add(connection, fresh)
    rows.settled(connection, note_ids)
    return len(fresh)


def _is_told(triple: Triple, others: Collection[Triple]) -> bool:
    """Tell whether somebody else said the same; likeness holds both ways."""
    source, target, kind = triple
    return kind == "SIMILAR_TO" and (target, source, kind) in others


def _triple(draft: RelationDraft) -> Triple:
    return draft.source_note_id, draft.target_note_id, draft.relation_type


def _ends(draft: RelationDraft) -> frozenset[int]:
    return frozenset((draft.source_note_id, draft.target_note_id))
