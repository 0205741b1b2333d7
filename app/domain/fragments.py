"""Fragments of the notes' graph, and the relations that join them.

Owns their names. A fragment without a note, an entity, carries relevance and is never found itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

ROOT = "root"
CHUNK = "chunk"
ENTITY = "entity"
FRAGMENT_KINDS = (ROOT, CHUNK, ENTITY)
"""In the order in which fragments of different kinds stand."""

CONTAINS = "contains"
DERIVES = "derives"
MENTIONS = "mentions"
LINKS_TO = "links-to"
TRANSCRIBES = "transcribes"

TAG = "tag"
FILE = "file"
ERROR = "error"
ENTITY_KINDS = (TAG, FILE, ERROR)

LEAST_CONFIDENCE = 0.5
"""A typed relation that is less sure is left out."""

Id = TypeVar("Id")


class Fragment(NamedTuple):
    """A part of the graph: ``kind`` is a place in ``FRAGMENT_KINDS``.

    ``id`` is that of the note for a root, of the chunk row or of the entity for the others.
    """

    kind: int
    id: int

    @property
    def name(self) -> str:
        """The name of its kind."""
        return FRAGMENT_KINDS[self.kind]


def root(note_id: int) -> Fragment:
    """Return the root of a note."""
    return Fragment(0, note_id)


def chunk(chunk_id: int) -> Fragment:
    """Return the fragment of a chunk row."""
    return Fragment(1, chunk_id)


def entity(entity_id: int) -> Fragment:
    """Return the fragment of an entity."""
    return Fragment(2, entity_id)


class FragmentRelation(NamedTuple, Generic[Id]):
    """A relation between two fragments; ``share`` is the part of its kind's weight that counts."""

    source: Id
    kind: str
    target: Id
    share: float = 1.0


class FragmentHit(NamedTuple):
    """A fragment that a query found; ``value`` is the cosine, or the score by words."""

    fragment: Fragment
    note_id: int | None
    value: float


@dataclass(frozen=True, slots=True)
class SliceLimits:
    """How far a slice of the graph reaches around its seeds, and how much it may hold."""

    hops: int
    relations: int
    entity_degree: int


@dataclass(frozen=True, slots=True)
class GraphSlice:
    """Relations near some seeds, nearest first, and the note of each root and chunk in them."""

    relations: tuple[FragmentRelation[Fragment], ...] = ()
    note_of: Mapping[Fragment, int] = field(default_factory=dict)


BODY = "body"
TEXT = "text"


class FragmentText(NamedTuple):
    """What is shown of a root or chunk: the part of it that fits the query, and where it stands.

    ``start`` and ``end`` are those of the whole fragment. They count code points of the note's
    body (``part`` body) or of its text (``part`` text: title, summary, conclusions and so on,
    parted by blank lines), None where it does not stand there as it is.
    """

    preview: str
    heading_path: str | None
    part: str
    start: int | None
    end: int | None


class SourceCard(NamedTuple):
    """A note that may be found, with what tells its replicas apart from other notes."""

    note_id: int
    title: str
    status: str
    conversation_id: str | None
    content_digest: str | None


@dataclass(frozen=True, slots=True)
class Entity:
    """A tag, file touched or error signature that notes mention."""

    id: int
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class FragmentName:
    """Which fragment is meant: that of a note, maybe one of its chunks, or an entity.

    ``entity`` names the kind and the name of an entity.
    """

    fragment: str
    note_id: int | None = None
    chunk_id: int | None = None
    entity: Entity | None = None


@dataclass(frozen=True, slots=True)
class NoteFragment:
    """A root or chunk of a note with its whole text."""

    fragment: str
    chunk_id: int | None
    text: str
    heading_path: str | None
    extent: tuple[int, int] | None
    extent_of: str


@dataclass(frozen=True, slots=True)
class NamedRelation:
    """A relation of a note's fragments; ``weight`` is that of its kind times its share."""

    type: str
    source: FragmentName
    target: FragmentName
    weight: float


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A note that relevance flows to from another one, and what it shares with it.

    ``score`` is a share of that of the best neighbour; ``relations`` are the types that join the
    two directly, ``entities`` what both mention.
    """

    note_id: int
    title: str
    score: float
    relations: tuple[str, ...]
    entities: tuple[Entity, ...]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The fragments of a note, their relations, and its neighbours, nearest first.

    ``text`` is what extents in the text count in.
    """

    note_id: int
    title: str
    text: str
    fragments: tuple[NoteFragment, ...]
    relations: tuple[NamedRelation, ...]
    neighbours: tuple[Neighbour, ...]
