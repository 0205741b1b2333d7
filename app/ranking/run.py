"""What rankers are: a run takes a question, yields needs, is sent evidence, returns a ranking.

Owns the vocabulary between rankers and the pipeline that meets their needs.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.domain.evidence import NoteCard
from app.domain.fragments import Fragment


@dataclass(frozen=True, slots=True)
class Question:
    """What a ranker is asked.

    ``size`` counts the chunks that the request may find; ``border`` is the space's (search.md,
    stage 3); ``cut`` says whether what lies below the border of relevance is left out.
    ``second_border`` is the second space's, None when a ranker cannot ask for its vectors.
    ``topics`` are all queries, for rankers that take several. ``options`` are those of ``finder``
    by name, and ``seeds`` the one list that it is to take its seeds from, None for both.
    """

    query: str
    limit: int
    size: int
    border: float
    cut: bool = True
    second_border: float | None = None
    topics: tuple[str, ...] = ()
    per_note: int = 3
    options: Mapping[str, float] = field(default_factory=dict)
    seeds: str | None = None


@dataclass(frozen=True, slots=True)
class NearestChunks:
    """A need: the best ``limit`` chunks by cosine, then id; met by ``Sequence[Candidate]``.

    ``topic`` is the place of the query that is meant, where there are several.
    """

    limit: int
    topic: int = 0


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
    """A need: the best ``limit`` notes by words, by score, then id; met by ``list[LexicalHit]``.

    ``topic`` is the place of the query that is meant, where there are several.
    """

    limit: int
    topic: int = 0


@dataclass(frozen=True, slots=True)
class NearestFragments:
    """A need: the nearest ``limit`` roots, chunks and entities; met by ``list[FragmentHit]``."""

    limit: int


@dataclass(frozen=True, slots=True)
class WordedFragments:
    """A need: the best ``limit`` fragments by words; met by ``list[FragmentHit]``."""

    limit: int


@dataclass(frozen=True, slots=True)
class RelationsOf:
    """A need: relations that touch fragments, or join two of them; met by ``GraphSlice``.

    Of each kind at most ``limit`` come, the first by source, then target. Of an entity's roots
    and chunks that are not among the fragments, at most ``entity_degree`` come each.
    """

    fragments: tuple[Fragment, ...]
    limit: int
    entity_degree: int
    is_inner: bool


@dataclass(frozen=True, slots=True)
class SourceCards:
    """A need: what is known of notes that pass the filters; met by ``Mapping[int, SourceCard]``."""

    note_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FragmentTexts:
    """A need: the texts of roots and chunks; met by ``Mapping[Fragment, FragmentText]``."""

    fragments: tuple[Fragment, ...]


@dataclass(frozen=True, slots=True)
class EntityNames:
    """A need: what entities are called; met by ``Mapping[int, Entity]`` without those missing."""

    entity_ids: tuple[int, ...]


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
    """A need: the notes of the nearest vectors of a kind; met by ``list[int]``, best first.

    Here and below, the ``SECOND_PARTS`` are kinds too: those of the second space.
    """

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
class Likeness:
    """A need: the cosines of notes' vectors of a kind, one a note, to that of one of them.

    Met by ``Mapping[int, float]`` by note id; empty when that one has none.
    """

    kind: str
    to_note_id: int
    note_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """A need: how much of the query notes hold, by IDF; met by ``Mapping[int, float]``, 0 to 1."""

    note_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Headings:
    """A need: under which headings chunks stand; met by ``Mapping[int, str | None]``."""

    chunk_ids: tuple[int, ...]


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
    | Likeness
    | Coverage
    | Headings
    | Together
    | NearestFragments
    | WordedFragments
    | RelationsOf
    | SourceCards
    | FragmentTexts
    | EntityNames
)


@dataclass(frozen=True, slots=True)
class Hit:
    """One note of an answer; ``score`` is not rounded unless the hit came by a relation.

    ``extra`` is what a ranker says of the note beside, as JSON values.
    """

    note: NoteCard
    score: float
    via_relation: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


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
