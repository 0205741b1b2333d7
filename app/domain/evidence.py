"""What a ranker is given to judge by: candidates, chunk rows, hits by words, facts, edges.

Named tuples where a search makes hundreds of them: they are made four times as fast as frozen
dataclasses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from app.domain.notes import STATUS_DONE


class Candidate(NamedTuple):
    """A chunk that the index found, with its cosine to the query."""

    chunk_id: int
    cosine: float


@dataclass(frozen=True, slots=True)
class Standing:
    """A chunk's place among all that a request may find: how many chunks are better, plus one."""

    chunk_id: int
    cosine: float
    rank: int


class NoteCard(NamedTuple):
    """What an answer says of a note, and what decides whether it may be found."""

    note_id: int
    title: str
    status: str
    conversation_id: str | None

    @property
    def ineligible_because(self) -> str | None:
        """Say why the note may not be found, None when it may."""
        if self.conversation_id is None:
            return "conversation deleted"
        if self.status != STATUS_DONE:
            return f"status {self.status}"
        return None


class ChunkRow(NamedTuple):
    """A chunk's row in the database; ``folded`` is title, newline and chunk text, folded."""

    chunk_id: int
    chunk_index: int
    note: NoteCard
    folded: str


class LexicalHit(NamedTuple):
    """A note found by words: the better of its two passes, and the terms that were found.

    ``identity`` and ``content`` are the BM25 scores of the two passes, 0 where nothing matched;
    ``score`` is the greater of them.
    """

    note_id: int
    score: float
    identity: float
    content: float
    matched: tuple[str, ...]


class NoteFacts(NamedTuple):
    """A note's card, the other names that it goes by, and whether it has a Markdown body."""

    card: NoteCard
    aliases: tuple[str, ...]
    has_body: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """A typed relation with both of its ends."""

    relation_id: int
    relation_type: str
    confidence: float | None
    source: NoteCard
    target: NoteCard
