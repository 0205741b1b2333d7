"""Notes: what is stored, what a caller may write, what a list is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

AGENT_WRITEBACK = "agent-writeback"

STATUS_PENDING = "pending"
STATUS_DONE = "done"
STATUS_FAILED = "failed"

NO_TEXT = "the note has no text to embed"
"""Why a note can be ``failed`` through no fault of the provider."""

LIKE_COLUMNS = ("title", "summary", "conclusions", "tags", "body")
DEFAULT_LIKE_COLUMNS = ("title", "summary")


@dataclass(frozen=True, slots=True)
class Note:
    """One note with what its conversation and tags say of it.

    The JSON columns come parsed and unchecked in shape, as the original hands them out;
    a column that holds no JSON comes as an empty tuple. ``project_dir`` is None in lists.
    """

    id: int
    conversation_id: str
    title: str
    summary: str
    key_conclusions: Any
    code_snippets: Any
    raw_llm_response: str | None
    is_edited: bool
    embedding_status: str
    project_key: str | None
    scope: str
    source_type: str
    source_agent: str
    task_kind: str | None
    error_signatures: Any
    files_touched: Any
    outcome_type: str | None
    created_at: str
    updated_at: str | None
    source: str
    project_name: str
    project_dir: str
    tags: tuple[str, ...]
    body: str | None
    aliases: tuple[str, ...]
    path: str | None
    slug: str | None
    external_id: str | None
    embedding_error: str | None


@dataclass(frozen=True, slots=True)
class Origin:
    """The conversation of a note, as far as the note shows it."""

    conversation_id: str
    source: str
    project_name: str
    project_dir: str


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of code that a note keeps; only the description is embedded."""

    language: str
    code: str
    description: str


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """Everything a caller may say of a new note.

    Without ``conversation_id`` the note gets a conversation of its own.
    """

    title: str
    summary: str
    body: str | None = None
    key_conclusions: tuple[str, ...] = ()
    code_snippets: tuple[Snippet, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    project: str = ""
    conversation_id: str | None = None
    raw_llm_response: str | None = None
    source_type: str = "manual"
    source_agent: str = "unknown"
    scope: str = "project"
    task_kind: str | None = None
    outcome_type: str | None = None
    error_signatures: tuple[str, ...] = ()
    files_touched: tuple[str, ...] = ()
    path: str | None = None
    external_id: str | None = None
    created_at: str | None = None
    updated_at: str | None = None


@dataclass(frozen=True, slots=True)
class NotePatch:
    """The fields of a note to replace, by their draft names; absent ones stay."""

    changes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NoteFilters:
    """Which notes a question is about; every given one must hold.

    ``since`` and ``until`` are UTC, ``YYYY-MM-DD HH:MM:SS``, compared with ``created_at``.
    """

    projects: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    source: str | None = None
    source_kind: str | None = None
    path_prefix: str | None = None
    since: str | None = None
    until: str | None = None
    project_key: str | None = None
    scope: str | None = None

    @property
    def is_empty(self) -> bool:
        """Tell whether every note passes."""
        return self == NoteFilters()


@dataclass(frozen=True, slots=True)
class NoteQuery:
    """What a list of notes is asked for; ``pattern`` is LIKE text unless ``literal``."""

    filters: NoteFilters = field(default_factory=NoteFilters)
    pattern: str | None = None
    literal: bool = False
    columns: tuple[str, ...] = DEFAULT_LIKE_COLUMNS
    offset: int = 0
    limit: int = 50


@dataclass(frozen=True, slots=True)
class TagCount:
    """A tag and how many notes have it."""

    id: int
    name: str
    count: int
