"""Stages 4 and 5, eligibility, floor and filter: what one candidate is worth, and why.

Owns the judgement of a candidate by its own row; other candidates play no part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from app.domain.evidence import Candidate, ChunkRow, NoteCard
from app.domain.spaces import PLAIN_BORDER
from app.ranking.chatcrystal.candidates import raw_score
from app.ranking.chatcrystal.terms import holds_all, missing_in

FLOOR = 0.82
BORDER_OF_RELEVANCE = PLAIN_BORDER

NO_ROW = "no_row"
NOT_ELIGIBLE = "note_not_eligible"
BELOW_BORDER = "below_border"

STAGE_OF_RULE = {
    NO_ROW: "eligibility",
    NOT_ELIGIBLE: "eligibility",
    BELOW_BORDER: "floor_and_filter",
}


@dataclass(frozen=True, slots=True)
class Rules:
    """Which rules a ranker applies, over which terms, on which scale."""

    terms: tuple[str, ...]
    border: float
    floors: bool
    filters: bool


class Judgement(NamedTuple):
    """One candidate with its numbers.

    ``adjusted`` is None when it was dropped, and ``rule`` names what dropped it. ``sought`` are
    the terms that it was looked through for, None when it was dropped before that.
    """

    chunk_id: int
    cosine: float
    raw: float
    row: ChunkRow | None
    adjusted: float | None = None
    rule: str | None = None
    sought: tuple[str, ...] | None = None

    @property
    def note(self) -> NoteCard | None:
        """The note that the chunk belongs to, when it has a row."""
        return self.row.note if self.row else None

    @property
    def missing(self) -> tuple[str, ...]:
        """The sought terms that it lacks; worked out anew each time, for explanations alone."""
        return missing_in(self.row.folded, self.sought or ()) if self.row else ()

    @property
    def reason(self) -> str | None:
        """Say with the numbers why the candidate was dropped, None when it was not."""
        if self.rule == NO_ROW:
            return "no chunk row in the database"
        if self.rule == NOT_ELIGIBLE and self.row is not None:
            return self.row.note.ineligible_because
        if self.rule == BELOW_BORDER:
            return _below_border(self.raw, self.missing)
        return None


def judge_all(
    candidates: Sequence[Candidate], rows: Mapping[int, ChunkRow], rules: Rules
) -> list[Judgement]:
    """Judge candidates in their order; one without a row proves nothing."""
    judge, row_of = partial(_judge, rules), rows.get
    return [judge(chunk_id, cosine, row_of(chunk_id)) for chunk_id, cosine in candidates]


def kept_of(
    candidates: Sequence[Candidate], rows: Mapping[int, ChunkRow], rules: Rules
) -> list[Judgement]:
    """Return the judgements of ``judge_all`` that keep their candidate.

    Of hundreds of candidates few are kept, and what is said of the others is mostly never read.
    """
    kept = []
    for chunk_id, cosine in candidates:
        row = rows.get(chunk_id)
        if row is None or _is_below(rules, raw_score(cosine, rules.border), row.folded):
            continue
        judgement = _judge(rules, chunk_id, cosine, row)
        if judgement.adjusted is not None:
            kept.append(judgement)
    return kept


def _judge(rules: Rules, chunk_id: int, cosine: float, row: ChunkRow | None) -> Judgement:
    raw = raw_score(cosine, rules.border)
    if row is None:
        return Judgement(chunk_id, cosine, raw, row, rule=NO_ROW)
    if row.note.ineligible_because is not None:
        return Judgement(chunk_id, cosine, raw, row, rule=NOT_ELIGIBLE)
    if not rules.floors:
        return Judgement(chunk_id, cosine, raw, row, raw)
    if _is_below(rules, raw, row.folded):
        return Judgement(chunk_id, cosine, raw, row, None, BELOW_BORDER, rules.terms)
    adjusted = max(raw, FLOOR) if holds_all(row.folded, rules.terms) else raw
    return Judgement(chunk_id, cosine, raw, row, adjusted, None, rules.terms)


def _is_below(rules: Rules, raw: float, folded: str) -> bool:
    """Tell whether a candidate lies below the border, and no exact match lifts it."""
    return rules.filters and raw < BORDER_OF_RELEVANCE and not holds_all(folded, rules.terms)


def _below_border(raw: float, missing: tuple[str, ...]) -> str:
    border = f"raw {raw:.3f} < {BORDER_OF_RELEVANCE}"
    if not missing:
        return f"{border} and the query has no terms"
    names = ", ".join(f"'{term}'" for term in missing)
    word = "term" if len(missing) == 1 else "terms"
    return f"{border} and {word} {names} missing"
