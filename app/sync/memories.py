"""Memories that agents write back: created, merged into what is known, or skipped.

Owns how a memory becomes a note. A repetition by its run key answers what became of it before.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection

from app.db import chunks, conversations, memories, notes, tags
from app.db.engine import Database
from app.distill.memories import lacks, merged, says_the_same
from app.domain.chunks import KIND_CHUNK
from app.domain.memory import CREATED, MANUAL_NOTE, MERGED, SKIPPED, Writeback, Written
from app.domain.notes import AGENT_WRITEBACK, Note
from app.embedding.active import Active, ActiveEmbedder
from app.embedding.scale import centre_passages
from app.importers.projects import project_key
from app.mirror.mirror import Mirror
from app.ranking.chatcrystal.candidates import raw_score
from app.sync import derived, memory_notes, texts
from app.sync.transaction import Transaction, transaction
from app.sync.vectors import Outcome
from app.text import has_han

MOST_LIKE = 20
"""Chunks around a new memory among which one that says the same is sought."""

ATTEMPTS = 3
LOW_SIGNAL = "low-signal"
CREATED_NEW = "created-new-memory"
MERGED_INTO = "merged-into-existing-memory"


class MemoryWriter:
    """Stores memories; every one is a transaction after its embedding call."""

    def __init__(self, database: Database, active: ActiveEmbedder, mirror: Mirror) -> None:
        self._database = database
        self._active = active
        self._mirror = mirror

    def write(self, request: Writeback) -> Written:
        """Store a memory, or add it to the one that says the same."""
        if request.source_run_key is not None:
            with self._database.read() as connection:
                before = memories.receipt(connection, request)
            if before is not None:
                return before
        missing = lacks(request.memory)
        if missing:
            return self._finish(request, Written(request.mode, SKIPPED, None, None, LOW_SIGNAL,
                                                 missing))  # fmt: skip
        key = request.task.project_key or project_key(request.task.project_dir, request.task.cwd)
        for _ in range(ATTEMPTS - 1):
            done = self._attempt(request, key, may_merge=True)
            if done is not None:
                return done
        # Others kept changing what it would be added to.
        done = self._attempt(request, key, may_merge=False)
        assert done is not None
        return done

    def _finish(self, request: Writeback, outcome: Written) -> Written:
        with transaction(self._database) as unit:
            return _receipted(unit, request, outcome)

    def _attempt(self, request: Writeback, key: str | None, *, may_merge: bool) -> Written | None:
        """Write a memory; None when what it would be added to changed meanwhile."""
        active = self._active.current
        own = self._draft(active, memory_notes.payload(request), None, request, key)
        known = self._known(active, request, key, own.outcome) if may_merge else None
        draft = own
        if known is not None:
            draft = self._draft(active, merged(known, request.memory), known, request, key)
        with transaction(self._database) as unit:
            if request.source_run_key is not None:
                before = memories.receipt(unit.connection, request)
                if before is not None:
                    return before
            if known is not None:
                if notes.get(unit.connection, known.id) != known:
                    return None
                derived.write(unit, active, known, draft)
                outcome = Written(request.mode, MERGED, None, known.id, MERGED_INTO)
            else:
                columns = {**draft.columns, "conversation_id": _origin(unit.connection, request)}
                whole = derived.Draft(columns, draft.tags, draft.outcome)
                note_id = derived.write(unit, active, None, whole)
                outcome = Written(request.mode, CREATED, note_id, None, CREATED_NEW)
            return _receipted(unit, request, outcome)

    def _draft(
        self,
        active: Active,
        payload: dict[str, Any],
        known: Note | None,
        request: Writeback,
        key: str | None,
    ) -> derived.Draft:
        """Embed what a memory's note will say."""
        names = [*(known.tags if known else ()), *(tag.lower() for tag in payload.get("tags", ()))]
        with self._database.read() as connection:
            ordered = tags.in_id_order(connection, names)
        columns = memory_notes.columns(payload, known, request, key)
        draft = memory_notes.note_draft(columns, known)
        prepared = texts.of_draft(draft, ordered, active.embedder.max_chars)
        return derived.Draft(columns, ordered, derived.embedded(active, [prepared])[0])

    def _known(
        self, active: Active, request: Writeback, key: str | None, outcome: Outcome
    ) -> Note | None:
        """Return the memory that says the same as a new one, the likest."""
        if outcome.failure is not None:
            return None
        prepared = outcome.prepared.chunks
        with self._mirror.open((KIND_CHUNK,)) as (connection, view):
            index = view.vectors.get(KIND_CHUNK)
            if index is None or view.space is None or view.space.id != active.space_id:
                return None
            han = np.array([has_han(chunk.text) for chunk in prepared])
            vectors = centre_passages(np.stack(outcome.vectors), han, view.means)
            best: dict[int, float] = {}
            for vector in vectors:
                _look(connection, index.search(vector, MOST_LIKE), best)
            border = view.space.spec.border
            found = notes.get_many(connection, best)
        ranked = sorted(found, key=lambda note: (-best[note.id], note.id))
        return next(
            (
                note
                for note in ranked
                if _may_take(note, request, key)
                and says_the_same(request.memory, note, raw_score(best[note.id], border))
            ),
            None,
        )


def _look(connection: Connection, found: Sequence[Any], best: dict[int, float]) -> None:
    owners = chunks.owners(connection, [each.chunk_id for each in found])
    for each in found:
        note_id = owners.get(each.chunk_id)
        if note_id is not None:
            best[note_id] = max(best.get(note_id, -1.0), each.cosine)


def _may_take(note: Note, request: Writeback, key: str | None) -> bool:
    """Tell whether a note is a memory of the same project and scope that nobody edited."""
    is_memory = note.source_type in (AGENT_WRITEBACK, MANUAL_NOTE)
    is_there = note.scope == request.scope and (
        note.project_key == key or request.scope == "global"
    )
    return is_memory and is_there and not note.is_edited


def _origin(connection: Connection, request: Writeback) -> str:
    columns = memory_notes.origin(request)
    if conversations.get(connection, columns["id"]) is not None:
        columns["id"] = f"memory:{uuid.uuid4()}"
    conversations.add(connection, [columns])
    conversation_id: str = columns["id"]
    return conversation_id


def _receipted(unit: Transaction, request: Writeback, outcome: Written) -> Written:
    """Store the receipt of a memory that has a run key; the first one stays."""
    if request.source_run_key is None:
        return outcome
    before = memories.receipt(unit.connection, request)
    if before is not None:
        return before
    memories.add_receipt(unit.connection, request, outcome)
    return outcome
