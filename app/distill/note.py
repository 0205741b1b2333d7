"""The note of a conversation, put together from what was read and from sentence vectors.

Owns the order of a note's parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.distill.reading import Reading
from app.distill.selection import (
    CAUSE,
    DECISION,
    LESSON,
    OUTCOME,
    PROBLEM,
    Candidate,
    Picker,
)
from app.distill.snippets import snippets_of
from app.distill.tasks import outcome_type_of, task_kind_of
from app.distill.titles import title_of
from app.domain.notes import Snippet

MOST_CONCLUSIONS = 5


@dataclass(frozen=True, slots=True)
class Distilled:
    """What a note of a conversation says."""

    title: str
    summary: str
    key_conclusions: tuple[str, ...]
    code_snippets: tuple[Snippet, ...]
    error_signatures: tuple[str, ...]
    files_touched: tuple[str, ...]
    tags: tuple[str, ...]
    task_kind: str
    outcome_type: str | None
    raw_response: str | None = None


def distilled(
    reading: Reading, candidates: tuple[Candidate, ...], vectors: NDArray[np.float32]
) -> Distilled:
    """Put the note of a conversation together.

    Args:
        candidates: The sentences of ``candidates_of``.
        vectors: Theirs, (n, d), unit length, in their order.
    """
    parts = _parts(Picker(candidates, vectors)) if candidates else _Parts((), ())
    chosen = set(parts.summary) | set(parts.conclusions)
    errors = reading.error_signatures
    return Distilled(
        title=title_of(reading),
        summary="\n\n".join(parts.summary) or title_of(reading),
        key_conclusions=parts.conclusions,
        code_snippets=snippets_of(reading, chosen),
        error_signatures=errors,
        files_touched=reading.files,
        tags=reading.tags,
        task_kind=task_kind_of(reading),
        outcome_type=outcome_type_of(reading),
    )


@dataclass(frozen=True, slots=True)
class _Parts:
    summary: tuple[str, ...]
    conclusions: tuple[str, ...]


def _parts(picker: Picker) -> _Parts:
    """Choose sentences: a summary of what was wrong and why, conclusions of what was done about
    it and what to remember.

    Nothing is said in both: each is a vector of its own, and a question is near to one of them.
    """
    outcomes = picker.pick(OUTCOME, 2)
    causes = picker.pick(CAUSE, 2, outcomes, least=0.5)
    problems = picker.pick(PROBLEM, 3, [*outcomes, *causes])
    taken = [*outcomes, *causes, *problems]
    more = picker.pick(OUTCOME, 1, taken)
    taken += more
    decisions = picker.pick(DECISION, 1, taken)
    lessons = picker.pick(LESSON, 1, [*taken, *decisions])
    conclusions = [*outcomes, *decisions, *lessons, *more]
    summary = [problems, causes] if problems or causes else [outcomes]
    return _Parts(
        tuple(" ".join(picker.texts(places)) for places in summary if places),
        tuple(picker.texts(conclusions[:MOST_CONCLUSIONS])),
    )
