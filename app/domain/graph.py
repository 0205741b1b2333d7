"""Notes as a graph sees them, and what joins them: typed relations and links in one view."""

from __future__ import annotations

from dataclasses import dataclass

ORIGIN_RELATION = "relation"
ORIGIN_LINK = "link"

LINK_CONFIDENCE = 1.0
"""A link was written by someone: it is as sure as can be."""

TYPE_LINK = "LINK"
TYPE_TAG = "TAG"
"""Types of edges in the picture of all notes that are no typed relations."""


@dataclass(frozen=True, slots=True)
class NoteStub:
    """What an answer says of a note beside numbers."""

    id: int
    title: str
    project_name: str
    path: str | None


@dataclass(frozen=True, slots=True, order=True)
class NoteEdge:
    """A relation or link; ``kind`` is its type, such as CAUSED_BY, or how the link is written.

    A relation without a confidence has 0.
    """

    source_note_id: int
    target_note_id: int
    origin: str
    kind: str
    confidence: float

    @property
    def pair(self) -> tuple[int, int]:
        """Source and target."""
        return self.source_note_id, self.target_note_id


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A link that no note answers to: the note it stands in, and the name that it gives."""

    note_id: int
    name: str


@dataclass(frozen=True, slots=True)
class ConnectedNote:
    """A note that the seed is joined to, and the edges by which it was reached."""

    note: NoteStub
    hops: int
    edges: tuple[NoteEdge, ...]


@dataclass(frozen=True, slots=True)
class Connections:
    """Who is reached from a note, ``total`` of them, and the names that links on the way miss."""

    found: tuple[ConnectedNote, ...]
    total: int
    unresolved: tuple[Unresolved, ...]


@dataclass(frozen=True, slots=True)
class Backlink:
    """A note with an edge to the one asked about."""

    note: NoteStub
    edges: tuple[NoteEdge, ...]


@dataclass(frozen=True, slots=True)
class TagSharer:
    """A note that shares tags, by their names."""

    note: NoteStub
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SectionMatch:
    """A section of the note asked about, and how close the other note comes to it."""

    section: int
    heading_path: str | None
    score: float


@dataclass(frozen=True, slots=True)
class HiddenNote:
    """A note close in meaning; sections only where they were compared.

    ``matched_sections`` counts those with a positive match, ``shown`` holds those worth showing.
    """

    note: NoteStub
    score: float
    matched_sections: int | None = None
    shown: tuple[SectionMatch, ...] = ()


@dataclass(frozen=True, slots=True)
class BoostedNote:
    """A note found by meaning near another one; ``cosine`` is before the boost."""

    note: NoteStub
    score: float
    cosine: float
    is_linked: bool
    matched_queries: int


@dataclass(frozen=True, slots=True)
class TaggedNote:
    """A tag's name and a note that has it."""

    note: NoteStub
    tag: str
