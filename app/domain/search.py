"""What a search is asked for and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.domain.notes import NoteFilters

EXTRA_FIELDS = ("summary", "path", "external_id", "created_at")


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A validated search.

    ``topics`` are the distinct queries, ``query`` among them, for rankers that take several;
    ``per_note`` is the most chunks that these show of a note. ``options`` override the settings of
    ``finder`` by name, ``seeds`` names the one list that it takes its seeds from.
    """

    query: str
    ranker: str
    limit: int = 10
    expand: bool = False
    explain: bool = False
    cut: bool = True
    filters: NoteFilters = field(default_factory=NoteFilters)
    fields: tuple[str, ...] = ()
    highlight: bool = False
    topics: tuple[str, ...] = ()
    per_note: int = 3
    options: Mapping[str, float] = field(default_factory=dict)
    seeds: str | None = None


@dataclass(frozen=True, slots=True)
class FoundNote:
    """One row of an answer; ``extra`` holds the fields that were asked for beside."""

    note_id: int
    conversation_id: str
    title: str
    project_name: str
    score: float
    tags: tuple[str, ...]
    via_relation: str | None
    extra: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """An answer with its warnings, the time of its stages and, when asked for, its explanation."""

    found: tuple[FoundNote, ...]
    warnings: tuple[str, ...] = ()
    explanation: dict[str, Any] | None = None
    milliseconds: Mapping[str, float] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class WhyAnswer:
    """Why a note stands where it stands, or is missing."""

    note_id: int
    title: str
    returned: bool
    place: int | None
    score: float | None
    via_relation: str | None
    stage: str
    rule: str
    message: str
    best_chunk: dict[str, Any] | None
    search: dict[str, Any]
    warnings: tuple[str, ...] = ()
