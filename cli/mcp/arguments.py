"""Arguments of the tools: their types, and the sentences that agents read about them.

Owns the schemas that clients are shown. The names that the original has are the original's.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Query = Annotated[str, Field(description="What to search for, in English or Chinese.")]
Limit = Annotated[int, Field(ge=0, description="How many notes to return; never more than 50.")]
NoteReference = Annotated[
    int | str,
    Field(description="Id of the note, or its path, title or slug."),
]
Ranker = Annotated[
    str | None,
    Field(description="How to rank: hybrid by default; also chatcrystal, fusion, finder, vector."),
]
Project = Annotated[str | None, Field(description="Only notes of this project.")]
Tag = Annotated[str | None, Field(description="Only notes with exactly this tag.")]
Page = Annotated[int, Field(ge=1, description="Page to show, from 1; a page has 20 notes.")]
Keyword = Annotated[
    str | None, Field(description="Text that the title or summary must hold; no meaning.")
]
Texts = Annotated[list[str] | None, Field(description="Several texts.")]

TaskKind = Literal[
    "debug", "implement", "refactor", "migration", "config", "investigate", "optimization"
]
SourceAgent = Literal["codex", "claude", "copilot", "cursor", "trae", "unknown"]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Task(_Arguments):
    """What the agent is working on."""

    goal: str = Field(min_length=1, description="The task in plain words.")
    task_kind: TaskKind = Field(description="Kind of work; debug for failures.")
    project_key: str | None = Field(None, description="Stable name of the project.")
    project_dir: str | None = Field(None, description="Folder of the project.")
    cwd: str | None = Field(None, description="Folder that the agent works in.")
    branch: str | None = Field(None, description="Branch that is checked out.")
    files_touched: list[str] | None = Field(None, description="Files that are changed.")
    error_signatures: list[str] | None = Field(None, description="Errors as they were printed.")
    source_agent: SourceAgent = Field("unknown", description="The agent that calls.")


class RecalledTask(Task):
    """A task that memories are wanted for."""

    related_files: list[str] | None = Field(None, description="Files that matter, not changed.")


class RecallOptions(_Arguments):
    """How much to recall."""

    project_limit: int = Field(5, ge=0, description="Memories of the project, at most.")
    global_limit: int = Field(3, ge=0, description="Memories of other projects, at most.")
    include_relations: bool = Field(True, description="Whether to add related notes.")


class Snippet(_Arguments):
    """A piece of code."""

    language: str
    code: str
    description: str


class Memory(_Arguments):
    """What was learned."""

    title: str | None = Field(None, description="Title that says the lesson.")
    summary: str = Field(min_length=1, description="What was learned, readable months later.")
    outcome_type: Literal["pitfall", "fix", "pattern", "decision"]
    pitfalls: list[str] | None = None
    root_cause: str | None = None
    resolution: str | None = None
    reusable_patterns: list[str] | None = None
    decisions: list[str] | None = None
    key_conclusions: list[str] | None = None
    code_snippets: list[Snippet] | None = None
    files_touched: list[str] | None = None
    error_signatures: list[str] | None = None
    tags: list[str] | None = None
