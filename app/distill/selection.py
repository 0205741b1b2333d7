"""Which sentences a note is made of: roles by their cues, centrality by their vectors.

Owns the weights. A sentence is taken as it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.distill.reading import Reading, Sentence
from app.distill.signals import is_pointer, words_of
from app.distill.turns import ASSISTANT, USER

MOST_EMBEDDED = 15
"""Sentences of a conversation that are embedded; those that state most."""

SAME_COSINE = 0.9
"""Two sentences that are nearer than this say the same."""

CENTRALITY_WEIGHT = 1.0
CUE_WEIGHT = 0.8
DETAIL_WEIGHT = 0.15
HEADING_WEIGHT = 1.0

PROBLEM, CAUSE, DECISION, OUTCOME, LESSON = "problem", "cause", "decision", "outcome", "lesson"

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that is embedded, and what it scores in each role before that."""

    sentence: Sentence
    scores: dict[str, float]

    @property
    def best(self) -> float:
        """The most that it scores in any role."""
        return max(self.scores.values())


def candidates_of(reading: Reading) -> tuple[Candidate, ...]:
    """Return the sentences to be embedded, in the order of the conversation."""
    place = _Place(
        first_request=reading.first_request,
        first_edit=reading.edits[0] if reading.edits else None,
        last_answer=max((each.turn for each in reading.said_by(ASSISTANT)), default=0),
        with_code=frozenset(turn for turn, _ in reading.codes),
    )
    found = []
    before: Sentence | None = None
    for each in reading.sentences:
        scores = _scores(each, place)
        if before is not None and each.turn == before.turn and is_pointer(before.text):
            scores[CAUSE] += 0.8 if scores[CAUSE] > 0 else 0.0
        found.append(Candidate(each, scores))
        before = each
    seen: set[str] = set()
    unique = []
    for candidate in sorted(found, key=lambda candidate: -candidate.best):
        if candidate.best > 0 and candidate.sentence.text not in seen:
            seen.add(candidate.sentence.text)
            unique.append(candidate)
    kept = {id(candidate) for candidate in unique[:MOST_EMBEDDED]}
    return tuple(candidate for candidate in found if id(candidate) in kept)


@dataclass(frozen=True, slots=True)
class _Place:
    """Turns of a conversation by which a sentence is placed; None where there is no such turn."""

    first_request: int | None
    first_edit: int | None
    last_answer: int
    with_code: frozenset[int]


def _scores(each: Sentence, place: _Place) -> dict[str, float]:
    signals = each.signals
    if each.role == USER:
        scores = _of_user(each, place)
    elif signals.is_question or signals.is_plan:
        return dict.fromkeys((PROBLEM, CAUSE, DECISION, OUTCOME, LESSON), 0.0)
    else:
        scores = _of_assistant(each, place)
    if each.heading in scores:
        scores[each.heading] += HEADING_WEIGHT
    thin = 0.8 if words_of([each.text]) < 5 else 0.0
    return {role: score - thin for role, score in scores.items()}


def _of_user(each: Sentence, place: _Place) -> dict[str, float]:
    signals = each.signals
    asks = signals.problem + 0.5 * signals.request + DETAIL_WEIGHT * signals.details
    return {
        PROBLEM: asks + (1.5 if each.turn == place.first_request else 0.0),
        CAUSE: 0.0,
        DECISION: 0.7 * signals.decision,
        OUTCOME: 0.3 * signals.outcome,
        LESSON: 0.0,
    }


def _of_assistant(each: Sentence, place: _Place) -> dict[str, float]:
    signals = each.signals
    details = DETAIL_WEIGHT * signals.details
    is_before = place.first_edit is None or each.turn <= place.first_edit
    cause = CUE_WEIGHT * signals.cause + 0.5 * is_before + 0.2 * signals.problem + details
    return {
        PROBLEM: 0.3 * signals.problem,
        CAUSE: cause,
        DECISION: CUE_WEIGHT * signals.decision + details if signals.decision else 0.0,
        OUTCOME: _outcome(each, place) + details,
        LESSON: CUE_WEIGHT * signals.lesson + details if signals.lesson else 0.0,
    }


def _outcome(each: Sentence, place: _Place) -> float:
    """Score an assistant's sentence as an outcome, by its cues and by what was done around it."""
    signals = each.signals
    if each.after_edit:
        return CUE_WEIGHT * signals.outcome + 0.9 + 0.6 * each.leads
    if not signals.outcome:
        return 0.0
    if place.first_edit is not None:
        return 0.5 * CUE_WEIGHT * signals.outcome
    shown = (0.6 + 0.4 * each.leads) if each.turn in place.with_code else 0.0
    return CUE_WEIGHT * signals.outcome + shown + 0.3 * (each.turn == place.last_answer)


def centralities(vectors: Vectors) -> NDArray[np.float64]:
    """Return how near each sentence is to all others, 0 to 1 for the nearest.

    Args:
        vectors: (n, d), unit length.
    """
    if len(vectors) < 2:
        return np.ones(len(vectors))
    exact = vectors.astype(np.float64)
    likeness = (exact @ exact.sum(axis=0) - 1.0) / (len(exact) - 1)
    low, high = likeness.min(), likeness.max()
    return np.ones(len(exact)) if high == low else (likeness - low) / (high - low)


class Picker:
    """Takes the best sentences of a role that do not say what was taken before."""

    def __init__(self, candidates: Sequence[Candidate], vectors: Vectors) -> None:
        self._candidates = candidates
        self._likeness = vectors.astype(np.float64) @ vectors.astype(np.float64).T
        self._central = CENTRALITY_WEIGHT * centralities(vectors)

    def ranked(self, role: str, least: float) -> list[int]:
        """Return the places of the sentences with at least this score in a role, best first."""
        scores = [
            candidate.scores[role] + self._central[place]
            for place, candidate in enumerate(self._candidates)
        ]
        places = [
            place
            for place, candidate in enumerate(self._candidates)
            if candidate.scores[role] >= least
        ]
        return sorted(places, key=lambda place: (-scores[place], place))

    def pick(
        self,
        role: str,
        most: int,
        taken: Sequence[int] = (),
        least: float = 0.6,
        accepts: Callable[[Sentence], bool] = lambda sentence: True,
    ) -> list[int]:
        """Return the places of at most so many sentences, best first."""
        picked: list[int] = []
        for place in self.ranked(role, least):
            if len(picked) == most:
                break
            others = [*taken, *picked]
            is_new = all(
                other != place and self._likeness[place, other] < SAME_COSINE for other in others
            )
            if is_new and accepts(self._candidates[place].sentence):
                picked.append(place)
        return picked

    def texts(self, places: Sequence[int]) -> list[str]:
        """Return sentences in the order of the conversation."""
        return [self._candidates[place].sentence.text for place in sorted(set(places))]
