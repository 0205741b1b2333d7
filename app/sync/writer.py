"""Writes of single notes, relations and conversations.

Owns what each of them touches, and the retry when a note changed while its text was embedded.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from app.db import chunks, conversations, notes, opens, relations, spaces, tags
from app.db.columns import now, write_json
from app.db.engine import Database
from app.domain.notes import STATUS_DONE, STATUS_PENDING, Note, NoteDraft, NotePatch, Origin
from app.domain.relations import RELATION_TYPES, Relation, RelationDraft
from app.embedding.active import Active, ActiveEmbedder
from app.errors import (
    ConversationNotFound,
    DuplicateRelation,
    EditConflict,
    InvalidRelation,
    NoteNotFound,
    RelationNotFound,
)
from app.markdown.names import slug
from app.sync import texts
from app.sync.columns import OWN_SOURCE, edited, note_columns, own_conversation
from app.sync.companions import drop_outdated
from app.sync.transaction import Transaction, transaction
from app.sync.vectors import Outcome, embed, store

EDIT_ATTEMPTS = 3
OWN_CONVERSATION_PREFIX = "note:"
SAME_OPENING = timedelta(seconds=60)
"""A note that is opened again sooner than this is still open."""


class Writer:
    """Creates, edits and deletes; every method is one transaction after its embedding call."""

    def __init__(
        self,
        database: Database,
        active: ActiveEmbedder,
        on_embedded: Callable[[], None] = lambda: None,
    ) -> None:
        """Write to a database; ``on_embedded`` is called after a note was written."""
        self._database = database
        self._active = active
        self._on_embedded = on_embedded

    def create_note(self, draft: NoteDraft) -> int:
        """Store a note with its vectors and return its id.

        When the provider fails, the note is stored all the same, ``failed`` with the reason.

        Raises:
            ConversationNotFound: the draft names a conversation that does not exist.
            EditConflict: that conversation has a note already.
        """
        active = self._active.current
        ordered = self._in_id_order(draft.tags)
        prepared = texts.of_draft(draft, ordered, active.embedder.max_chars)
        outcome = embed(active.embedder, [prepared])[0]
        with transaction(self._database) as unit:
            origin = _origin_of(unit.connection, draft)
            names = tags.in_id_order(unit.connection, ordered)
            is_current = names == ordered
            is_mirrored = is_current and unit.space(active.space_id).active
            status = outcome.status if is_mirrored else STATUS_PENDING
            note = notes.create(unit.connection, note_columns(draft, status), origin, names)
            tags.give(unit.connection, {note.id: names})
            unit.created([note])
            if is_current:
                store(unit, active.space_id, note.id, outcome)
            else:
                # Another process gave the tags other ids meanwhile.
                _postpone(unit, active, note.id)
        self._on_embedded()
        return note.id

    def _in_id_order(self, names: tuple[str, ...]) -> tuple[str, ...]:
        if not names:
            return ()
        with self._database.read() as connection:
            return tags.in_id_order(connection, names)

    def edit_note(self, note_id: int, patch: NotePatch, if_updated_at: str | None = None) -> None:
        """Replace fields of a note; it is embedded again only when its text changed.

        With ``if_updated_at``, only if nobody has changed the note since it bore that time.

        Raises:
            NoteNotFound: there is no such note.
            EditConflict: others changed the note since then, or keep changing it.
        """
        for _ in range(EDIT_ATTEMPTS):
            if self._edit_once(note_id, patch, if_updated_at):
                return
        raise EditConflict(f"Note {note_id} is being changed by others; try again")

    def _edit_once(self, note_id: int, patch: NotePatch, if_updated_at: str | None) -> bool:
        active = self._active.current
        with self._database.read() as connection:
            before = _existing(connection, note_id)
            _check_version(before, if_updated_at)
            names = patch.changes.get("tags", before.tags)
            after = edited(before, patch, tags.in_id_order(connection, names))
            known_hash = spaces.text_hashes(connection, active.space_id, [note_id]).get(note_id)
            known = chunks.vectors_by_hash(connection, active.space_id, note_id)
        prepared = texts.of_note(after, active.embedder.max_chars)
        is_current = before.embedding_status == STATUS_DONE and prepared.text_hash == known_hash
        outcome = None if is_current else embed(active.embedder, [prepared], known)[0]
        with transaction(self._database) as unit:
            if notes.get(unit.connection, note_id) != before:
                return False
            changed_at = _after(_version(before))
            notes.change(unit.connection, note_id, _changed_columns(patch, changed_at))
            if "tags" in patch.changes:
                tags.set_of_note(unit.connection, note_id, after.tags)
            if "project" in patch.changes:
                project = {"project_name": after.project_name, "updated_at": now()}
                conversations.change(unit.connection, before.conversation_id, project)
            unit.reworded([note_id])
            drop_outdated(unit, before, after)
            if outcome is not None:
                _store(unit, active, note_id, outcome)
                spaces.outdate(unit.connection, note_id, prepared.text_hash)
        self._on_embedded()
        return True

    def open_note(self, note_id: int) -> None:
        """Record that a note was opened, unless it was within the last minute.

        Raises:
            NoteNotFound: there is no such note.
        """
        with transaction(self._database) as unit:
            if not notes.exists(unit.connection, [note_id]):
                raise NoteNotFound
            moment = _moment()
            last = opens.last(unit.connection, note_id)
            # A clock that was set back must not keep openings from being recorded.
            if last is None or not _text(moment - SAME_OPENING) < last <= _text(moment):
                opens.add(unit.connection, note_id, _text(moment))

    def delete_note(self, note_id: int) -> None:
        """Delete a note with its vectors, and its conversation when that is only its own.

        Raises:
            NoteNotFound: there is no such note.
        """
        with transaction(self._database) as unit:
            note = _existing(unit.connection, note_id)
            _remove_derived(unit, note_id)
            notes.remove(unit.connection, note_id)
            if note.conversation_id.startswith(OWN_CONVERSATION_PREFIX):
                conversations.remove(unit.connection, note.conversation_id)

    def delete_conversation(self, conversation_id: str) -> None:
        """Delete a conversation with its messages, its note and the note's vectors.

        Raises:
            ConversationNotFound: there is no such conversation.
        """
        with transaction(self._database) as unit:
            note_id = notes.id_of_conversation(unit.connection, conversation_id)
            if note_id is not None:
                _remove_derived(unit, note_id)
            unit.removed_messages(conversation_id)
            if not conversations.remove(unit.connection, conversation_id):
                raise ConversationNotFound

    def create_relation(self, draft: RelationDraft) -> Relation:
        """Store a relation between two notes.

        Raises:
            InvalidRelation: a relation of this type cannot be made between these notes.
            DuplicateRelation: it exists.
        """
        if draft.source_note_id == draft.target_note_id:
            raise InvalidRelation("Cannot create relation to self")
        if draft.relation_type not in RELATION_TYPES:
            raise InvalidRelation(f"Invalid relation type: {draft.relation_type}")
        ends = {draft.source_note_id, draft.target_note_id}
        with transaction(self._database) as unit:
            if notes.exists(unit.connection, ends) != ends:
                raise InvalidRelation("One or both notes not found")
            if relations.find(
                unit.connection, draft.source_note_id, draft.target_note_id, draft.relation_type
            ):
                raise DuplicateRelation(
                    f"Note {draft.source_note_id} is already joined to {draft.target_note_id} "
                    f"by {draft.relation_type}"
                )
            relation_id = relations.add(unit.connection, draft, now())
            relation = relations.get(unit.connection, relation_id)
        if relation is None:
            raise RelationNotFound
        return relation

    def delete_relation(self, relation_id: int) -> None:
        """Delete a relation.

        Raises:
            RelationNotFound: there is no such relation.
        """
        with transaction(self._database) as unit:
            if not relations.remove(unit.connection, relation_id):
                raise RelationNotFound


def _moment() -> datetime:
    return datetime.now(UTC)


def _text(moment: datetime) -> str:
    """Write a time in UTC so that later ones compare as greater."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _store(unit: Transaction, active: Active, note_id: int, outcome: Outcome) -> None:
    """Store an outcome, unless the text came out otherwise than it was embedded."""
    stored = _existing(unit.connection, note_id)
    actual = texts.of_note(stored, active.embedder.max_chars)
    if actual.text_hash == outcome.prepared.text_hash:
        store(unit, active.space_id, note_id, outcome)
        return
    unit.removed_vectors(chunks.remove_of_notes(unit.connection, [note_id], active.space_id))
    _postpone(unit, active, note_id)


def _postpone(unit: Transaction, active: Active, note_id: int) -> None:
    """Leave a note to the queue, which embeds it as it is then."""
    spaces.set_status(unit.connection, active.space_id, [note_id], STATUS_PENDING)


def _existing(connection: Connection, note_id: int) -> Note:
    note = notes.get(connection, note_id)
    if note is None:
        raise NoteNotFound
    return note


def _remove_derived(unit: Transaction, note_id: int) -> None:
    unit.removed_vectors(chunks.remove_of_notes(unit.connection, [note_id]))
    unit.removed_documents([note_id])


def _origin_of(connection: Connection, draft: NoteDraft) -> Origin:
    """Return the conversation of a new note, stored now if it is only the note's own."""
    if draft.conversation_id is None:
        own = Origin(f"{OWN_CONVERSATION_PREFIX}{uuid.uuid4()}", OWN_SOURCE, draft.project, "")
        conversations.add(connection, [own_conversation(own, draft)])
        return own
    found = conversations.get(connection, draft.conversation_id)
    if found is None:
        raise ConversationNotFound
    if notes.id_of_conversation(connection, found.id) is not None:
        raise EditConflict(f"Conversation {found.id} has a note already")
    return Origin(found.id, found.source, found.project_name, found.project_dir)


def _version(note: Note) -> str:
    return note.updated_at or note.created_at


def _check_version(note: Note, expected: str | None) -> None:
    if expected not in (None, _version(note)):
        raise EditConflict(f"Note {note.id} was changed at {_version(note)}; read it again")


def _after(version: str) -> str:
    """Return the time now as a version that differs from the one before.

    Two edits within a second would bear the same one, and the later could undo the earlier.
    """
    moment = now()
    return moment if moment > version else f"{moment}.{time.time_ns() % 10**9:09d}"


def _changed_columns(patch: NotePatch, changed_at: str) -> Mapping[str, Any]:
    columns: dict[str, Any] = {"is_edited": 1, "updated_at": changed_at}
    for name, value in patch.changes.items():
        if name in ("tags", "project"):
            continue
        if name == "path":
            columns["slug"] = slug(value)
        if name == "code_snippets":
            columns[name] = write_json([asdict(snippet) for snippet in value])
        else:
            columns[name] = write_json(value) if isinstance(value, tuple) else value
    return columns
