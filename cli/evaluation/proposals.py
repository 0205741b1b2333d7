"""A file of queries to begin with, from a user's own notes: `crystal eval init`.

Owns the choice of notes and of words. Pure, and the same for the same notes: no chance takes part.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cli.evaluation.probes import OFF_TOPIC, ON_TOPIC, PROBES
from cli.evaluation.queries import TODO
from cli.evaluation.values import ServedNote

EXACT = "exact"
PARAPHRASE = "paraphrase"
ANSWERS_IT = 2

TRIES = 4
"""So many notes are looked at for each exact term; not every note has one."""

SHORTEST_WORD = 4
LONGEST_SIGNATURE = 200
_ASCII_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.+#/-]*[A-Za-z0-9+#]")
_HAN_CLASS = r"[\u3400-\u4dbf\u4e00-\u9fff]"
_HAN = re.compile(_HAN_CLASS)
_HAN_RUN = re.compile(rf"(?<!{_HAN_CLASS}){_HAN_CLASS}{{3,8}}(?!{_HAN_CLASS})")
_TEXTS = ("title", "summary", "key_conclusions")


@dataclass(frozen=True, slots=True)
class Known:
    """A note with its text in lower case, and the name that the file calls it by."""

    note: ServedNote
    name: str
    text: str

    @property
    def is_chinese(self) -> bool:
        """Tell whether its title holds Han."""
        return _HAN.search(self.note.title) is not None


Line = dict[str, Any]


def proposals(notes: Iterable[ServedNote], number: int) -> list[Line]:
    """Propose lines: exact terms, stubs of paraphrases, queries that no note answers.

    Args:
        number: How many notes are chosen, and how many probes of each kind at most.
    """
    known = [_known(note) for note in sorted(notes, key=lambda note: note.id)]
    exact = [line for line in map(_Words(known).line, spread(known, TRIES * number)) if line]
    chosen = [note for note in known if note.note.title.strip()]
    chinese = sum(note.is_chinese for note in known) / len(known) if known else 0.0
    return [
        *spread(exact, number),
        *(_stub(note) for note in spread(chosen, number)),
        *_probes(known, chinese, (number + 1) // 2),
    ]


def spread(found: Sequence[Any], number: int) -> list[Any]:
    """Choose some of a row, evenly from its beginning to its end."""
    if len(found) <= number:
        return list(found)
    return [found[place * len(found) // number] for place in range(number)]


def _known(note: ServedNote) -> Known:
    parts = [str(note.item.get(name) or "") for name in _TEXTS[:2]]
    for name in ("key_conclusions", "error_signatures", "tags", "aliases"):
        parts += _texts(note.item, name)
    parts.append(str(note.item.get("body") or ""))
    return Known(note, note.external_id or note.path or str(note.id), "\n".join(parts).lower())


def _texts(item: Mapping[str, Any], name: str) -> list[str]:
    value = item.get(name)
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


class _Words:
    """The words of all notes, by how many notes hold them."""

    def __init__(self, known: Sequence[Known]) -> None:
        self._known = known
        self._counts = Counter(word.lower() for note in known for word in set(_words(note)))

    def line(self, note: Known) -> Line | None:
        """Return the line of a term that this note alone holds, None where it has none."""
        for term in self._terms(note):
            if [each.name for each in self._known if term.lower() in each.text] == [note.name]:
                return _line(term, EXACT, {note.name: ANSWERS_IT}, title=note.note.title)
        return None

    def _terms(self, note: Known) -> Iterator[str]:
        """Yield what may be such a term, the most telling first."""
        for signature in _texts(note.note.item, "error_signatures"):
            if signature.strip() and len(signature) <= LONGEST_SIGNATURE:
                yield signature.strip()
        words = list(dict.fromkeys(_words(note)))
        rare = [word for word in words if self._counts[word.lower()] == 1]
        # Of equally rare words those that look like names of things, then the longest.
        yield from sorted(rare, key=lambda word: (not _is_name(word), -len(word), word))


def _words(note: Known) -> list[str]:
    item = note.note.item
    texts = [str(item.get(name) or "") for name in _TEXTS[:2]] + _texts(item, "key_conclusions")
    text = "\n".join(texts)
    words = [word for word in _ASCII_WORD.findall(text) if len(word) >= SHORTEST_WORD]
    return words + (_HAN_RUN.findall(text) if note.is_chinese else [])


def _is_name(word: str) -> bool:
    """Tell whether a word has more than letters, or a capital inside, as identifiers do."""
    return not word.isalpha() or (word.isascii() and word[1:] != word[1:].lower())


def _stub(note: Known) -> Line:
    todo = {TODO: "Ask for this note in words that it does not use, in either language."}
    relevant = {note.name: ANSWERS_IT}
    return _line("", PARAPHRASE, relevant, **todo, title=note.note.title)


def _probes(known: Sequence[Known], chinese: float, number: int) -> Iterator[Line]:
    """Choose queries that no note can answer, in the languages of the notes."""
    for group in (ON_TOPIC, OFF_TOPIC):
        fitting = [
            probe
            for probe in PROBES
            if probe.group == group
            and not any(word in note.text for word in probe.words for note in known)
        ]
        of_chinese = round(number * chinese)
        for is_chinese, count in ((False, number - of_chinese), (True, of_chinese)):
            chosen = [probe for probe in fitting if probe.is_chinese == is_chinese]
            for probe in chosen[:count]:
                yield _line(probe.text, group, {})


def _line(query: str, group: str, relevant: Mapping[str, int], **more: str) -> Line:
    return {"query": query, "class": group, "relevant": dict(relevant), **more}
