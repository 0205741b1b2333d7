"""Which conversations are worth a note: the gate, its score and its reasons.

Owns the judgement. A conversation passes with a problem or request, an outcome, and something
that can be used again.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.distill.reading import Reading, Sentence
from app.distill.signals import confirms, words_of
from app.distill.turns import ASSISTANT, USER

ACCEPTED = "accepted"
EMPTY = "empty"
SMALL_TALK = "small-talk"
APPROVAL = "approval"
RAW_LOG = "raw-log"
NO_PROBLEM = "no-problem"
NO_OUTCOME = "no-outcome"
NOTHING_REUSABLE = "nothing-reusable"
TOO_THIN = "too-thin"

LEAST_SCORE = 40
LEAST_SCORE_OF_ONE_TURN = 45
LEAST_WORDS = 18
"""Words of an assistant's prose; with less nothing was explained, unless code says it."""

_SHARE_OF_LOGS = 0.75
_WORDS_BESIDE_LOGS = 25
_WORDS_OF_STATEMENT = 5
_WORDS_OF_REPORT = 12


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the gate says of a conversation; ``score`` is 0 to 100, ``points`` what it is made of.

    ``missing`` names which of problem, outcome and reuse were not found.
    """

    accepted: bool
    score: int
    reason: str
    missing: tuple[str, ...]
    points: dict[str, int]

    def details(self) -> dict[str, object]:
        """Return what is stored beside score and reason."""
        return {
            "decision": "accept" if self.accepted else "reject",
            "score": self.score,
            "reasons": [self.reason],
            "missing_signals": list(self.missing),
            "points": self.points,
        }


def judge(reading: Reading) -> Judgement:
    """Judge a conversation."""
    points = {
        "problem": _problem(reading),
        "process": _process(reading),
        "outcome": _outcome(reading),
        "reuse": _reuse(reading),
    }
    missing = tuple(name for name in ("problem", "outcome", "reuse") if not points[name])
    score = min(sum(points.values()), 100)
    reason = _plain_reason(reading) or _reason(reading, score, missing)
    return Judgement(reason == ACCEPTED, score, reason, missing, points)


def _plain_reason(reading: Reading) -> str:
    """Return why a conversation is nothing at first sight, an empty text where it may be."""
    spoken = [number for number, turn in enumerate(reading.turns) if turn.text]
    asked = [number for number in spoken if reading.turns[number].role == USER]
    if not spoken or not asked:
        return EMPTY
    if set(asked) <= reading.waves:
        texts = [reading.turns[number].text for number in asked]
        return SMALL_TALK if len(texts) == 1 and not reading.edits else APPROVAL
    if _is_raw_log(reading, asked):
        return RAW_LOG
    return ""


def _is_raw_log(reading: Reading, asked: list[int]) -> bool:
    total = sum(len(reading.turns[number].text) for number in asked)
    logged = sum(
        len(line)
        for number in asked
        for line in (
            *reading.blocks[number].logged,
            *(code.text for code in reading.blocks[number].codes),
        )
    )
    words = reading.words(USER)
    return (
        total > 200
        and logged > _SHARE_OF_LOGS * total
        and words < _WORDS_BESIDE_LOGS
        and (not reading.edits and not any(each.signals.outcome for each in _statements(reading)))
    )


def _reason(reading: Reading, score: int, missing: tuple[str, ...]) -> str:
    if "problem" in missing:
        is_long = reading.words(USER) + reading.words(ASSISTANT) > 4 * LEAST_WORDS
        return NO_PROBLEM if is_long else SMALL_TALK
    if "outcome" in missing:
        return NO_OUTCOME
    if "reuse" in missing:
        return NOTHING_REUSABLE
    if reading.words(ASSISTANT) < LEAST_WORDS and not reading.codes:
        return TOO_THIN
    turns = len({each.turn for each in reading.said_by(USER)})
    least = LEAST_SCORE_OF_ONE_TURN if turns < 2 and not reading.edits else LEAST_SCORE
    return ACCEPTED if score >= least else NOTHING_REUSABLE


def _statements(reading: Reading) -> list[Sentence]:
    """Return the sentences in which an assistant states something."""
    return [
        each
        for each in reading.said_by(ASSISTANT)
        if not each.signals.is_question
        and not each.signals.is_plan
        and words_of([each.text]) >= _WORDS_OF_STATEMENT
    ]


def _problem(reading: Reading) -> int:
    """Points, 30 at most, for what a user wants solved or made."""
    best = 0
    for each in reading.said_by(USER):
        signals = each.signals
        words = words_of([each.text])
        points = 10 * signals.problem + 6 * min(signals.request, 1) + 3 * signals.details
        if words < 3 or not (signals.problem or signals.request):
            continue
        is_vague = not signals.problem and not signals.details and words < 9
        best = max(best, 0 if is_vague else points)
    words = reading.words(USER)
    is_told = words >= _WORDS_OF_REPORT and any(
        each.signals.details for each in reading.said_by(USER)
    )
    if not best and (is_told or (reading.edits and words >= _WORDS_OF_STATEMENT)):
        best = 10
    if reading.error_signatures and reading.words(USER) >= _WORDS_OF_STATEMENT:
        best += 10
    return min(best, 30)


def _process(reading: Reading) -> int:
    """Points, 15 at most, for how it was worked out."""
    causes = sum(each.signals.cause > 0 for each in _statements(reading))
    turns = len({each.turn for each in reading.said_by(USER)})
    return min(5 * min(causes, 2) + 2 * min(max(turns - 1, 0), 2) + 3 * bool(reading.edits), 15)


def _outcome(reading: Reading) -> int:
    """Points, 30 at most, for how it ended."""
    stated = [
        each
        for each in _statements(reading)
        if each.signals.outcome or (each.after_edit and each.leads)
    ]
    telling = [
        each
        for each in stated
        if each.signals.details or each.after_edit or each.signals.outcome > 1
    ]
    points = 12 * bool(stated) + 6 * bool(telling) + 10 * bool(reading.edits)
    if points and _is_confirmed(reading):
        points += 8
    if not points and _is_answered(reading):
        points = 12
    return 0 if _ends_unsolved(reading) else min(points, 30)


def _is_confirmed(reading: Reading) -> bool:
    """Tell whether a user, after an assistant explained something, says that it is good."""
    has_explained = False
    for number, turn in enumerate(reading.turns):
        if turn.role == ASSISTANT:
            has_explained = has_explained or words_of([turn.text]) >= LEAST_WORDS
        elif has_explained and number > 0 and turn.text and confirms(turn.text):
            return True
    return False


def _is_answered(reading: Reading) -> bool:
    """Tell whether a question got an answer in code or at length, with its reasons."""
    reasons = sum(
        bool(each.signals.cause or each.signals.decision or each.signals.lesson)
        for each in _statements(reading)
    )
    by_code = any(reading.turns[turn].role == ASSISTANT for turn, _ in reading.codes)
    return reasons >= 2 or (by_code and reasons >= 1)


def _ends_unsolved(reading: Reading) -> bool:
    """Tell whether the last word was a denial, with nothing done after it."""
    last = [each for each in reading.sentences if each.turn >= len(reading.turns) - 2]
    denies = any(each.signals.is_denial for each in last)
    solves = any(
        each.signals.outcome or (each.after_edit and each.leads)
        for each in last
        if each.role == ASSISTANT
    )
    is_confirmed = any(
        confirms(turn.text) for turn in reading.turns[-1:] if turn.role == USER and turn.text
    )
    return denies and not solves and not is_confirmed


def _reuse(reading: Reading) -> int:
    """Points, 25 at most, for what helps somebody else; a mere change of files is none."""
    statements = _statements(reading)
    kinds = (
        (8, any(each.signals.cause for each in statements)),
        (5, any(each.signals.decision for each in statements)),
        (5, any(each.signals.lesson for each in statements)),
        (8, any(reading.turns[turn].role == ASSISTANT for turn, _ in reading.codes)),
        (6, bool(reading.error_signatures)),
    )
    points = sum(worth for worth, holds in kinds if holds)
    if points:
        is_concrete = any(each.signals.outcome and each.signals.details for each in statements)
        points += 8 * bool(reading.edits) + 6 * is_concrete
    return min(points, 25)
