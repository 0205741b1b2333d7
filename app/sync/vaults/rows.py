"""How a file becomes the columns of a note and of the conversation that it has of its own.

Owns which times, titles and names of projects are taken. Pure.
"""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime
from typing import Any

from app.db.columns import now, write_json
from app.domain.conversations import MARKDOWN_SOURCE
from app.domain.notes import STATUS_PENDING
from app.domain.vaults import FoundFile, VaultNote
from app.markdown.names import slug
from app.sync.vaults.comparison import SETTLED_NANOSECONDS, Read

SOURCE_TYPE = "markdown"
CONVERSATION_PREFIX = "note:"


def conversation(read: Read, note: VaultNote, folder: str, vault: str) -> dict[str, Any]:
    """Return the columns of a new note's own conversation."""
    moment = now()
    return {
        "id": f"{CONVERSATION_PREFIX}{uuid.uuid4()}",
        "source": MARKDOWN_SOURCE,
        "project_dir": folder,
        "project_name": note.project or vault,
        "message_count": 0,
        "first_message_at": note.created_at or _time_of(read.file),
        "last_message_at": note.updated_at or _time_of(read.file),
        "file_path": f"{folder}/{read.file.path}",
        "file_size": read.file.size,
        "file_mtime": modified(read.file),
        "status": "summarized",
        "created_at": moment,
        "updated_at": moment,
    }


def new_note(read: Read, note: VaultNote, conversation_id: str) -> dict[str, Any]:
    """Return the columns of a new note."""
    return {
        "conversation_id": conversation_id,
        "embedding_status": STATUS_PENDING,
        "source_type": SOURCE_TYPE,
        "key_conclusions": write_json([]),
        "code_snippets": write_json([]),
        "error_signatures": write_json([]),
        "files_touched": write_json([]),
        "created_at": note.created_at or _time_of(read.file),
        **_text_columns(read, note),
        **place_columns(read.file),
    }


def changed_note(read: Read, note: VaultNote) -> dict[str, Any]:
    """Return the columns of a note whose file changed; it was created when it was."""
    created = {"created_at": note.created_at} if note.created_at else {}
    return {**_text_columns(read, note), **created, "is_edited": 0}


def place_columns(file: FoundFile) -> dict[str, Any]:
    """Return the columns that say where a note lies."""
    return {"path": file.path, "slug": slug(file.path)}


def _text_columns(read: Read, note: VaultNote) -> dict[str, Any]:
    return {
        "title": note.title,
        "summary": note.summary,
        "body": note.body,
        "aliases": write_json(note.aliases),
        "content_digest": read.digest,
        "updated_at": note.updated_at or _time_of(read.file),
    }


def modified(file: FoundFile) -> str:
    """Return a file's time of change, nothing when it may yet change within the same time."""
    is_settled = time.time_ns() - file.modified > SETTLED_NANOSECONDS
    return str(file.modified) if is_settled else ""


def _time_of(file: FoundFile) -> str:
    try:
        moment = datetime.fromtimestamp(file.modified / 1e9, UTC)
    except (OverflowError, ValueError, OSError):
        return now()
    return moment.strftime("%Y-%m-%d %H:%M:%S") if moment.year >= 1000 else now()
