"""Stages 4 and 5, eligibility, floor and filter: what one candidate is worth, and why.

Owns the judgement of a candidate by its own row; other candidates play no part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.evidence import Candidate, ChunkRow, NoteCard
from app.domain.spaces import PLAIN_BORDER
from app.ranking.chatcrystal.candidates import raw_score
from app.ranking.chatcrystal.terms import split_by_presence

FLOOR = 0.82
BORDER_OF_RELEVANCE = PLAIN_BORDER

STAGE_ELIGIBILITY = "eligibility"
STAGE_FLOOR = "floor_and_filter"


@dataclass(frozen=True, slots=True)
class Rules:
    """Which rules a ranker applies, over which terms, on which scale."""

    terms: tuple[str, ...]
    border: float
    floors: bool
    filters: bool


@dataclass(frozen=True, slots=True)
class Judgement:
    """One candidate with its numbers; ``adjusted`` is None when it was dropped.

    ``reason`` names the rule that dropped it, with the numbers, None when none did.
    """

    chunk_id: int
    cosine: float
    raw: float
    note: NoteCard | None = None
    chunk_index: int | None = None
    found: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    adjusted: float | None = None
    stage: str | None = None
    rule: str | None = None
    reason: str | None = None


def judge_all(
    candidates: Sequence[Candidate], rows: Mapping[int, ChunkRow | None], rules: Rules
) -> list[Judgement]:
    """Judge candidates in their order; one without a row proves nothing."""
    return [judge(candidate, rows.get(candidate.chunk_id), rules) for candidate in candidates]


def judge(candidate: Candidate, row: ChunkRow | None, rules: Rules) -> Judgement:
    """Judge one candidate by its row."""
    chunk_id, cosine = candidate.chunk_id, candidate.cosine
    raw = raw_score(cosine, rules.border)
    if row is None:
        return Judgement(
            chunk_id, cosine, raw,
            stage=STAGE_ELIGIBILITY, rule="no_row", reason="no chunk row in the database",
        )  # fmt: skip
    why_not = row.note.ineligible_because
    if why_not is not None:
        return Judgement(
            chunk_id, cosine, raw, row.note, row.chunk_index,
            stage=STAGE_ELIGIBILITY, rule="note_not_eligible", reason=why_not,
        )  # fmt: skip
    if not rules.floors:
        return Judgement(chunk_id, cosine, raw, row.note, row.chunk_index, adjusted=raw)
    return _floored_or_filtered(candidate, raw, row, rules)


def _floored_or_filtered(
    candidate: Candidate, raw: float, row: ChunkRow, rules: Rules
) -> Judgement:
    found, missing = split_by_presence(rules.terms, row.folded)
    is_floored = bool(rules.terms) and not missing
    if is_floored or raw >= BORDER_OF_RELEVANCE or not rules.filters:
        adjusted = max(raw, FLOOR) if is_floored else raw
        return Judgement(
            candidate.chunk_id, candidate.cosine, raw, row.note, row.chunk_index,
            found, missing, adjusted,
        )  # fmt: skip
    return Judgement(
        candidate.chunk_id, candidate.cosine, raw, row.note, row.chunk_index, found, missing,
        stage=STAGE_FLOOR, rule="below_border", reason=_below_border(raw, missing),
    )  # fmt: skip


def _below_border(raw: float, missing: tuple[str, ...]) -> str:
    border = f"raw {raw:.3f} < {BORDER_OF_RELEVANCE}"
    if not missing:
        return f"{border} and the query has no terms"
    names = ", ".join(f"'{term}'" for term in missing)
    word = "term" if len(missing) == 1 else "terms"
    return f"{border} and {word} {names} missing"
