"""Takes over conversations, messages, tags, notes and relations.

Owns what makes a row the same as one that is there, and the map from the source's ids to ours.
Vectors and statuses are not touched: a new note waits as ``pending``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from app.db import conversations, note_rows, relations, tags
from app.domain.adoption import InvalidColumn, Progress
from app.domain.notes import STATUS_PENDING
from app.importers import chatcrystal_rows as source
from app.importers.chatcrystal import DataDirectory
from app.importers.chatcrystal_rows import SourceNote, SourceRelation, SourceRow, SourceTag
from app.sync.adopting.target import Item, Target, batched
from app.sync.transaction import Transaction

BATCH = 500


class RowAdopter:
    """Takes over the rows of one directory; afterwards it knows which note became which.

    Attributes:
        note_ids: Our id of each note of the source that has a conversation, by its id there.
        fresh: The notes, by their id in the source, that were not there before.
        changed: Those that were, and have been changed since, here or there.
    """

    def __init__(self, target: Target, directory: DataDirectory, on_progress: Progress) -> None:
        self.note_ids: dict[int, int] = {}
        self.fresh: set[int] = set()
        self.changed: set[int] = set()
        self._tag_ids: dict[int, int] = {}
        self._target = target
        self._directory = directory
        self._on_progress = on_progress

    def adopt(self) -> None:
        """Take over everything, each kind after those that it hangs on."""
        found = self._directory
        self._in_steps("conversations", source.conversations(found), self._add_conversations)
        self._in_steps("messages", source.messages(found), self._add_messages)
        self._in_steps("tags", source.tags(found), self._add_tags)
        self._in_steps("notes", source.notes(found), self._add_notes)
        self._in_steps("note_relations", source.relations(found), self._add_relations)
        self._target.tally.left_out.update(source.left_out(found))

    def _in_steps(
        self, table: str, items: Iterable[Item], add: Callable[[Transaction, list[Item]], None]
    ) -> None:
        total = source.count(self._directory, table)
        done = 0
        for batch in batched(items, BATCH):
            with self._target.step() as unit:
                add(unit, batch)
            done += len(batch)
            self._on_progress(table, done, total)
        # Rows that are left out are through as well.
        self._on_progress(table, total, total)

    def _add_conversations(self, unit: Transaction, batch: list[SourceRow]) -> None:
        known = conversations.known_ids(unit.connection, [row.id for row in batch])
        fresh = {row.id: row.columns for row in batch if row.id not in known}
        self._target.write(unit, conversations.add, list(fresh.values()))
        self._target.count("conversations", len(fresh), len(batch))

    def _add_messages(self, unit: Transaction, batch: list[SourceRow]) -> None:
        known = conversations.known_message_ids(unit.connection, [row.id for row in batch])
        fresh = {row.id: row.columns for row in batch if row.id not in known}
        self._target.write(unit, conversations.add_messages, list(fresh.values()))
        unit.heard({row["conversation_id"] for row in fresh.values()})
        self._target.count("messages", len(fresh), len(batch))

    def _add_tags(self, unit: Transaction, batch: list[SourceTag]) -> None:
        known = tags.ids_by_name(unit.connection, [tag.name for tag in batch])
        fresh = {tag.name: tag.id for tag in batch if tag.name not in known}
        ids = self._target.give_ids(unit, "tags", list(fresh.values()))
        rows = [{"id": tag_id, "name": name} for tag_id, name in zip(ids, fresh, strict=True)]
        self._target.write(unit, tags.add_many, rows)
        known |= dict(zip(fresh, ids, strict=True))
        self._tag_ids |= {tag.id: known[tag.name] for tag in batch}
        self._target.count("tags", len(fresh), len(batch))

    def _add_notes(self, unit: Transaction, batch: list[SourceNote]) -> None:
        versions = note_rows.versions_by_conversation(
            unit.connection, [note.conversation_id for note in batch]
        )
        fresh = [note for note in batch if note.conversation_id not in versions]
        ids = self._target.give_ids(unit, "notes", [note.id for note in fresh])
        rows = [
            {"id": note_id, "embedding_status": STATUS_PENDING, **note.columns}
            for note_id, note in zip(ids, fresh, strict=True)
        ]
        self._target.write(unit, note_rows.add_many, rows)
        self.fresh.update(note.id for note in fresh)
        self.note_ids |= dict(zip((note.id for note in fresh), ids, strict=True))
        for note in batch:
            if note.id not in self.fresh:
                self.note_ids[note.id], updated_at = versions[note.conversation_id]
                if updated_at != note.updated_at:
                    self.changed.add(note.id)
        self._tag_notes(unit, batch)
        unit.reworded(ids)
        self._target.count("notes", len(fresh), len(batch))

    def _tag_notes(self, unit: Transaction, batch: list[SourceNote]) -> None:
        """Give new notes their tags and note which of their columns were no JSON."""
        links: list[dict[str, int]] = []
        for note in batch:
            if note.id in self.fresh:
                tag_ids = sorted({self._tag_ids[tag_id] for tag_id in note.tag_ids})
                note_id = self.note_ids[note.id]
                links += [{"note_id": note_id, "tag_id": tag_id} for tag_id in tag_ids]
                found = [InvalidColumn(note.id, name) for name in note.invalid]
                self._target.tally.invalid_json += found
        self._target.write(unit, note_rows.add_tags, links)
        self._target.count("note_tags", len(links), sum(len(note.tag_ids) for note in batch))

    def _add_relations(self, unit: Transaction, batch: list[SourceRelation]) -> None:
        triples = {relation.id: self._triple(relation) for relation in batch}
        known = relations.triples_from(
            unit.connection, {source_id for source_id, _, _ in triples.values()}
        )
        fresh = {
            triples[relation.id]: relation
            for relation in batch
            if triples[relation.id] not in known
        }
        ids = self._target.give_ids(unit, "relations", [each.id for each in fresh.values()])
        rows = [
            {
                "id": relation_id,
                "source_note_id": triple[0],
                "target_note_id": triple[1],
                "relation_type": triple[2],
                **relation.columns,
            }
            for relation_id, (triple, relation) in zip(ids, fresh.items(), strict=True)
        ]
        self._target.write(unit, relations.add_many, rows)
        self._target.count("relations", len(fresh), len(batch))

    def _triple(self, relation: SourceRelation) -> tuple[int, int, str]:
        return (
            self.note_ids[relation.source_note_id],
            self.note_ids[relation.target_note_id],
            relation.relation_type,
        )
