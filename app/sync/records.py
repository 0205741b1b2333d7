"""The JSON Lines form of imports and exports: one object a line, external ids instead of ids.

Owns its field names, defaults and checks. Pure. ``app.maintenance.export.jsonl`` writes it.

The ``type`` of an object is ``tag`` (a ``name``; only needed for tags of no note, or to settle the
order of tags), ``conversation``, ``message``, ``note``, ``relation`` or ``link``. It comes after
what it refers to. A link has its ``target`` by name, as a text would write it, or as the external
id of a note; ``target_note`` is the note that answers, for names that none has any more. Null
counts as absent, except where a column may hold nothing although its default is something:
``updated_at`` and the JSON columns of a note, ``confidence`` of a relation.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from app.db.columns import now, write_json
from app.domain.conversations import ToolUse
from app.domain.links import KIND_WIKI, LINK_KINDS, Link
from app.domain.notes import STATUS_PENDING
from app.domain.relations import RELATION_TYPES, RelationDraft
from app.errors import InvalidParameter
from app.text import clean, is_blank

_CONVERSATION_TEXTS = (
    "slug",
    "cwd",
    "git_branch",
    "file_mtime",
    "experience_gate_reason",
    "experience_gate_details",
    "gate_override",
    "content_digest",
    "distilled_digest",
)
_NOTE_TEXTS = (
    "body",
    "raw_llm_response",
    "project_key",
    "task_kind",
    "outcome_type",
    "path",
    "slug",
    "content_digest",
)
CONVERSATION_PREFIX = "note:"
"""Before the id of a conversation: its note, which has no external id of its own."""

JSON_COLUMNS = ("key_conclusions", "code_snippets", "error_signatures", "files_touched", "aliases")
_MISSING = object()
_LARGEST_WHOLE = 2**63 - 1
_LARGEST_PLACE = 2**31 - 1


def text(record: Mapping[str, Any], name: str, default: Any = _MISSING) -> Any:
    """Return a text field, cleaned.

    Raises:
        InvalidParameter: it is missing without a default, or no text.
    """
    value = record.get(name)
    if value is None:
        if default is _MISSING:
            raise InvalidParameter(name, "is missing")
        return default
    if not isinstance(value, str):
        raise InvalidParameter(name, "must be a text")
    return clean(value)


def nullable_text(record: Mapping[str, Any], name: str, default: str) -> str | None:
    """Return a text field in which null means that there is none; the default when missing."""
    found: str | None = text(record, name, None if name in record else default)
    return found


def texts(record: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a field that is a list of texts, cleaned; empty when it is missing."""
    value = record.get(name) or []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidParameter(name, "must be a list of texts")
    return tuple(clean(item) for item in value)


def external_id(record: Mapping[str, Any]) -> str:
    """Return the external id, which must show something to be asked for by."""
    found: str = text(record, "external_id")
    if is_blank(found):
        raise InvalidParameter("external_id", "must not be blank")
    return found


def note_key(external_id: str | None, conversation_id: str) -> str:
    """Return what stands for a stored note: its external id, or one made of its conversation's."""
    if external_id is None or is_blank(external_id):
        return f"{CONVERSATION_PREFIX}{conversation_id}"
    return external_id


def whole(record: Mapping[str, Any], name: str, default: int | None = 0) -> int | None:
    """Return a whole number."""
    value = record.get(name)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _LARGEST_WHOLE:
        raise InvalidParameter(name, "must be a whole number")
    return value


def number(record: Mapping[str, Any], name: str) -> float | None:
    """Return a number, None when it is missing."""
    value = record.get(name)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not abs(value) <= sys.float_info.max:
        raise InvalidParameter(name, "must be a number")
    return float(value)


def conversation_columns(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a conversation; its external id becomes its id."""
    own_id = external_id(record)
    moment = now()
    first = text(record, "first_message_at", moment)
    return {
        "id": own_id,
        "external_id": own_id,
        "source": text(record, "source", "claude-code"),
        "project_dir": text(record, "project_dir", ""),
        "project_name": text(record, "project_name", ""),
        "message_count": whole(record, "message_count"),
        "first_message_at": first,
        "last_message_at": text(record, "last_message_at", first),
        "file_path": text(record, "file_path", ""),
        "file_size": whole(record, "file_size", None),
        "status": text(record, "status", "imported"),
        "experience_score": number(record, "experience_score"),
        "created_at": text(record, "created_at", moment),
        "updated_at": text(record, "updated_at", moment),
        **{name: text(record, name, None) for name in _CONVERSATION_TEXTS},
    }


def message_columns(record: Mapping[str, Any], conversation_id: str) -> dict[str, Any]:
    """Return the columns of a message; its external id becomes its id."""
    return {
        "id": external_id(record),
        "conversation_id": conversation_id,
        "parent_uuid": text(record, "parent_uuid", None),
        "type": text(record, "message_type", text(record, "role", "user")),
        "role": text(record, "role", None),
        "content": text(record, "content"),
        "has_tool_use": whole(record, "has_tool_use"),
        "has_code": whole(record, "has_code"),
        "thinking": text(record, "thinking", None),
        "timestamp": text(record, "timestamp", now()),
        "sort_order": whole(record, "sort_order"),
        "tools": _tools_column(record),
    }


def _tools_column(record: Mapping[str, Any]) -> str | None:
    """Return the tools that a message used: a list of objects of ``name, input, output``."""
    value = record.get("tools")
    if not value:
        return None
    names = [field.name for field in fields(ToolUse)]
    is_right = isinstance(value, list) and all(
        isinstance(tool, dict)
        and sorted(tool) == sorted(names)
        and all(isinstance(part, str) for part in tool.values())
        for tool in value
    )
    if not is_right:
        raise InvalidParameter("tools", f"must be a list of objects with {', '.join(names)}")
    return write_json(value)


def note_columns(record: Mapping[str, Any], conversation_id: str) -> dict[str, Any]:
    """Return the columns of a note, tags excepted."""
    created_at = text(record, "created_at", now())
    return {
        "conversation_id": conversation_id,
        "external_id": external_id(record),
        "title": text(record, "title"),
        "summary": text(record, "summary", ""),
        "is_edited": int(bool(record.get("is_edited"))),
        "embedding_status": STATUS_PENDING,
        "scope": text(record, "scope", "project"),
        "source_type": text(record, "source_type", "imported-conversation"),
        "source_agent": text(record, "source_agent", "unknown"),
        "created_at": created_at,
        "updated_at": nullable_text(record, "updated_at", created_at),
        **{name: text(record, name, None) for name in _NOTE_TEXTS},
        **{name: _json_column(record, name) for name in JSON_COLUMNS},
    }


def _json_column(record: Mapping[str, Any], name: str) -> str | None:
    """Return a JSON column: usually a list, but the original has it in any shape, and so do we."""
    value = record.get(name, [])
    return None if value is None else write_json(value)


def relation_draft(record: Mapping[str, Any], source_id: int, target_id: int) -> RelationDraft:
    """Return a relation between two known notes."""
    relation_type = text(record, "relation_type")
    if relation_type not in RELATION_TYPES:
        raise InvalidParameter("relation_type", f"must be one of {', '.join(RELATION_TYPES)}")
    return RelationDraft(
        source_id,
        target_id,
        relation_type,
        confidence_of(record.get("confidence", 1.0)),
        text(record, "description", None),
        text(record, "created_by", "manual"),
    )


def link_of(record: Mapping[str, Any]) -> Link:
    """Return a link as it is written in its note."""
    target = text(record, "target").strip()
    if is_blank(target):
        raise InvalidParameter("target", "must not be blank")
    kind = text(record, "kind", KIND_WIKI)
    if kind not in LINK_KINDS:
        raise InvalidParameter("kind", f"must be one of {', '.join(LINK_KINDS)}")
    position = whole(record, "position") or 0
    if not 0 <= position <= _LARGEST_PLACE:
        raise InvalidParameter("position", "must be a place in the text of the note")
    heading, label = text(record, "heading", None), text(record, "label", None)
    return Link(target, kind, heading, label, position)


def confidence_of(value: Any) -> float | None:
    """Return a confidence from 0 to 1, or None where nobody said how sure it is.

    Raises:
        InvalidParameter: it is something else.
    """
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1:
        raise InvalidParameter("confidence", "must be a number from 0 to 1")
    return float(value)
