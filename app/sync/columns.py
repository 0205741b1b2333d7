"""How drafts and patches become columns.

Owns the mapping between what callers write and what tables hold. Pure; must not run statements.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from app.db.columns import now, write_json
from app.domain.notes import Note, NoteDraft, NotePatch, Origin
from app.markdown.names import slug

OWN_SOURCE = "manual"


def note_columns(draft: NoteDraft, status: str) -> dict[str, Any]:
    """Return the columns of a new note, its conversation excepted."""
    moment = now()
    return {
        "title": draft.title,
        "summary": draft.summary,
        "body": draft.body,
        "key_conclusions": write_json(draft.key_conclusions),
        "code_snippets": write_json([asdict(snippet) for snippet in draft.code_snippets]),
        "aliases": write_json(draft.aliases),
        "raw_llm_response": draft.raw_llm_response,
        "embedding_status": status,
        "scope": draft.scope,
        "source_type": draft.source_type,
        "source_agent": draft.source_agent,
        "task_kind": draft.task_kind,
        "outcome_type": draft.outcome_type,
        "error_signatures": write_json(draft.error_signatures),
        "files_touched": write_json(draft.files_touched),
        "path": draft.path,
        "slug": slug(draft.path) if draft.path else None,
        "external_id": draft.external_id,
        "created_at": draft.created_at or moment,
        "updated_at": draft.updated_at or draft.created_at or moment,
    }


def own_conversation(origin: Origin, draft: NoteDraft) -> dict[str, Any]:
    """Return the columns of the conversation that a note made by hand has of its own."""
    moment = now()
    return {
        "id": origin.conversation_id,
        "source": origin.source,
        "project_dir": origin.project_dir,
        "project_name": origin.project_name,
        "message_count": 0,
        "first_message_at": draft.created_at or moment,
        "last_message_at": draft.created_at or moment,
        "file_path": "",
        "status": "summarized",
        "created_at": moment,
        "updated_at": moment,
    }


def edited(note: Note, patch: NotePatch, tags: tuple[str, ...]) -> Note:
    """Return a note as it will read after a patch, with tags in the order of their ids."""
    changes = dict(patch.changes)
    project = changes.pop("project", note.project_name)
    if "code_snippets" in changes:
        changes["code_snippets"] = [asdict(snippet) for snippet in changes["code_snippets"]]
    changes["tags"] = tags
    return replace(note, **changes, project_name=project)
