"""What people make of the gate's judgement: conversations that are kept, dropped, tried again.

Owns the overrule, which outlives that a conversation grows.
"""

from __future__ import annotations

from app.db import distilling as rows
from app.db import notes
from app.db.engine import Database
from app.domain.distilling import DROP, FILTERED, IMPORTED, KEEP, SUMMARIZED
from app.errors import CrystalError, EditConflict
from app.sync import derived
from app.sync.distilling import Distiller
from app.sync.transaction import transaction


class Reviewer:
    """Overrules the gate."""

    def __init__(self, database: Database, distiller: Distiller) -> None:
        self._database = database
        self._distiller = distiller

    def keep(self, conversation_id: str) -> int:
        """Make a note of a conversation whatever the gate says, now and when it grows.

        Returns:
            The id of the note.

        Raises:
            ConversationNotFound: there is no such conversation.
            CrystalError: the note could not be made.
        """
        with transaction(self._database) as unit:
            standing = rows.existing(unit.connection, conversation_id)
            status = SUMMARIZED if standing.status == SUMMARIZED else IMPORTED
            columns = {"gate_override": KEEP, "status": status}
            rows.change(unit.connection, conversation_id, columns)
        report = self._distiller.distil([conversation_id])
        with self._database.read() as connection:
            note_id = notes.ids_of_conversations(connection, [conversation_id]).get(conversation_id)
        if note_id is None:
            raise CrystalError(report.reasons.get(conversation_id, "The note could not be made"))
        return note_id

    def drop(self, conversation_id: str) -> None:
        """Leave a conversation without a note for good; one that was made of it is deleted.

        Raises:
            ConversationNotFound: there is no such conversation.
            EditConflict: its note was edited by somebody.
        """
        with transaction(self._database) as unit:
            rows.existing(unit.connection, conversation_id)
            note_id = notes.id_of_conversation(unit.connection, conversation_id)
            before = notes.get(unit.connection, note_id) if note_id is not None else None
            if before is not None:
                if before.is_edited:
                    raise EditConflict(f"Note {before.id} was edited: delete it first")
                derived.remove(unit, before.id)
            columns = {"status": FILTERED, "gate_override": DROP}
            rows.change(unit.connection, conversation_id, columns)

    def reset_errors(self) -> int:
        """Let conversations whose distilling failed wait for it again; return how many."""
        with transaction(self._database) as unit:
            return rows.reset_errors(unit.connection)
