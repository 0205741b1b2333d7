"""Asking the configured language model for the relations of a note.

Owns the order: candidates are read, the model is asked outside any transaction, and what is new
is written. What is there, whoever made it, stays as it is.
"""

from __future__ import annotations

from app.db import notes
from app.db import relating as rows
from app.db.engine import Database
from app.distill.judging import INSTRUCTIONS, NAME, SCHEMA, judged, shown
from app.domain.chunks import KIND_WHOLE
from app.embedding.active import ActiveEmbedder
from app.errors import NoteNotFound
from app.llm import registry
from app.llm.base import Task
from app.mirror.mirror import Mirror
from app.sync.neighbours import MOST_NEAR, Neighbours, neighbours_of
from app.sync.transaction import transaction


class Judge:
    """Finds relations with the language model of the settings; only when somebody asks for it."""

    def __init__(self, database: Database, active: ActiveEmbedder, mirror: Mirror) -> None:
        self._database = database
        self._active = active
        self._mirror = mirror

    def judge(self, note_id: int) -> int:
        """Ask for the relations of a note; return how many are new.

        Raises:
            NoteNotFound: there is no such note.
            ConfigurationError: no language model is set.
            ProviderError: the model failed.
        """
        model = registry.create(self._active.current.settings.llm)
        try:
            with self._mirror.open((KIND_WHOLE,)) as (connection, view):
                near = neighbours_of(connection, view, [note_id], {})
                ids = list(near.get(note_id, Neighbours({})).scores)[:MOST_NEAR]
                note = notes.get(connection, note_id)
                others = notes.get_many(connection, ids)
            if note is None:
                raise NoteNotFound
            if not others:
                return 0
            answer = model.answer(Task(NAME, INSTRUCTIONS, shown(note, others), SCHEMA))
        finally:
            model.close()
        with transaction(self._database) as unit:
            known = {
                (each.source_note_id, each.target_note_id, each.relation_type)
                for each in rows.touching(unit.connection, [note_id]).values()
            }
            alive = notes.exists(unit.connection, [note_id, *ids])
            fresh = [
                draft
                for draft in judged(answer, note, others)
                if (draft.source_note_id, draft.target_note_id, draft.relation_type) not in known
                and {draft.source_note_id, draft.target_note_id} <= alive
            ]
            rows.add(unit.connection, fresh)
        return len(fresh)
