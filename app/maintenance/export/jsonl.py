"""The JSON Lines form, as ``app.sync.records`` reads it: everything but the vectors, without loss.

Owns which columns a line has, and what stands for an id. Imported into an empty database, an
export gives the same notes, and exported again the same bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO

from sqlalchemy import Connection

from app.db import whole_tables
from app.db.columns import read_json
from app.db.whole_tables import Row
from app.maintenance.export.source import Source, Tally
from app.sync.records import JSON_COLUMNS, note_key

Record = dict[str, Any]

_CONVERSATION_FIELDS = (
    "source",
    "slug",
    "project_name",
    "project_dir",
    "cwd",
    "git_branch",
    "message_count",
    "first_message_at",
    "last_message_at",
    "file_path",
    "file_size",
    "file_mtime",
    "status",
    "experience_score",
    "experience_gate_reason",
    "experience_gate_details",
    "gate_override",
    "content_digest",
    "distilled_digest",
    "created_at",
    "updated_at",
)
_MESSAGE_FIELDS = (
    "parent_uuid",
    "role",
    "content",
    "thinking",
    "has_tool_use",
    "has_code",
    "timestamp",
    "sort_order",
)
_NOTE_FIELDS = (
    "title",
    "summary",
    "body",
    "raw_llm_response",
    "project_key",
    "scope",
    "source_type",
    "source_agent",
    "task_kind",
    "outcome_type",
    "path",
    "slug",
    "content_digest",
    "created_at",
    "updated_at",
)
_LINK_FIELDS = ("target", "kind", "heading", "label", "position")
_RELATION_FIELDS = ("relation_type", "confidence", "description", "created_by", "created_at")

# Within a text JSON allows these, but some programs take them for the end of a line.
_LINE_ENDS = {end: f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}


def write_lines(source: Source, stream: BinaryIO, tally: Tally) -> None:
    """Write one object a line, what is referred to before what refers to it."""
    for kind, (rows, record_of) in _KINDS.items():
        for row in tally.counting(kind, rows(source.connection)):
            stream.write(_line(record_of(row)))
    stream.flush()


def _line(record: Record) -> bytes:
    line = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    for end, escaped in _LINE_ENDS.items():
        line = line.replace(end, escaped)
    return line.encode("utf-8") + b"\n"


def _conversation_key(external_id: str | None, conversation_id: str) -> str:
    return conversation_id if external_id is None else external_id


def _tag(row: Row) -> Record:
    return {"type": "tag", "name": row["name"]}


def _conversation(row: Row) -> Record:
    return {
        "type": "conversation",
        "external_id": _conversation_key(row["external_id"], row["id"]),
        **_fields(row, _CONVERSATION_FIELDS),
    }


def _message(row: Row) -> Record:
    return {
        "type": "message",
        "external_id": row["id"],
        "conversation": _conversation_key(row["conversation_external_id"], row["conversation_id"]),
        "message_type": row["type"],
        **_fields(row, _MESSAGE_FIELDS),
        "tools": read_json(row["tools"]),
    }


def _note(row: Row) -> Record:
    return {
        "type": "note",
        "external_id": note_key(row["external_id"], row["conversation_id"]),
        "conversation": _conversation_key(row["conversation_external_id"], row["conversation_id"]),
        **_fields(row, _NOTE_FIELDS),
        "is_edited": bool(row["is_edited"]),
        # A column without any text is one without a list, and not a list of none.
        **{name: read_json(row[name]) if row[name] else None for name in JSON_COLUMNS},
        "tags": list(row["tags"]),
    }


def _relation(row: Row) -> Record:
    return {
        "type": "relation",
        "source": note_key(row["source_external_id"], row["source_conversation_id"]),
        "target": note_key(row["target_external_id"], row["target_conversation_id"]),
        **_fields(row, _RELATION_FIELDS),
    }


def _link(row: Row) -> Record:
    is_resolved = row["target_note_id"] is not None
    return {
        "type": "link",
        "source": note_key(row["source_external_id"], row["source_conversation_id"]),
        **_fields(row, _LINK_FIELDS),
        "target_note": note_key(row["target_external_id"], row["target_conversation_id"])
        if is_resolved
        else None,
    }


def _fields(row: Row, names: tuple[str, ...]) -> Record:
    return {name: _writable(row[name]) for name in names}


def _writable(value: Any) -> Any:
    """Return a value as JSON has it, which knows no numbers beyond all bounds."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


_KINDS: Mapping[str, tuple[Callable[[Connection], Iterator[Row]], Callable[[Row], Record]]] = {
    "tags": (whole_tables.all_tags, _tag),
    "conversations": (whole_tables.all_conversations, _conversation),
    "messages": (whole_tables.all_messages, _message),
    "notes": (whole_tables.all_notes, _note),
    "relations": (whole_tables.all_relations, _relation),
    "links": (whole_tables.all_links, _link),
}
