"""What a sentence states: a problem, a cause, a decision, an outcome, a lesson.

Owns how the cues of ``app.distill.cues`` are counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.distill import cues
from app.text import HAN_RUN, has_han

MOST_COUNTED = 2
LONGEST_PHRASE = 3
LONGEST_WAVE = 80
LONGEST_POINTER = 9

_TOKEN = re.compile(r"[A-Za-z0-9][\w'-]*")
_QUESTION = re.compile(r"[?？]\s*[)）”\"']*$|[吗呢么]\s*[。？]?$")
_PLAN = re.compile(
    r"^(?:(?:ok|okay|sure|right|good|great|alright|first|next|then|so|hmm|yes|got it|understood)"
    r"[,.! ]+)*(?:let me\b|let['’]s (?:look|see|check|first|start)|i['’]ll\b|i will\b|"
    r"i['’]?m going to|(?:looking|checking|reading|searching) |one moment|"
    r"going to|give me|i need to|i want to see)"
    r"|^(?:好的?|嗯|行|明白|收到|没问题)?[，,。！ ]*"
    r"(?:让我|我先|先来?看|我来|我去|我再|我看|正在|稍等|下面我)",
    re.IGNORECASE,
)
_DETAIL = re.compile(r"`[^`]+`|\b\w+[._/]\w+|\b[a-z]+[A-Z]\w+|\b[A-Z]{3,}\b|\d")
_MARKS = re.compile(r"[^\w\u3400-\u9fff]+")


@dataclass(frozen=True, slots=True)
class Signals:
    """How many cues of each kind a sentence has, two at most; ``details`` are names and numbers."""

    problem: int = 0
    request: int = 0
    cause: int = 0
    decision: int = 0
    outcome: int = 0
    lesson: int = 0
    details: int = 0
    is_question: bool = False
    is_plan: bool = False
    is_denial: bool = False


def signals_of(text: str) -> Signals:
    """Read the cues of a sentence."""
    tokens = _tokens(text)
    phrases = _phrases(tokens)
    is_han = has_han(text)

    def count(words: frozenset[str], han: Sequence[str]) -> int:
        found = len(phrases & words)
        if is_han and found < MOST_COUNTED:
            found += sum(cue in text for cue in han)
        return min(found, MOST_COUNTED)

    is_question = _QUESTION.search(text) is not None
    is_plan = _PLAN.match(text) is not None
    is_denial = count(cues.DENIAL, cues.DENIAL_HAN) > 0
    states = not is_question
    is_told = states and not is_plan and not is_denial and not cues.HYPOTHETICAL & phrases
    done = count(cues.OUTCOME, cues.OUTCOME_HAN) + _deeds(tokens)
    return Signals(
        problem=count(cues.PROBLEM, cues.PROBLEM_HAN),
        request=count(cues.REQUEST, cues.REQUEST_HAN),
        cause=count(cues.CAUSE, cues.CAUSE_HAN) if states and not is_plan else 0,
        decision=count(cues.DECISION, cues.DECISION_HAN) if states else 0,
        outcome=min(done, MOST_COUNTED) if is_told else 0,
        lesson=count(cues.LESSON, cues.LESSON_HAN) if states else 0,
        details=min(len(_DETAIL.findall(text)), 4),
        is_question=is_question,
        is_plan=is_plan,
        is_denial=is_denial,
    )


def _tokens(text: str) -> list[str]:
    return [token.lower() for token in _TOKEN.findall(text.replace("’", "'"))]


def _phrases(tokens: Sequence[str]) -> set[str]:
    found = set(tokens)
    for size in range(2, LONGEST_PHRASE + 1):
        found.update(
            "_".join(tokens[start : start + size]) for start in range(len(tokens) - size + 1)
        )
    return found


def _deeds(tokens: Sequence[str]) -> int:
    """Count what is told as done: a verb of doing after one who did it, or at the beginning."""
    count = 0
    for place, token in enumerate(tokens):
        if token not in cues.DONE:
            continue
        before = [other for other in tokens[max(0, place - 3) : place] if other not in cues.ADVERBS]
        if (not before and place <= 1) or (before and before[-1] in cues.DOERS):
            count += 1
    is_gerund = len(tokens) > 3 and tokens[0].endswith("ing") and tokens[0] not in cues.LOOKING
    return count + is_gerund


def role_of_heading(heading: str) -> str:
    """Return what the sentences under a heading state, an empty text for any other heading."""
    folded = heading.lower().replace(" ", "_")
    for role, parts in cues.HEADINGS:
        if any(part in folded for part in parts):
            return role
    return ""


def is_pointer(text: str) -> bool:
    """Tell whether a short sentence only says that the cause comes next."""
    if words_of([text]) > LONGEST_POINTER:
        return False
    is_pointing = bool(_phrases(_tokens(text)) & cues.POINTERS)
    return is_pointing or any(cue in text for cue in cues.POINTERS_HAN)


def is_wave(text: str) -> bool:
    """Tell whether a text only greets, agrees, thanks or waves on."""
    if len(text) > LONGEST_WAVE:
        return False
    if any(token not in cues.WAVES for token in _tokens(text)):
        return False
    rest = "".join(HAN_RUN.findall(text))
    for wave in cues.WAVES_HAN:
        rest = rest.replace(wave, "")
    return not rest


def confirms(text: str) -> bool:
    """Tell whether a user's turn says that what was done is good."""
    head = text[:400]
    phrases = _phrases(_tokens(head))
    if phrases & cues.DENIAL or any(cue in head for cue in cues.DENIAL_HAN):
        return False
    return bool(phrases & cues.CONFIRMATION) or any(cue in head for cue in cues.CONFIRMATION_HAN)


def words_of(texts: Iterable[str]) -> int:
    """Count words: those of letters, and two Han characters as one."""
    total = 0
    for text in texts:
        han = sum(len(run) for run in HAN_RUN.findall(text))
        total += len(_TOKEN.findall(text)) + han // 2
    return total
