"""What rankers are: a run takes a question, yields needs, is sent evidence, returns a ranking.

Owns the vocabulary between rankers and the pipeline that meets their needs.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Protocol

from app.domain.evidence import NoteCard


@dataclass(frozen=True, slots=True)
class Question:
    """What a ranker is asked.

    ``size`` counts the chunks that the request may find; ``border`` is the space's (search.md,
    stage 3); ``cut`` says whether what lies below the border of relevance is left out.
    """

    query: str
    limit: int
    size: int
    border: float
    cut: bool = True


@dataclass(frozen=True, slots=True)
class NearestChunks:
    """A need: the best ``limit`` chunks by cosine, then id; met by ``list[Candidate]``."""

    limit: int


@dataclass(frozen=True, slots=True)
class ChunkRows:
    """A need: the rows of chunks; met by ``Mapping[int, ChunkRow]`` without those missing."""

    chunk_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EdgesOf:
    """A need: the relations that touch notes, by relation id; met by ``tuple[Edge, ...]``."""

    note_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LexicalHits:
    """A need: the best ``limit`` notes by words, by score, then id; met by ``list[LexicalHit]``."""

    limit: int


@dataclass(frozen=True, slots=True)
class NoteCards:
    """A need: what is known of notes; met by ``Mapping[int, NoteFacts]`` without those missing."""

    note_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RecentOpens:
    """A need: the last ``limit`` opened notes, each once, latest first; met by ``list[int]``."""

    limit: int


@dataclass(frozen=True, slots=True)
class NearestNotes:
    """A need: the notes of the nearest vectors of a kind; met by ``list[int]``, best first."""

    kind: str
    limit: int


@dataclass(frozen=True, slots=True)
class NoteCosines:
    """A need: the cosines of notes' vectors of a kind.

    Met by ``Mapping[int, Mapping[int, float]]``: by note id, then by the vector's number in its
    note; notes without such vectors are absent.
    """

    kind: str
    note_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """A need: how much of the query notes hold, by IDF; met by ``Mapping[int, float]``, 0 to 1."""

    note_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Together:
    """Several needs that may be met side by side; met by a list, one answer a need."""

    needs: tuple[NearestChunks | NearestNotes | LexicalHits, ...]


Need = (
    NearestChunks
    | ChunkRows
    | EdgesOf
    | LexicalHits
    | NoteCards
    | RecentOpens
    | NearestNotes
    | NoteCosines
    | Coverage
    | Together
)


@dataclass(frozen=True, slots=True)
class Hit:
    """One note of an answer; ``score`` is not rounded unless the hit came by a relation."""

    note: NoteCard
    score: float
    via_relation: str | None = None


class Record(Protocol):
    """What a run did, kept by the run itself; explanations are read from it, never recomputed."""

    def explain(self) -> dict[str, Any]:
        """Return the whole record as JSON values."""
        ...

    def verdict(self, note_id: int, best_rank: int | None) -> Verdict:
        """Say what became of a note; ``best_rank`` is its best chunk's rank among all."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """The stage and rule that decided about a note, and a sentence with the numbers."""

    stage: str
    rule: str
    message: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """The direct hits of a run, best first, and its record."""

    hits: tuple[Hit, ...]
    record: Record


RankingRun = Generator[Need, Any, Ranking]
