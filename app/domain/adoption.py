"""Taking over another program's data directory: what is asked for, and what it came to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

ADOPTED_KINDS = (
    "conversations",
    "messages",
    "tags",
    "notes",
    "note_tags",
    "relations",
    "chunks",
)
"""What is counted as added or unchanged; a chunk comes with its vector."""

NUMBERED_KINDS = ("tags", "notes", "relations")
"""What keeps its ids as long as the target never gave them to something else."""

LEFT_OUT_KINDS = (
    "notes_without_conversation",
    "messages_without_conversation",
    "tags_without_note",
    "chunks_without_note",
    "relations_without_note",
    "chunks_without_vector",
    "chunks_of_edited_notes",
    "vectors_without_chunk",
    "vectors_of_other_dimension",
    "vectors_of_no_direction",
    "vectors_of_unknown_model",
)

Progress = Callable[[str, int, int], None]
"""Called with the name of a stage, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True)
class AdoptionRequest:
    """Which directory to take over, and how.

    ``provider`` and ``model`` say who made its vectors, where the directory does not.
    ``configures`` makes that provider and model the configured ones afterwards.
    """

    folder: Path
    provider: str | None = None
    model: str | None = None
    configures: bool = False


@dataclass(frozen=True, slots=True)
class AdoptedSpace:
    """The space that the vectors were stored in.

    ``is_assumed`` says that nobody named provider and model, only the dimension agrees.
    """

    provider: str
    model: str
    dimension: int
    is_configured: bool
    is_assumed: bool


@dataclass(frozen=True, slots=True)
class InvalidColumn:
    """A column of a note, by its id in the source, that held no JSON and became a list of none."""

    note_id: int
    column: str


@dataclass(frozen=True, slots=True)
class AdoptionReport:
    """What taking a directory over came to; all counts by kind, zeros included.

    ``renumbered`` counts what got another id than in the source. ``statuses`` counts the new
    notes by the embedding status that they have now. ``space`` is None when no vector was
    stored.
    """

    folder: str
    is_dry_run: bool
    added: Mapping[str, int]
    unchanged: Mapping[str, int]
    left_out: Mapping[str, int]
    renumbered: Mapping[str, int]
    invalid_json: tuple[InvalidColumn, ...]
    statuses: Mapping[str, int]
    space: AdoptedSpace | None
    warnings: tuple[str, ...]
