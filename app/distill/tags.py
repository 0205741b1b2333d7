"""Tags of a conversation: languages, frameworks, identifiers.

Owns how they are counted and which are kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from app.distill.vocabulary import FRAMEWORKS, LANGUAGES, MINOR_LANGUAGES, SPOKEN

MOST_TAGS = 8
MOST_LANGUAGES = 2
MOST_FRAMEWORKS = 5
MOST_IDENTIFIERS = 2
SAID_WEIGHT = 3
"""What a word that was said weighs beside one that a tool was given or answered."""

_LANGUAGE_OF = {label: name for name, labels in LANGUAGES.items() for label in labels.split()}
_TOKEN = re.compile(r"[@.]?[A-Za-z][\w+#]*(?:[./-][\w+#]+)*")
_PARTS = re.compile(r"[./_-]+")
_IDENTIFIER = re.compile(
    r"`([A-Za-z_$][\w$]*(?:[.:]{1,2}[A-Za-z_$][\w$]*)*)(?:\(\))?`"
    r"|\b([a-z]+[a-z0-9]*(?:[A-Z][a-z0-9]+)+|[a-z][a-z0-9]+(?:_[a-z0-9]+)+"
    r"|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[A-Z][A-Z0-9]*_[A-Z0-9_]+)\b"
)
_COMMON = frozenset(
    [
        "true",
        "false",
        "null",
        "none",
        "self",
        "this",
        "name",
        "value",
        "data",
        "error",
        "string",
        "number",
    ]
)


def _spellings(table: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return name by spelling, of one word or several in ASCII, and in Han."""
    pairs = [(word, name) for name, words in table.items() for word in words.split()]
    ascii_ = {word.replace("_", " "): name for word, name in pairs if word.isascii()}
    return ascii_, {word: name for word, name in pairs if not word.isascii()}


_SPOKEN, _ = _spellings(SPOKEN)
_FRAMEWORKS, _FRAMEWORKS_HAN = _spellings(FRAMEWORKS)


def language_of_label(label: str) -> str:
    """Return the language that a code block's label or a file's extension means, or nothing."""
    return _LANGUAGE_OF.get(label.lower(), "")


def identifiers_in(text: str) -> list[str]:
    """Return the names of code in a text, in order, as often as they occur."""
    found = []
    for match in _IDENTIFIER.finditer(text):
        name = match[1] or match[2]
        if 4 <= len(name) <= 60 and name.lower() not in _COMMON:
            found.append(name)
    return found


def _terms(text: str) -> Counter[str]:
    """Count the words of a text, their parts, its pairs of words, and what names are joined of."""
    words = [word.lower() for word in _TOKEN.findall(text)]
    counts = Counter(words)
    for word in words:
        parts = [part for part in _PARTS.split(word) if part]
        if len(parts) > 1:
            counts.update(parts)
        if "_" in word:
            counts[word.replace("_", " ")] += 1
    counts.update(f"{first} {second}" for first, second in pairwise(words))
    return counts


def languages_of(terms: Counter[str], labels: Iterable[str], files: Sequence[str]) -> list[str]:
    """Return the languages of a conversation, the leading ones first."""
    weights: Counter[str] = Counter()
    extensions = (file.rpartition("/")[2].rpartition(".")[2] for file in files)
    for label in (*labels, *extensions):
        if name := language_of_label(label):
            weights[name] += 3
    for spelling, name in _SPOKEN.items():
        weights[name] += min(terms[spelling], 3)
    ranked = [name for name, weight in weights.most_common() if weight]
    major = [name for name in ranked if name not in MINOR_LANGUAGES]
    return (major or ranked)[:MOST_LANGUAGES]


def frameworks_of(told: str, used: str) -> list[str]:
    """Return the frameworks and tools that a conversation speaks of, those named most first.

    What was said weighs more than what tools were given and answered.
    """
    said, seen = _terms(told), _terms(used)
    weights: Counter[str] = Counter()
    for spelling, name in _FRAMEWORKS.items():
        weights[name] += SAID_WEIGHT * said[spelling] + min(seen[spelling], SAID_WEIGHT)
    for spelling, name in _FRAMEWORKS_HAN.items():
        weights[name] += SAID_WEIGHT * told.count(spelling)
    return [name for name, weight in weights.most_common(MOST_FRAMEWORKS) if weight]


def tags_of(told: str, used: str, labels: Sequence[str], files: Sequence[str]) -> tuple[str, ...]:
    """Return the tags of a conversation: languages, frameworks, then names that recur.

    Args:
        told: What both sides said.
        used: What tools were given and answered.
        labels: The languages that blocks of code are labelled with.
    """
    languages = languages_of(_terms(told), labels, files)
    frameworks = frameworks_of("\n".join((told, *files)), used)
    counts = Counter(identifiers_in(told))
    recurring = [name for name, count in counts.most_common(MOST_IDENTIFIERS) if count > 1]
    return tuple(dict.fromkeys([*languages, *frameworks, *recurring]))[:MOST_TAGS]
