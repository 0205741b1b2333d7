"""The JSON Lines form of imports and exports: one object a line, external ids instead of ids.

Owns its field names, defaults and checks. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.db.columns import now, write_json
from app.domain.notes import STATUS_PENDING
from app.domain.relations import RELATION_TYPES, RelationDraft
from app.errors import InvalidParameter
from app.text import clean

_CONVERSATION_TEXTS = ("slug", "cwd", "git_branch", "file_mtime")
_NOTE_TEXTS = ("body", "raw_llm_response", "project_key", "task_kind", "outcome_type", "path")
_NOTE_LISTS = ("key_conclusions", "code_snippets", "error_signatures", "files_touched", "aliases")
_MISSING = object()


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


def texts(record: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a field that is a list of texts, cleaned; empty when it is missing."""
    value = record.get(name) or []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidParameter(name, "must be a list of texts")
    return tuple(clean(item) for item in value)


def whole(record: Mapping[str, Any], name: str, default: int | None = 0) -> int | None:
    """Return a whole number."""
    value = record.get(name)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidParameter(name, "must be a whole number")
    return value


def conversation_columns(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a conversation; its external id becomes its id."""
    external_id = text(record, "external_id")
    moment = now()
    first = text(record, "first_message_at", moment)
    return {
        "id": external_id,
        "external_id": external_id,
        "source": text(record, "source", "claude-code"),
        "project_dir": text(record, "project_dir", ""),
        "project_name": text(record, "project_name", ""),
        "message_count": whole(record, "message_count"),
        "first_message_at": first,
        "last_message_at": text(record, "last_message_at", first),
        "file_path": text(record, "file_path", ""),
        "file_size": whole(record, "file_size", None),
        "status": text(record, "status", "imported"),
        "created_at": text(record, "created_at", moment),
        "updated_at": text(record, "updated_at", moment),
        **{name: text(record, name, None) for name in _CONVERSATION_TEXTS},
    }


def message_columns(record: Mapping[str, Any], conversation_id: str) -> dict[str, Any]:
    """Return the columns of a message; its external id becomes its id."""
    return {
        "id": text(record, "external_id"),
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
    }


def note_columns(record: Mapping[str, Any], conversation_id: str) -> dict[str, Any]:
    """Return the columns of a note, tags excepted."""
    created_at = text(record, "created_at", now())
    return {
        "conversation_id": conversation_id,
        "external_id": text(record, "external_id"),
        "title": text(record, "title"),
        "summary": text(record, "summary", ""),
        "is_edited": int(bool(record.get("is_edited"))),
        "embedding_status": STATUS_PENDING,
        "scope": text(record, "scope", "project"),
        "source_type": text(record, "source_type", "imported-conversation"),
        "source_agent": text(record, "source_agent", "unknown"),
        "created_at": created_at,
        "updated_at": text(record, "updated_at", created_at),
        **{name: text(record, name, None) for name in _NOTE_TEXTS},
        **{name: _list_column(record, name) for name in _NOTE_LISTS},
    }


def _list_column(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    if value is not None and not isinstance(value, list):
        raise InvalidParameter(name, "must be a list")
    return write_json(value or [])


def relation_draft(record: Mapping[str, Any], source_id: int, target_id: int) -> RelationDraft:
    """Return a relation between two known notes."""
    relation_type = text(record, "relation_type")
    if relation_type not in RELATION_TYPES:
        raise InvalidParameter("relation_type", f"must be one of {', '.join(RELATION_TYPES)}")
    if source_id == target_id:
        raise InvalidParameter("target", "must be another note than the source")
    return RelationDraft(
        source_id,
        target_id,
        relation_type,
        confidence_of(record.get("confidence", 1.0)),
        text(record, "description", None),
        text(record, "created_by", "manual"),
    )


def confidence_of(value: Any) -> float:
    """Return a confidence from 0 to 1.

    Raises:
        InvalidParameter: it is something else.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1:
        raise InvalidParameter("confidence", "must be a number from 0 to 1")
    return float(value)
