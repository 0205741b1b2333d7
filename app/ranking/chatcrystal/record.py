"""The record of a run of the default ranker: every candidate, round and reason.

Owns how the record reads as JSON and as a verdict on one note. Computes no score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.evidence import Candidate, ChunkRow
from app.domain.spaces import PLAIN_BORDER
from app.ranking.chatcrystal.growth import Round, Stop
from app.ranking.chatcrystal.judgement import FLOOR, STAGE_OF_RULE, Judgement, Rules, judge_all
from app.ranking.run import Verdict


@dataclass(frozen=True, slots=True)
class ChatcrystalRecord:
    """What came in and went out of each stage of one run.

    ``candidates`` are those that were taken, in their order, ``rows`` what is known of them;
    ``order`` holds each note's best chunk, best first, those beyond the limit included.
    """

    rules: Rules
    limit: int
    rounds: tuple[Round, ...]
    stop: Stop
    candidates: Sequence[Candidate]
    rows: Mapping[int, ChunkRow]
    order: tuple[Judgement, ...]

    @property
    def judgements(self) -> list[Judgement]:
        """All candidates judged, in their order; worked out anew each time."""
        return judge_all(self.candidates, self.rows, self.rules)

    def explain(self) -> dict[str, Any]:
        """Return the whole record as JSON values."""
        speakers = {judgement.note: judgement.chunk_id for judgement in self.order}
        return {
            "terms": list(self.rules.terms),
            "space_border": self.rules.border,
            "border": PLAIN_BORDER if self.rules.filters else None,
            "floor": FLOOR if self.rules.floors else None,
            "rounds": [{"k": each.size, "notes": each.notes} for each in self.rounds],
            "stopped": self.stop.value,
            "candidates": [
                _candidate(rank, judgement, speakers)
                for rank, judgement in enumerate(self.judgements, start=1)
            ],
            "beyond_limit": [
                judgement.note.note_id
                for judgement in self.order[self.limit :]
                if judgement.note is not None
            ],
        }

    def verdict(self, note_id: int, best_rank: int | None) -> Verdict:
        """Say what became of a note; ``best_rank`` is its best chunk's rank among all."""
        for place, judgement in enumerate(self.order, start=1):
            if judgement.note is not None and judgement.note.note_id == note_id:
                return self._placed(place, judgement)
        for judgement in self.judgements:
            if judgement.note is not None and judgement.note.note_id == note_id:
                return _dropped(judgement)
        if best_rank is None:
            return Verdict("candidates", "no_vector", "the index holds no vector of this note")
        return Verdict(
            "growth",
            "not_reached",
            f"rank {best_rank}, search stopped at k={self.rounds[-1].size} with {self._state()}",
        )

    def _placed(self, place: int, judgement: Judgement) -> Verdict:
        if place <= self.limit:
            floored = judgement.adjusted == FLOOR and judgement.raw < FLOOR
            because = f"raw {judgement.raw:.3f}" + (
                f", floored to {FLOOR} because every term occurs" if floored else ""
            )
            return Verdict("order", "returned", f"place {place} of {len(self.order)}: {because}")
        return Verdict(
            "order",
            "beyond_limit",
            f"place {place} of {len(self.order)}, the limit is {self.limit}",
        )

    def _state(self) -> str:
        if self.stop is Stop.ENOUGH:
            return "enough notes"
        return f"{self.rounds[-1].notes} notes: {self.stop.value}"


def _dropped(judgement: Judgement) -> Verdict:
    rule = judgement.rule or ""
    return Verdict(STAGE_OF_RULE[rule], rule, judgement.reason or "")


def _candidate(rank: int, judgement: Judgement, speakers: Mapping[Any, int]) -> dict[str, Any]:
    row, missing = judgement.row, judgement.missing
    speaker = speakers.get(judgement.note)
    is_kept = judgement.adjusted is not None
    is_beaten = is_kept and speaker != judgement.chunk_id
    return {
        "rank": rank,
        "chunk_id": judgement.chunk_id,
        "chunk_index": row.chunk_index if row else None,
        "note_id": row.note.note_id if row else None,
        "cosine": judgement.cosine,
        "raw": judgement.raw,
        "adjusted": judgement.adjusted,
        "terms_found": [term for term in judgement.sought or () if term not in missing],
        "terms_missing": list(missing),
        "outcome": "beaten" if is_beaten else "kept" if is_kept else "dropped",
        "beaten_by": speaker if is_beaten else None,
        "stage": STAGE_OF_RULE.get(judgement.rule or ""),
        "rule": judgement.rule,
        "reason": judgement.reason,
    }
