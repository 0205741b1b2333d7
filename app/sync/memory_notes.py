"""How a memory reads as a note: its payload, its columns, the conversation of its own.

Owns the mapping. Pure.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from app.db.columns import now, read_json, read_texts, write_json
from app.distill.memories import conclusions_of, written
from app.domain.conversations import MEMORY_SOURCE
from app.domain.distilling import SUMMARIZED
from app.domain.memory import MANUAL_NOTE, Writeback
from app.domain.notes import AGENT_WRITEBACK, Note, NoteDraft, Snippet

EVIDENCE = "\n\nEvidence update:\n"
"""Between a summary and what a later memory of the same adds to it, as in the original."""


def payload(request: Writeback) -> dict[str, Any]:
    """Return what is kept of a memory as it was written, with what its task names beside."""
    files = dict.fromkeys((*request.memory.files_touched, *request.task.files_touched))
    errors = dict.fromkeys((*request.memory.error_signatures, *request.task.error_signatures))
    lists = {"files_touched": list(files), "error_signatures": list(errors)}
    named = {name: each for name, each in lists.items() if each}
    return {**written(request.memory), **named}


def columns(
    said: Mapping[str, Any], known: Note | None, request: Writeback, key: str | None
) -> dict[str, Any]:
    """Return the columns of a memory's note, or those of a known one that it changes."""
    memory = request.memory
    changed: dict[str, Any] = {
        "title": known.title if known else (memory.title or request.task.goal).strip(),
        "summary": _summary(known, memory.summary),
        "key_conclusions": write_json(conclusions_of(said)),
        "code_snippets": write_json(_snippets(known, memory.code_snippets)),
        "raw_llm_response": write_json(said),
        "error_signatures": write_json(said.get("error_signatures", [])),
        "files_touched": write_json(said.get("files_touched", [])),
    }
    if known is not None:
        return changed
    return {
        **changed,
        "project_key": key,
        "scope": request.scope,
        "source_type": AGENT_WRITEBACK if request.mode == "auto" else MANUAL_NOTE,
        "source_agent": request.task.source_agent,
        "task_kind": request.task.task_kind,
        "outcome_type": memory.outcome_type,
        "created_at": now(),
    }


def _summary(known: Note | None, summary: str) -> str:
    if known is None:
        return summary
    return known.summary if summary.strip() in known.summary else known.summary + EVIDENCE + summary


def _snippets(known: Note | None, fresh: Sequence[Snippet]) -> list[dict[str, Any]]:
    listed = known.code_snippets if known and isinstance(known.code_snippets, list) else []
    found = [each for each in listed if isinstance(each, dict)]
    return found + [asdict(each) for each in fresh if asdict(each) not in found]


def note_draft(stored: Mapping[str, Any], known: Note | None) -> NoteDraft:
    """Return the note of these columns as a draft, whose text is to be embedded."""
    return NoteDraft(
        title=stored["title"],
        summary=stored["summary"],
        key_conclusions=read_texts(stored["key_conclusions"]),
        code_snippets=tuple(
            Snippet(*(str(each.get(name, "")) for name in ("language", "code", "description")))
            for each in read_json(stored["code_snippets"])
        ),
        raw_llm_response=stored["raw_llm_response"],
        source_type=known.source_type if known else stored["source_type"],
        error_signatures=read_texts(stored["error_signatures"]),
        files_touched=read_texts(stored["files_touched"]),
        body=known.body if known else None,
    )


def origin(request: Writeback) -> dict[str, Any]:
    """Return the columns of the conversation that a memory has of its own."""
    task = request.task
    key = request.source_run_key
    name = f"{task.source_agent}:{key}" if key else str(uuid.uuid4())
    folder = (task.project_dir or task.cwd or "").replace("\\", "/").rstrip("/")
    moment = now()
    return {
        "id": f"memory:{name}",
        "source": MEMORY_SOURCE,
        "project_dir": task.project_dir or task.cwd or "",
        "project_name": folder.rpartition("/")[2] or "memory",
        "cwd": task.cwd,
        "git_branch": task.branch,
        "message_count": 0,
        "first_message_at": moment,
        "last_message_at": moment,
        "file_path": f"chatcrystal://memory/{name}",
        "status": SUMMARIZED,
        "created_at": moment,
        "updated_at": moment,
    }
