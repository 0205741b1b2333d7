"""The record of a run of `notebrain`: every chunk with its queries, the border, every note.

Owns how the record reads as JSON and as a verdict on one note. Computes no score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from app.domain.evidence import NoteCard
from app.ranking.chatcrystal.judgement import STAGE_OF_RULE, Judgement
from app.ranking.notebrain.matches import Caps
from app.ranking.notebrain.merging import Merged, MergedChunk, ShownNote
from app.ranking.notebrain.thresholds import ABSOLUTE, FALLBACK, RELATIVE, border
from app.ranking.run import Question, Verdict

BELOW_THRESHOLD = "below_threshold"
BEYOND_PER_NOTE = "beyond_per_note"
BEYOND_CAPS = "beyond_caps"
NOT_POSITIVE = "not_positive"


class WordMatch(NamedTuple):
    """A note found by words: their weight, the queries that they are of, the words."""

    card: NoteCard
    weight: float
    topics: tuple[str, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotebrainRecord:
    """What came in and went out of one run.

    ``judged`` are all candidates; ``chunk_ids`` is by note and number. ``words`` are empty unless
    meaning found nothing.
    """

    question: Question
    caps: Caps
    judged: tuple[Judgement, ...]
    chunk_ids: Mapping[tuple[int, int], int]
    merged: Merged
    words: tuple[WordMatch, ...]

    def explain(self) -> dict[str, Any]:
        """Return the whole record as JSON values."""
        merged, question = self.merged, self.question
        rows = [self._row(place, note) for place, note in enumerate(merged.notes, start=1)]
        return {
            "topics": list(question.topics),
            "per_note": question.per_note,
            "chunks_of_a_note": self.caps.of_a_note,
            "chunks_of_a_topic": self.caps.in_all,
            "absolute": ABSOLUTE,
            "relative": RELATIVE,
            "fallback": FALLBACK,
            "best": merged.best,
            "border": self._border(),
            "lexical": bool(self.words),
            "candidates": self._candidates(),
            "rows": rows or [_word_row(*each) for each in enumerate(self.words, start=1)],
            "beyond_limit": self._ids()[question.limit :],
        }

    def _border(self) -> float | None:
        has_border = self.merged.best is not None and self.question.cut
        return border(self.merged.best or 0.0) if has_border else None

    def _ids(self) -> list[int]:
        by_meaning = [note.note_id for note in self.merged.notes]
        return by_meaning or [each.card.note_id for each in self.words]

    def _row(self, place: int, note: ShownNote) -> dict[str, Any]:
        return {
            "place": place,
            "note_id": note.note_id,
            "score": note.score,
            "matched_queries": note.matched_queries,
            "chunks": [self._chunk(each) for each in note.chunks],
        }

    def _chunk(self, chunk: MergedChunk) -> dict[str, Any]:
        topics = self.question.topics
        return {
            "chunk_id": self.chunk_ids[chunk.note_id, chunk.chunk],
            "chunk_index": chunk.chunk,
            "note_id": chunk.note_id,
            "cosine": chunk.score,
            "matched": [
                {"query": topics[each.topic], "score": each.score} for each in chunk.matched
            ],
        }

    def _candidates(self) -> list[dict[str, Any]]:
        """Return the chunks in their order, then those that the caps or eligibility left out."""
        shown = {(note.note_id, c.chunk) for note in self.merged.notes for c in note.chunks}
        listed = []
        for chunk in self.merged.chunks:
            is_shown = (chunk.note_id, chunk.chunk) in shown
            rule = None if is_shown else BEYOND_PER_NOTE if chunk.is_kept else BELOW_THRESHOLD
            listed.append(self._chunk(chunk) | self._outcome(chunk, rule))
        merged = {self.chunk_ids[chunk.note_id, chunk.chunk] for chunk in self.merged.chunks}
        left = [each for each in self.judged if each.chunk_id not in merged]
        listed += [_left_out(each) for each in left]
        return [{"rank": rank, **each} for rank, each in enumerate(listed, start=1)]

    def _outcome(self, chunk: MergedChunk, rule: str | None) -> dict[str, Any]:
        reason = self._why_below(chunk) if rule == BELOW_THRESHOLD else None
        if rule == BEYOND_PER_NOTE:
            reason = f"{self.question.per_note} better chunks of its note are shown"
        return {
            "outcome": "dropped" if rule else "shown",
            "stage": "thresholds" if rule == BELOW_THRESHOLD else "grouping" if rule else None,
            "rule": rule,
            "reason": reason,
        }

    def _why_below(self, chunk: MergedChunk) -> str:
        best, least = self.merged.best or 0.0, self._border() or 0.0
        return f"cosine {chunk.score:.3f} < {least:.3f}, the border beside the best of {best:.3f}"

    def verdict(self, note_id: int, best_rank: int | None) -> Verdict:
        """Say what became of a note; ``best_rank`` is its best chunk's rank among all."""
        for place, note in enumerate(self.merged.notes, start=1):
            if note.note_id == note_id:
                return self._placed(place, self._told(note))
        for place, match in enumerate(self.words, start=1):
            if match.card.note_id == note_id:
                told = f"meaning found nothing; words: {', '.join(match.words)}"
                return self._placed(place, told)
        for chunk in self.merged.chunks:
            if chunk.note_id == note_id:
                return Verdict("thresholds", BELOW_THRESHOLD, self._why_below(chunk))
        own = [each for each in self.judged if each.note and each.note.note_id == note_id]
        if own:
            left = _left_out(max(own, key=lambda each: each.cosine))
            return Verdict(left["stage"], left["rule"], left["reason"])
        return self._not_found(best_rank)

    def _told(self, note: ShownNote) -> str:
        asked, first = len(self.question.topics), note.chunks[0]
        return (
            f"chunk {first.chunk} matched {len(first.matched)} of {asked} "
            f"{'query' if asked == 1 else 'queries'}, best cosine {note.score:.3f}"
        )

    def _placed(self, place: int, told: str) -> Verdict:
        where = f"place {place} of {len(self._ids())}: {told}"
        if place <= self.question.limit:
            return Verdict("order", "returned", where)
        return Verdict("order", "beyond_limit", f"{where}; the limit is {self.question.limit}")

    def _not_found(self, best_rank: int | None) -> Verdict:
        if best_rank is None:
            return Verdict("candidates", "no_vector", "the index holds no vector of this note")
        return Verdict(
            "candidates",
            "not_reached",
            f"its best chunk has rank {best_rank}; a query brings {self.caps.in_all} chunks of "
            "positive cosine at most",
        )


def _word_row(place: int, match: WordMatch) -> dict[str, Any]:
    return {
        "place": place,
        "note_id": match.card.note_id,
        "score": 0.0,
        "matched_queries": len(match.topics),
        "weight": match.weight,
        "words": list(match.words),
    }


def _left_out(judgement: Judgement) -> dict[str, Any]:
    row, rule = judgement.row, judgement.rule
    own, reason = BEYOND_CAPS, "better chunks filled the caps of a note or of a query"
    if judgement.cosine <= 0:
        own, reason = NOT_POSITIVE, f"cosine {judgement.cosine:.3f} is not positive"
    return {
        "chunk_id": judgement.chunk_id,
        "chunk_index": row.chunk_index if row else None,
        "note_id": row.note.note_id if row else None,
        "cosine": judgement.cosine,
        "matched": [],
        "outcome": "dropped",
        "stage": STAGE_OF_RULE[rule] if rule else "candidates",
        "rule": rule or own,
        "reason": judgement.reason or reason,
    }
