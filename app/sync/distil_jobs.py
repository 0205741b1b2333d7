"""What is to be done with one conversation: nothing, leave it out, or make its note.

Owns that decision, and the columns of what comes of it. Pure but for the key of a project, which
is read off its folder.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from app.db.columns import now, write_json
from app.distill.gate import Judgement, judge
from app.distill.note import Distilled
from app.distill.reading import Reading, read
from app.distill.turns import Transcript, turns_of
from app.domain.conversations import Message
from app.domain.distilling import DROP, FILTERED, KEEP, SUMMARIZED, Standing
from app.domain.notes import Note, NoteDraft
from app.importers.projects import project_key
from app.text import digest

LONGEST_NAME = 300
"""Characters of a tool's own name for a session."""

RULES = "1"
"""Counts up when the rules change, so that what was distilled by old ones is not taken as done."""

_AGENTS = {"claude-code": "claude", "codex": "codex", "cursor": "cursor", "copilot": "copilot",
           "trae": "trae"}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A conversation with its note, read and judged."""

    standing: Standing
    before: Note | None
    reading: Reading
    judgement: Judgement
    digest: str

    @property
    def makes_a_note(self) -> bool:
        """Tell whether a note is to be written: the gate passed it, a person did, or it has one."""
        is_wanted = self.standing.override == KEEP or self.before is not None
        return self.judgement.accepted or is_wanted


def is_settled(standing: Standing, before: Note | None, found: str) -> bool:
    """Tell whether a conversation is as it was when it was last distilled."""
    if standing.override == DROP or (before is not None and before.is_edited):
        return True
    is_done = before is not None or (standing.override is None and standing.status == FILTERED)
    return is_done and standing.digest == found


def digest_of(standing: Standing, messages: Sequence[Message], model: str) -> str:
    """Return what tells whether a conversation has grown since it was distilled, and by whom.

    Args:
        model: Name of the language model, an empty text offline.
    """
    parts = [RULES, model, standing.slug or ""]
    for message in messages:
        used = json.dumps([asdict(use) for use in message.tools]) if message.tools else ""
        parts += [message.type, message.content, used]
    return digest(*parts)


def job_of(standing: Standing, before: Note | None, messages: Sequence[Message], found: str) -> Job:
    """Read and judge a conversation."""
    folder = standing.cwd or standing.project_dir
    name = (standing.slug or "")[:LONGEST_NAME]
    reading = read(Transcript(name, folder, turns_of(messages)))
    return Job(standing, before, reading, judge(reading), found)


def draft_of(job: Job, distilled: Distilled) -> NoteDraft:
    """Return a note as a draft, whose text is to be embedded."""
    return NoteDraft(
        title=distilled.title,
        summary=distilled.summary,
        key_conclusions=distilled.key_conclusions,
        code_snippets=distilled.code_snippets,
        tags=distilled.tags,
        conversation_id=job.standing.id,
        raw_llm_response=distilled.raw_response,
        source_type="imported-conversation",
        body=job.before.body if job.before else None,
        error_signatures=distilled.error_signatures,
        files_touched=distilled.files_touched,
    )


def note_columns(job: Job, distilled: Distilled) -> dict[str, Any]:
    """Return the columns of a note that distilling writes; of a new one, all that it needs."""
    standing = job.standing
    columns: dict[str, Any] = {
        "title": distilled.title,
        "summary": distilled.summary,
        "key_conclusions": write_json(distilled.key_conclusions),
        "code_snippets": write_json([asdict(snippet) for snippet in distilled.code_snippets]),
        "raw_llm_response": distilled.raw_response,
        "error_signatures": write_json(distilled.error_signatures),
        "files_touched": write_json(distilled.files_touched),
        "task_kind": distilled.task_kind,
        "outcome_type": distilled.outcome_type,
        "project_key": project_key(standing.project_dir or None, standing.cwd),
        "source_agent": _AGENTS.get(standing.source, "unknown"),
    }
    if job.before is None:
        columns |= {
            "conversation_id": standing.id,
            "created_at": _stored_time(standing.last_message_at),
            "scope": "project",
            "source_type": "imported-conversation",
        }
    return columns


def settled_columns(job: Job) -> dict[str, Any]:
    """Return the columns of a conversation after it was distilled or left out."""
    judgement = job.judgement
    is_kept = job.makes_a_note
    return {
        "status": SUMMARIZED if is_kept else FILTERED,
        "experience_score": float(judgement.score),
        "experience_gate_reason": judgement.reason,
        "experience_gate_details": write_json(judgement.details()),
        "distilled_digest": job.digest,
    }


def _stored_time(moment: str) -> str:
    """Return a tool's time in the form of the table, now if it cannot be read."""
    try:
        found = datetime.fromisoformat(moment)
    except ValueError:
        return now()
    if found.tzinfo is not None:
        found = found.astimezone(UTC)
    return found.strftime("%Y-%m-%d %H:%M:%S")
