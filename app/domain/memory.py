"""What agents write back of their tasks, and what is recalled for a task; the original's names."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.notes import Snippet

MODES_OF_RECALL = ("task", "debug")
MODES_OF_WRITING = ("auto", "manual")
SCOPES = ("project", "global")
AGENTS = ("codex", "claude", "copilot", "cursor", "trae", "unknown")
TASK_KINDS = (
    "debug",
    "implement",
    "refactor",
    "migration",
    "config",
    "investigate",
    "optimization",
)
OUTCOME_TYPES = ("pitfall", "fix", "pattern", "decision")

CREATED = "created"
MERGED = "merged"
SKIPPED = "skipped"

MANUAL_NOTE = "manual-note"
"""Source type of a memory that a person asked for; those of agents are ``agent-writeback``."""


@dataclass(frozen=True, slots=True)
class TaskContext:
    """What an agent is at."""

    goal: str
    task_kind: str
    project_key: str | None = None
    project_dir: str | None = None
    cwd: str | None = None
    branch: str | None = None
    related_files: tuple[str, ...] = ()
    files_touched: tuple[str, ...] = ()
    error_signatures: tuple[str, ...] = ()
    source_agent: str = "unknown"


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What is to be recalled for a task."""

    mode: str
    task: TaskContext
    project_limit: int = 5
    global_limit: int = 3
    include_relations: bool = True


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """A note as a memory."""

    note_id: int
    title: str
    summary: str
    outcome_type: str | None
    pitfalls: tuple[str, ...]
    reusable_patterns: tuple[str, ...]
    related_note_ids: tuple[int, ...]
    score: float
    why_relevant: str


@dataclass(frozen=True, slots=True)
class Recall:
    """What was recalled; ``reason`` is ok, no-project-key or no-matches."""

    mode: str
    project_key: str | None
    reason: str
    warnings: tuple[str, ...]
    project_memories: tuple[MemoryItem, ...]
    global_memories: tuple[MemoryItem, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """What was learned from a task."""

    summary: str
    outcome_type: str
    title: str | None = None
    pitfalls: tuple[str, ...] = ()
    root_cause: str | None = None
    resolution: str | None = None
    reusable_patterns: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    key_conclusions: tuple[str, ...] = ()
    code_snippets: tuple[Snippet, ...] = ()
    files_touched: tuple[str, ...] = ()
    error_signatures: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Writeback:
    """A memory to be stored; ``source_run_key`` tells a repetition from a new one."""

    mode: str
    task: TaskContext
    memory: Memory
    scope: str = "project"
    source_run_key: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a memory."""

    mode: str
    decision: str
    note_id: int | None
    merged_into_note_id: int | None
    reason: str
    warnings: tuple[str, ...] = ()
