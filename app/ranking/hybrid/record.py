"""The record of a run of `hybrid`: every note that was weighed, with every number.

Owns how the record reads as JSON and as a verdict on one note. Computes no score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.ranking.hybrid.cut import Cut
from app.ranking.hybrid.scoring import (
    FIELD_SHARE,
    LIKENESS_WEIGHT,
    SECTION_SHARE,
    TITLE_SHARE,
    WHOLE_SHARE,
    WORDS_WEIGHT,
    Cosines,
    Row,
)
from app.ranking.run import Verdict

VARIANT = "hybrid"
VARIANT_WITH_SECOND = "hybrid+e5"


@dataclass(frozen=True, slots=True)
class HybridRecord:
    """What came in and went out of one run.

    ``rows`` are best first, those under the cut and beyond the limit included; ``refused`` maps
    notes that may not be found to the reason. ``cut`` is None when there was none.
    ``has_second`` says whether the second model was asked.
    """

    limit: int
    border: float
    cut: Cut | None
    rows: tuple[Row, ...]
    refused: dict[int, str]
    has_second: bool = False

    def explain(self) -> dict[str, Any]:
        """Return the whole record as JSON values."""
        return {
            "ranker_variant": VARIANT_WITH_SECOND if self.has_second else VARIANT,
            "shares": {"whole": WHOLE_SHARE, "best_field": FIELD_SHARE, "title": TITLE_SHARE},
            "section_share": SECTION_SHARE,
            "words_weight": WORDS_WEIGHT,
            "likeness_weight": LIKENESS_WEIGHT,
            "border": self.border,
            "cut": self._cut(),
            "candidates": [],
            "rows": [self._row(place, row) for place, row in enumerate(self.rows, start=1)],
            "refused": [
                {"note_id": note_id, "reason": reason} for note_id, reason in self.refused.items()
            ],
            "beyond_limit": [row.note_id for row in self._kept()[self.limit :]],
        }

    def _cut(self) -> dict[str, Any] | None:
        if self.cut is None:
            return None
        return {**self.cut._asdict(), "has_answer": self.cut.has_answer}

    def _is_under(self, row: Row) -> bool:
        return self.cut is not None and not self.cut.keeps(row)

    def _kept(self) -> list[Row]:
        return [row for row in self.rows if not self._is_under(row)]

    def _row(self, place: int, row: Row) -> dict[str, Any]:
        measured = row.measured
        told = {
            "place": place,
            "note_id": row.note_id,
            "score": row.score,
            "joined": row.joined,
            "meaning": row.meaning,
            **_cosines(measured.cosines),
            "words": measured.words,
            "coverage": measured.coverage,
            "counts_words": row.counts_words,
            "likeness": row.likeness,
            "is_under_the_cut": self._is_under(row),
        }
        if self.has_second:
            told["models"] = [row.first, row.second]
            told["second"] = _cosines(measured.second)
        return told

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
        told = _told(row)
        if self.cut is not None and not self.cut.has_answer:
            return Verdict("cut", "no_answer", f"{_no_answer(self.cut)}; {told}")
        if self.cut is not None and not self.cut.keeps(row):
            return Verdict("cut", "below_cut", f"{told} is under the cut of {self.cut.least:.3f}")
        if place > self.limit:
            return Verdict(
                "order", "beyond_limit", f"place {place}, the limit is {self.limit}: {told}"
            )
        return Verdict("order", "returned", f"place {place}: {told}")


def _cosines(cosines: Cosines) -> dict[str, Any]:
    return {
        "whole": cosines.whole,
        "fields": {str(number): cosine for number, cosine in sorted(cosines.fields.items())},
        "chunk": cosines.chunk,
    }


def _no_answer(cut: Cut) -> str:
    return (
        f"the query has no answer: the nearest note has meaning {cut.meaning:.3f}, a note holds "
        f"{cut.coverage:.3f} of its words, together {cut.evidence:.3f} of {cut.needed:.3f} needed"
    )


def _told(row: Row) -> str:
    measured = row.measured
    meaning = "none" if row.meaning is None else f"{row.meaning:.3f}"
    if row.second is not None and row.first is not None:
        meaning += f" ({row.first:.3f} and {row.second:.3f} by the two models)"
    elif measured.cosines.chunk is not None and measured.cosines.whole is None:
        meaning += " (of its best chunk)"
    words = f"words {measured.words:.3f} × coverage {measured.coverage:.3f}"
    if not row.counts_words:
        words = "words left out, the note is in another script"
    likeness = "" if row.likeness is None else f", likeness {row.likeness:.3f} to the best"
    return f"score {row.score:.3f} of meaning {meaning} and {words}{likeness}"
