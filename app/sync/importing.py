"""Imports of many records of the JSON Lines form, idempotent by external id.

Owns how a record becomes rows, and what is refused. Must not read files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.db import conversations, links, notes, relations, tags
from app.db.columns import now
from app.db.engine import Database
from app.errors import InvalidParameter
from app.markdown import names
from app.sync import records
from app.sync.known import Known
from app.sync.transaction import Transaction, transaction

RECORD_TYPES = ("tag", "conversation", "message", "note", "relation", "link")
BATCH = 500

Record = Mapping[str, Any]


@dataclass(slots=True)
class ImportReport:
    """Counts by record type, and what was refused as (record number from 1, reason)."""

    added: dict[str, int] = field(default_factory=lambda: dict.fromkeys(RECORD_TYPES, 0))
    unchanged: dict[str, int] = field(default_factory=lambda: dict.fromkeys(RECORD_TYPES, 0))
    refused: list[tuple[int, str]] = field(default_factory=list)


class Importer:
    """Takes records in; notes arrive ``pending`` and are embedded afterwards."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def import_records(
        self,
        found: Iterable[Any],
        on_progress: Callable[[int], None] | None = None,
    ) -> ImportReport:
        """Store records in their order, in batches; a bad one is refused, the rest stored.

        A record is a mapping of JSON values, anything else is refused as well. One whose
        external id is known, or a relation that exists, changes nothing.
        """
        report = ImportReport()
        batch: list[tuple[int, Record]] = []
        for number, record in enumerate(found, start=1):
            batch.append((number, record))
            if len(batch) == BATCH:
                self._store(batch, report)
                batch = []
                if on_progress is not None:
                    on_progress(number)
        self._store(batch, report)
        return report

    def _store(self, batch: list[tuple[int, Record]], report: ImportReport) -> None:
        with transaction(self._database) as unit:
            known = Known.of(unit.connection, (record for _, record in batch))
            for number, record in batch:
                try:
                    is_new = _STORE[_type_of(record)](unit, known, record)
                except InvalidParameter as error:
                    report.refused.append((number, error.message))
                    continue
                counts = report.added if is_new else report.unchanged
                counts[record["type"]] += 1


def _type_of(record: Record) -> str:
    if not isinstance(record, Mapping):
        raise InvalidParameter("record", "must be a JSON object")
    kind = record.get("type")
    if not isinstance(kind, str) or kind not in _STORE:
        raise InvalidParameter("type", f"must be one of {', '.join(RECORD_TYPES)}")
    return kind


def _store_tag(unit: Transaction, known: Known, record: Record) -> bool:
    name = records.text(record, "name")
    if name in known.tags:
        return False
    known.tags.update(tags.add(unit.connection, [name]))
    return True


def _store_conversation(unit: Transaction, known: Known, record: Record) -> bool:
    row = records.conversation_columns(record)
    if known.conversation(row["external_id"]) is not None:
        return False
    conversations.add(unit.connection, [row])
    known.added_conversation(row["id"])
    return True


def _store_message(unit: Transaction, known: Known, record: Record) -> bool:
    conversation_id = _conversation_id(known, record)
    row = records.message_columns(record, conversation_id)
    if row["id"] in known.messages:
        return False
    conversations.add_messages(unit.connection, [row])
    known.messages.add(row["id"])
    unit.heard([conversation_id])
    return True


def _store_note(unit: Transaction, known: Known, record: Record) -> bool:
    own_id = records.external_id(record)
    if own_id in known.notes:
        return False
    conversation_id = _conversation_id(known, record)
    if conversation_id in known.notes_of_conversations:
        if own_id == records.note_key(None, conversation_id):
            return False
        raise InvalidParameter("conversation", f"{conversation_id!r} has a note already")
    columns = records.note_columns(record, conversation_id)
    tag_names = tuple(dict.fromkeys(records.texts(record, "tags")))
    note_id = notes.add(unit.connection, columns)
    known.added_note(own_id, conversation_id, note_id)
    known.tags.update(tags.add(unit.connection, [n for n in tag_names if n not in known.tags]))
    tags.add_to_note(unit.connection, note_id, sorted(known.tags[name] for name in tag_names))
    unit.reworded([note_id])
    return True


def _conversation_id(known: Known, record: Record) -> str:
    name = records.text(record, "conversation")
    found = known.conversation(name)
    if found is None:
        raise InvalidParameter("conversation", f"{name!r} is not known")
    return found


def _store_relation(unit: Transaction, known: Known, record: Record) -> bool:
    draft = records.relation_draft(
        record, _note_id(known, record, "source"), _note_id(known, record, "target")
    )
    if relations.find(
        unit.connection, draft.source_note_id, draft.target_note_id, draft.relation_type
    ):
        return False
    relations.add(unit.connection, draft, records.text(record, "created_at", now()))
    return True


def _store_link(unit: Transaction, known: Known, record: Record) -> bool:
    """Store a link; one that the body of its note holds as well is the same link."""
    link = records.link_of(record)
    source_id = _note_id(known, record, "source")
    target_id = known.note(records.text(record, "target_note", link.target))
    stored = links.find(unit.connection, source_id, link)
    if stored is None:
        row = (source_id, names.key(link.target), link, target_id)
        links.add(unit.connection, [row], is_in_body=False)
    elif stored.target_note_id is None and target_id is not None:
        links.point(unit.connection, {stored.id: target_id})
    unit.relinked([source_id])
    return stored is None


def _note_id(known: Known, record: Record, name: str) -> int:
    reference = records.text(record, name)
    found = known.note(reference)
    if found is None:
        raise InvalidParameter(name, f"{reference!r} is no known note")
    return found


_STORE: dict[str, Callable[[Transaction, Known, Record], bool]] = {
    "tag": _store_tag,
    "conversation": _store_conversation,
    "message": _store_message,
    "note": _store_note,
    "relation": _store_relation,
    "link": _store_link,
}
