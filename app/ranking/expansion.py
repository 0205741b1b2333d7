"""Stage 9, expansion: notes one relation away from the direct hits, for any ranker.

Owns which relations are followed and what they make of a score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.domain.evidence import Edge, NoteCard
from app.ranking.run import Hit, Verdict
from app.text import round_half_up

LEAST_CONFIDENCE = 0.5
RELATION_FACTOR = 0.7


@dataclass(frozen=True, slots=True)
class Look:
    """One relation looked at: followed with a score, or skipped for a reason."""

    relation_id: int
    relation_type: str
    confidence: float | None
    from_note_id: int
    to_note_id: int
    score: float | None
    skipped: str | None


@dataclass(frozen=True, slots=True)
class Expansion:
    """All hits in their final order, and every relation that was looked at."""

    hits: tuple[Hit, ...]
    looks: tuple[Look, ...]

    def looks_at(self, note_id: int) -> tuple[Look, ...]:
        """Return the relations that lead to a note."""
        return tuple(look for look in self.looks if look.to_note_id == note_id)

    def verdict(self, note_id: int) -> Verdict:
        """Say by which relation a note came into the answer."""
        look = next(each for each in self.looks_at(note_id) if each.skipped is None)
        return Verdict(
            "expansion",
            "followed",
            f"{look.relation_type} joins it to note {look.from_note_id} with confidence "
            f"{look.confidence:g}: that note's score × {RELATION_FACTOR} × {look.confidence:g} "
            f"= {look.score:.3f}",
        )


def expand(direct: Sequence[Hit], edges: Sequence[Edge]) -> Expansion:
    """Add the notes that the edges (by relation id) join to direct hits, one hop only.

    The first edge to a note wins, not the strongest. Added notes are not bounded by the limit.
    """
    present = {hit.note.note_id for hit in direct}
    added: list[Hit] = []
    looks: list[Look] = []
    for hit in direct:
        for edge, other in _edges_from(hit.note.note_id, edges):
            skipped = _why_skipped(edge, other, present)
            score = None
            if skipped is None:
                score = round_half_up(hit.score * RELATION_FACTOR * (edge.confidence or 0.0))
                added.append(Hit(other, score, edge.relation_type))
                present.add(other.note_id)
            looks.append(_look(edge, hit.note.note_id, other.note_id, score, skipped))
    hits = sorted([*direct, *added], key=lambda hit: -hit.score)
    return Expansion(tuple(hits), tuple(looks))


def _edges_from(note_id: int, edges: Sequence[Edge]) -> Iterator[tuple[Edge, NoteCard]]:
    """Yield outgoing edges, then incoming ones; a self relation is outgoing."""
    for edge in edges:
        if edge.source.note_id == note_id:
            yield edge, edge.target
    for edge in edges:
        if edge.target.note_id == note_id != edge.source.note_id:
            yield edge, edge.source


def _why_skipped(edge: Edge, other: NoteCard, present: set[int]) -> str | None:
    if edge.confidence is None:
        return "no confidence"
    if edge.confidence < LEAST_CONFIDENCE:
        return f"confidence {edge.confidence:g} < {LEAST_CONFIDENCE}"
    if other.note_id in present:
        return "already in the answer"
    return other.ineligible_because


def _look(
    edge: Edge, from_note_id: int, to_note_id: int, score: float | None, skipped: str | None
) -> Look:
    return Look(
        edge.relation_id,
        edge.relation_type,
        edge.confidence,
        from_note_id,
        to_note_id,
        score,
        skipped,
    )
