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
from app.sync.transaction import Transaction, transaction
from app.text import clean

RECORD_TYPES = ("tag", "conversation", "message", "note", "relation", "link")
BATCH = 500


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
        batch: list[tuple[int, Mapping[str, Any]]] = []
        for number, record in enumerate(found, start=1):
            batch.append((number, record))
            if len(batch) == BATCH:
                self._store(batch, report)
                batch = []
                if on_progress is not None:
                    on_progress(number)
        self._store(batch, report)
        return report

    def _store(self, batch: list[tuple[int, Mapping[str, Any]]], report: ImportReport) -> None:
        with transaction(self._database) as unit:
            for number, record in batch:
                try:
                    is_new = _STORE[_type_of(record)](unit, record)
                except InvalidParameter as error:
                    report.refused.append((number, error.message))
                    continue
                counts = report.added if is_new else report.unchanged
                counts[record["type"]] += 1


def _type_of(record: Mapping[str, Any]) -> str:
    if not isinstance(record, Mapping):
        raise InvalidParameter("record", "must be a JSON object")
    kind = record.get("type")
    if not isinstance(kind, str) or kind not in _STORE:
        raise InvalidParameter("type", f"must be one of {', '.join(RECORD_TYPES)}")
    return kind


def _store_tag(unit: Transaction, record: Mapping[str, Any]) -> bool:
    name = records.text(record, "name")
    if tags.ids_by_name(unit.connection, [name]):
        return False
    tags.add_many(unit.connection, [{"name": name}])
    return True


def _store_conversation(unit: Transaction, record: Mapping[str, Any]) -> bool:
    row = records.conversation_columns(record)
    if conversations.ids_of_external(unit.connection, [row["external_id"]]):
        return False
    if conversations.get(unit.connection, row["id"]) is not None:
        return False
    conversations.add(unit.connection, [row])
    return True


def _store_message(unit: Transaction, record: Mapping[str, Any]) -> bool:
    conversation_id = _conversation_id(unit, record)
    row = records.message_columns(record, conversation_id)
    if conversations.has_message(unit.connection, row["id"]):
        return False
    conversations.add_messages(unit.connection, [row])
    unit.heard([conversation_id])
    return True


def _store_note(unit: Transaction, record: Mapping[str, Any]) -> bool:
    own_id = records.external_id(record)
    if notes.ids_of_external(unit.connection, [own_id]):
        return False
    conversation_id = _conversation_id(unit, record)
    if notes.id_of_conversation(unit.connection, conversation_id) is not None:
        if own_id == records.note_key(None, conversation_id):
            return False
        raise InvalidParameter("conversation", f"{conversation_id!r} has a note already")
    note_id = notes.add(unit.connection, records.note_columns(record, conversation_id))
    names = records.texts(record, "tags")
    notes.set_tags(unit.connection, note_id, notes.in_id_order(unit.connection, names))
    unit.reworded([note_id])
    return True


def _conversation_id(unit: Transaction, record: Mapping[str, Any]) -> str:
    external_id = clean(records.text(record, "conversation"))
    known = conversations.ids_of_external(unit.connection, [external_id])
    if external_id in known:
        return known[external_id]
    if conversations.get(unit.connection, external_id) is None:
        raise InvalidParameter("conversation", f"{external_id!r} is not known")
    return external_id


def _store_relation(unit: Transaction, record: Mapping[str, Any]) -> bool:
    draft = records.relation_draft(
        record, _note_id(unit, record, "source"), _note_id(unit, record, "target")
    )
    if relations.find(
        unit.connection, draft.source_note_id, draft.target_note_id, draft.relation_type
    ):
        return False
    relations.add(unit.connection, draft, records.text(record, "created_at", now()))
    return True


def _store_link(unit: Transaction, record: Mapping[str, Any]) -> bool:
    """Store a link; one that the body of its note holds as well is the same link."""
    link = records.link_of(record)
    source_id = _note_id(unit, record, "source")
    target_id = _known_note(unit, records.text(record, "target_note", link.target))
    known = links.find(unit.connection, source_id, link)
    if known is None:
        row = (source_id, names.key(link.target), link, target_id)
        links.add(unit.connection, [row], is_in_body=False)
    elif known.target_note_id is None and target_id is not None:
        links.point(unit.connection, {known.id: target_id})
    unit.relinked([source_id])
    return known is None


def _note_id(unit: Transaction, record: Mapping[str, Any], name: str) -> int:
    reference = records.text(record, name)
    found = _known_note(unit, reference)
    if found is None:
        raise InvalidParameter(name, f"{reference!r} is no known note")
    return found


def _known_note(unit: Transaction, reference: str) -> int | None:
    found = notes.ids_of_external(unit.connection, [reference]).get(reference)
    if found is None and reference.startswith(records.CONVERSATION_PREFIX):
        conversation_id = reference.removeprefix(records.CONVERSATION_PREFIX)
        found = notes.id_of_conversation(unit.connection, conversation_id)
    return found


_STORE: dict[str, Callable[[Transaction, Mapping[str, Any]], bool]] = {
    "tag": _store_tag,
    "conversation": _store_conversation,
    "message": _store_message,
    "note": _store_note,
    "relation": _store_relation,
    "link": _store_link,
}
