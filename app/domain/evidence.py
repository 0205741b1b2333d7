"""What a ranker is given to judge by: candidates, chunk rows, edges between notes."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.notes import STATUS_DONE


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that the index found, with its cosine to the query."""

    chunk_id: int
    cosine: float


@dataclass(frozen=True, slots=True)
class Standing:
    """A chunk's place among all that a request may find: how many chunks are better, plus one."""

    chunk_id: int
    cosine: float
    rank: int


@dataclass(frozen=True, slots=True)
class NoteCard:
    """What an answer says of a note, and what decides whether it may be found."""

    note_id: int
    title: str
    status: str
    conversation_id: str | None
    project_name: str | None

    @property
    def ineligible_because(self) -> str | None:
        """Say why the note may not be found, None when it may."""
        if self.conversation_id is None:
            return "conversation deleted"
        if self.status != STATUS_DONE:
            return f"status {self.status}"
        return None


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk's row in the database; ``folded`` is title, newline and chunk text, folded."""

    chunk_id: int
    chunk_index: int
    note: NoteCard
    folded: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A typed relation with both of its ends."""

    relation_id: int
    relation_type: str
    confidence: float | None
    source: NoteCard
    target: NoteCard
