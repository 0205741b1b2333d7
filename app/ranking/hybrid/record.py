"""The record of a run of `hybrid`: every note that was weighed, with every number.

Owns how the record reads as JSON and as a verdict on one note. Computes no score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.ranking.hybrid.scoring import FIELD_SHARE, TITLE_SHARE, WHOLE_SHARE, WORDS_WEIGHT, Row
from app.ranking.run import Verdict


@dataclass(frozen=True, slots=True)
class HybridRecord:
    """What came in and went out of one run.

    ``rows`` are best first, those under the cut and beyond the limit included; ``refused`` maps
    notes that may not be found to the reason. ``cut`` is None when there was none.
    """

    limit: int
    border: float
    cut: float | None
    rows: tuple[Row, ...]
    refused: dict[int, str]

    def explain(self) -> dict[str, Any]:
        """Return the whole record as JSON values."""
        return {
            "shares": {"whole": WHOLE_SHARE, "best_field": FIELD_SHARE, "title": TITLE_SHARE},
            "words_weight": WORDS_WEIGHT,
            "border": self.border,
            "cut": self.cut,
            "candidates": [],
            "rows": [self._row(place, row) for place, row in enumerate(self.rows, start=1)],
            "refused": [
                {"note_id": note_id, "reason": reason} for note_id, reason in self.refused.items()
            ],
            "beyond_limit": [row.note_id for row in self._kept()[self.limit :]],
        }

    def _kept(self) -> list[Row]:
        return [row for row in self.rows if self.cut is None or row.score >= self.cut]

    def _row(self, place: int, row: Row) -> dict[str, Any]:
        measured, cosines = row.measured, row.measured.cosines
        return {
            "place": place,
            "note_id": row.note_id,
            "score": row.score,
            "meaning": row.meaning,
            "whole": cosines.whole,
            "fields": {str(number): cosine for number, cosine in sorted(cosines.fields.items())},
            "chunk": cosines.chunk,
            "words": measured.words,
            "coverage": measured.coverage,
            "counts_words": row.counts_words,
            "is_under_the_cut": self.cut is not None and row.score < self.cut,
        }

    def verdict(self, note_id: int, best_rank: int | None) -> Verdict:
        """Say what became of a note; ``best_rank`` is its best chunk's rank among all."""
        if note_id in self.refused:
            return Verdict("eligibility", "note_not_eligible", self.refused[note_id])
        for place, row in enumerate(self.rows, start=1):
            if row.note_id == note_id:
                return self._placed(place, row)
        where = f"its best chunk has rank {best_rank}" if best_rank else "it has no vector"
        return Verdict(
            "candidates",
            "not_reached",
            f"{where}, and it is not among the {len(self.rows)} notes that were weighed",
        )

    def _placed(self, place: int, row: Row) -> Verdict:
        measured = row.measured
        meaning = "none" if row.meaning is None else f"{row.meaning:.3f}"
        if measured.cosines.chunk is not None:
            meaning += " (of its best chunk)"
        words = f"words {measured.words:.3f} × coverage {measured.coverage:.3f}"
        if not row.counts_words:
            words = "words left out, the note is in another script"
        told = f"score {row.score:.3f} of meaning {meaning} and {words}"
        if self.cut is not None and row.score < self.cut:
            return Verdict("cut", "below_cut", f"{told} is under the cut of {self.cut:.3f}")
        if place > self.limit:
            return Verdict(
                "order", "beyond_limit", f"place {place}, the limit is {self.limit}: {told}"
            )
        return Verdict("order", "returned", f"place {place}: {told}")
