"""The title of a note: the tool's own name for the session, or the first real request.

Owns when a name says something.
"""

from __future__ import annotations

import re

from app.distill.reading import Reading
from app.distill.signals import signals_of, words_of
from app.distill.turns import USER
from app.text import HAN_RUN, has_han

LONGEST_TITLE = 80
LONGEST_HAN_TITLE = 40

_WORTH_OF_A_BEGINNING = 1.0
"""People say first what it is about; what comes behind it is often pasted."""

_NAMELESS = re.compile(
    r"^(?:untitled|new (?:chat|conversation|session|composer|agent)|chat|conversation|session|"
    r"未命名|新(?:对话|会话|聊天)|闲聊|无标题|默认会话)[\s\d#-]*$",
    re.IGNORECASE,
)
_SLUG = re.compile(r"^[a-z0-9]+(?:[-_][a-z0-9]+)+$")
_WORD = re.compile(r"[A-Za-z0-9]{3,}")
_LEAD = re.compile(
    r"^(?:(?:hi|hello|hey|ok|okay|so|please|well|thanks)\b[ ,.!]*"
    r"|(?:你好|您好|请问|麻烦|请)[，,。！! ]*)+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[,;:](?=\s)|[，；：、。]| - | – | — | (?:and|but|because|when|while|which|so|after) "
)


def title_of(reading: Reading) -> str:
    """Return the title of a conversation's note, of at most 80 characters."""
    name = reading.transcript.name.strip()
    if name and _says_something(name, reading):
        shown = name.replace("-", " ").replace("_", " ") if _SLUG.match(name) else name
        return _short(shown[:1].upper() + shown[1:])
    return _short(_request(reading)) or "Conversation"


def _says_something(name: str, reading: Reading) -> bool:
    """Tell a name that speaks of the conversation from one that was made up."""
    if _NAMELESS.match(name):
        return False
    if not _SLUG.match(name):
        return words_of([name]) > 0 and not re.fullmatch(r"[0-9a-f-]{8,}", name)
    text = "\n".join(turn.text for turn in reading.turns).lower()
    words = _WORD.findall(name.lower())
    return bool(words) and sum(word in text for word in words) * 2 >= len(words)


def _request(reading: Reading) -> str:
    """Return the sentence of the first real request that says most of what it is about."""
    asked = [each for each in reading.said_by(USER) if each.turn == reading.first_request]
    if not asked:
        return next((turn.text for turn in reading.turns if turn.text), "")

    def worth(place: int) -> tuple[float, int]:
        signals = asked[place].signals
        size = min(words_of([asked[place].text]), 12) / 12
        said = min(signals.problem, 1) + 0.5 * signals.request + 0.1 * signals.details + size
        return said - place, -place

    best = max(range(min(len(asked), 4)), key=worth)
    return asked[best].text


def _short(text: str) -> str:
    """Return a text as a title: without a greeting, cut where a clause ends."""
    text = re.sub(r"\s+", " ", _LEAD.sub("", text.strip())).strip("`*#\"' ")
    longest = LONGEST_HAN_TITLE if _is_mostly_han(text) else LONGEST_TITLE
    if len(text) > longest:
        text = _clause(text, longest)
    text = text.rstrip(".。!！:：,，;； ")
    if text.count("`") % 2:
        text = text.replace("`", "")
    return text[:1].upper() + text[1:]


def _clause(text: str, longest: int) -> str:
    """Return the part of a long text that tells most, of those that a clause begins or ends."""
    marks = [match.span() for match in _CLAUSE.finditer(text)]
    heads = [text[:start].strip() for start, _ in marks]
    parts = [*heads, *(text[end:].strip() for _, end in marks)]
    fitting = [part for part in parts if _least(part, longest) < len(part) <= longest]
    if not fitting:
        return text[:longest].rsplit(" ", 1)[0] + "…"

    def worth(place: int) -> tuple[float, int]:
        signals = signals_of(fitting[place])
        begins = _WORTH_OF_A_BEGINNING * (fitting[place] in heads)
        size = len(fitting[place]) / longest
        return min(signals.problem, 1) + 0.2 * signals.details + size + begins, -place

    return fitting[max(range(len(fitting)), key=worth)]


def _least(part: str, longest: int) -> int:
    """Return the length that a part must exceed; Han says the same in fewer characters."""
    return longest // (6 if has_han(part) else 3)


def _is_mostly_han(text: str) -> bool:
    return sum(len(run) for run in HAN_RUN.findall(text)) * 2 > len(text)
