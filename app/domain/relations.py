"""Typed relations between two notes."""

from __future__ import annotations

from dataclasses import dataclass

RELATION_TYPES = (
    "CAUSED_BY",
    "LEADS_TO",
    "RESOLVED_BY",
    "SIMILAR_TO",
    "CONTRADICTS",
    "DEPENDS_ON",
    "EXTENDS",
    "REFERENCES",
)


@dataclass(frozen=True, slots=True)
class Relation:
    """A directed relation with the titles of both ends."""

    id: int
    source_note_id: int
    target_note_id: int
    relation_type: str
    confidence: float | None
    description: str | None
    created_by: str
    created_at: str
    source_title: str
    target_title: str


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A note as the picture of all relations shows it."""

    id: int
    title: str
    project_name: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A relation between two nodes; one without a confidence has 0."""

    source: int
    target: int
    type: str
    confidence: float


@dataclass(frozen=True, slots=True)
class RelationGraph:
    """Notes and the relations among them, each by id."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


@dataclass(frozen=True, slots=True)
class RelationDraft:
    """A relation to be made."""

    source_note_id: int
    target_note_id: int
    relation_type: str
    confidence: float | None = 1.0
    description: str | None = None
    created_by: str = "manual"
