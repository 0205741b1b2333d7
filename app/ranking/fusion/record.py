"""The record of a run of `fusion`: every chunk, every note refused, every number of every row.

Owns how the record reads as JSON and as a verdict on one note. Computes no score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from app.domain.evidence import LexicalHit
from app.ranking.chatcrystal.judgement import STAGE_OF_RULE, Judgement
from app.ranking.fusion.aggregation import ChunkedNote
from app.ranking.fusion.normalisation import SourceScore
from app.ranking.fusion.recency import GATE
from app.ranking.fusion.rows import Row
from app.ranking.run import Verdict


class Refusal(NamedTuple):
    """A note that was found by words and may not be found."""

    note_id: int
    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class FusionRecord:
    """What came in and went out of one run.

    ``chunks_asked`` and ``words_asked`` are how much each source was asked for. ``judgements``
    are in candidate order; ``by_meaning`` and ``by_words`` are what was fused; ``rows`` are best
    first, those beyond the limit included.
    """

    limit: int
    chunks_asked: int
    words_asked: int
    judgements: tuple[Judgement, ...]
    by_meaning: tuple[ChunkedNote, ...]
    by_words: tuple[LexicalHit, ...]
    refused: tuple[Refusal, ...]
    rows: tuple[Row, ...]

    def explain(self) -> dict[str, Any]:
        """Return the whole record as JSON values."""
        meant = {note.note_id: note for note in self.by_meaning}
        worded = {hit.note_id: hit for hit in self.by_words}
        speakers = {note.note_id: note.best_chunk_id for note in self.by_meaning}
        return {
            "chunks_asked": self.chunks_asked,
            "words_asked": self.words_asked,
            "notes_by_meaning": len(self.by_meaning),
            "notes_by_words": len(self.by_words),
            "recency": self._bounds(),
            "candidates": [
                _candidate(rank, judgement, speakers)
                for rank, judgement in enumerate(self.judgements, start=1)
            ],
            "refused": [
                {"note_id": note_id, "stage": STAGE_OF_RULE[rule], "rule": rule, "reason": reason}
                for note_id, rule, reason in self.refused
            ],
            "rows": [
                _row(place, row, meant.get(row.note_id), worded.get(row.note_id))
                for place, row in enumerate(self.rows, start=1)
            ],
            "beyond_limit": [row.note_id for row in self.rows[self.limit :]],
        }

    def _bounds(self) -> dict[str, Any] | None:
        if not self.rows:
            return None
        bounds = self.rows[0].bounds
        return {
            "gate": GATE,
            "median_gap": bounds.median_gap,
            "lift_cap": bounds.cap,
            "lifted": bounds.lifted,
            "crowding": bounds.crowding,
        }

    def verdict(self, note_id: int, best_rank: int | None) -> Verdict:
        """Say what became of a note; ``best_rank`` is its best chunk's rank among all."""
        for place, row in enumerate(self.rows, start=1):
            if row.note_id == note_id:
                return self._placed(place, row)
        for judgement in self.judgements:
            if judgement.note is not None and judgement.note.note_id == note_id:
                rule = judgement.rule or ""
                return Verdict(STAGE_OF_RULE[rule], rule, judgement.reason or "")
        for refusal in self.refused:
            if refusal.note_id == note_id:
                return Verdict(STAGE_OF_RULE[refusal.rule], refusal.rule, refusal.reason)
        return self._not_found(best_rank)

    def _placed(self, place: int, row: Row) -> Verdict:
        told = f"place {place} of {len(self.rows)}: {_sum(row)}"
        if place <= self.limit:
            return Verdict("order", "returned", told)
        return Verdict("order", "beyond_limit", f"{told}; the limit is {self.limit}")

    def _not_found(self, best_rank: int | None) -> Verdict:
        by_words = f"it is not among the {len(self.by_words)} notes found by words"
        if best_rank is None:
            return Verdict(
                "candidates", "no_vector", f"the index holds no vector of this note, and {by_words}"
            )
        by_meaning = f"its best chunk has rank {best_rank}, {len(self.judgements)} were taken"
        return Verdict("candidates", "not_reached", f"{by_meaning}, and {by_words}")


def _sum(row: Row) -> str:
    identity, recency = row.identity, row.recency
    parts = [f"fused {row.blend.fused:.3f}"]
    if identity.title.kind:
        parts.append(f"title {identity.title_boost:.3f} ({identity.title.kind})")
    if identity.alias.kind:
        parts.append(f"alias {identity.alias_boost:.3f} ({identity.alias.kind})")
    if recency.lifts:
        parts.append(f"lift {row.lift:.3f} (opened lately)")
    told = f"{' + '.join(parts)} = {row.score:.3f}"
    if recency.gated:
        told += f", opened lately but relevance {recency.relevance:.3f} < {GATE:g}: no lift"
    return told


def _candidate(rank: int, judgement: Judgement, speakers: Mapping[int, int]) -> dict[str, Any]:
    row, note = judgement.row, judgement.note
    is_kept = judgement.adjusted is not None
    is_best = note is not None and speakers.get(note.note_id) == judgement.chunk_id
    return {
        "rank": rank,
        "chunk_id": judgement.chunk_id,
        "chunk_index": row.chunk_index if row else None,
        "note_id": note.note_id if note else None,
        "cosine": judgement.cosine,
        "outcome": "dropped" if not is_kept else "best of its note" if is_best else "support",
        "stage": STAGE_OF_RULE.get(judgement.rule or ""),
        "rule": judgement.rule,
        "reason": judgement.reason,
    }


def _row(
    place: int, row: Row, meant: ChunkedNote | None, worded: LexicalHit | None
) -> dict[str, Any]:
    semantic, lexical = _standing(row.blend.semantic), _standing(row.blend.lexical)
    if semantic is not None and meant is not None:
        semantic |= {
            "chunk_id": meant.best_chunk_id,
            "best_chunk": meant.best_score,
            "chunks": meant.chunks,
        }
    if lexical is not None and worded is not None:
        lexical |= {
            "identity": worded.identity,
            "content": worded.content,
            "matched": list(worded.matched),
        }
    return {
        "place": place,
        "note_id": row.note_id,
        "semantic": semantic,
        "lexical": lexical,
        "rrf": row.blend.rrf,
        "fused": row.blend.fused,
        "title_match": row.identity.title.kind,
        "title_boost": row.identity.title_boost,
        "alias_match": row.identity.alias.kind,
        "alias_boost": row.identity.alias_boost,
        "base": row.base,
        "relevance": row.recency.relevance,
        "recent": row.recency.recent,
        "gated": row.recency.gated,
        "strength": row.recency.strength,
        "wanted_lift": row.wanted_lift,
        "lift_cap": row.bounds.cap,
        "crowding": row.bounds.crowding,
        "lift": row.lift,
        "score": row.score,
    }


def _standing(standing: SourceScore | None) -> dict[str, Any] | None:
    return standing._asdict() if standing else None
