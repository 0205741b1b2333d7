"""From the chunks of several queries to notes: a bridge between topics beats one strong match.

Owns the order of chunks and the grouping by note.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from app.ranking.notebrain.matches import Match
from app.ranking.notebrain.thresholds import is_kept


class TopicScore(NamedTuple):
    """A query, by its place, and a chunk's cosine to it."""

    topic: int
    score: float


class MergedChunk(NamedTuple):
    """A chunk with the queries that it matched, best first, then in the order asked."""

    note_id: int
    chunk: int
    matched: tuple[TopicScore, ...]
    is_kept: bool = True

    @property
    def score(self) -> float:
        """Its best cosine."""
        return self.matched[0].score


class ShownNote(NamedTuple):
    """A note with the chunks that are shown of it, in the order of all."""

    note_id: int
    chunks: tuple[MergedChunk, ...]

    @property
    def score(self) -> float:
        """The best among the shown chunks."""
        return max(chunk.score for chunk in self.chunks)

    @property
    def matched_queries(self) -> int:
        """The most queries that one shown chunk matched."""
        return max(len(chunk.matched) for chunk in self.chunks)


class Merged(NamedTuple):
    """All chunks in their order, and the notes that they make, uncut; ``best`` None for none."""

    best: float | None
    chunks: tuple[MergedChunk, ...]
    notes: tuple[ShownNote, ...]


def merge(topics: Sequence[Iterable[Match]], per_note: int, *, cuts: bool = True) -> Merged:
    """Merge the matches of each query; ``cuts`` tells whether the thresholds hold."""
    found: dict[tuple[int, int], list[TopicScore]] = {}
    for topic, matches in enumerate(topics):
        for match in matches:
            places = found.setdefault((match.note_id, match.chunk), [])
            places.append(TopicScore(topic, match.score))
    if not found:
        return Merged(None, (), ())
    best = max(each.score for matched in found.values() for each in matched)
    chunks = [
        MergedChunk(note_id, chunk, tuple(sorted(matched, key=_best_first)))
        for (note_id, chunk), matched in found.items()
    ]
    marked = [
        chunk._replace(is_kept=not cuts or is_kept(chunk.score, best))
        for chunk in sorted(chunks, key=_order)
    ]
    return Merged(best, tuple(marked), _notes(marked, per_note))


def _best_first(each: TopicScore) -> tuple[float, int]:
    return -each.score, each.topic


def _order(chunk: MergedChunk) -> tuple[int, float, int, int]:
    return -len(chunk.matched), -chunk.score, chunk.note_id, chunk.chunk


def _notes(chunks: Iterable[MergedChunk], per_note: int) -> tuple[ShownNote, ...]:
    shown: dict[int, list[MergedChunk]] = {}
    for chunk in chunks:
        if chunk.is_kept and len(shown.get(chunk.note_id, ())) < per_note:
            shown.setdefault(chunk.note_id, []).append(chunk)
    return tuple(ShownNote(note_id, tuple(listed)) for note_id, listed in shown.items())
