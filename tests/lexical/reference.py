"""BM25 over notes in plain Python, one note and one term at a time, as the pages define it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from app.lexical.documents import LexicalDocument
from app.lexical.function_words import is_function_word
from app.lexical.segmentation import pieces

WEIGHTS = {"title": 2.0, "aliases": 1.8, "tags": 1.5, "path": 1.2, "content": 1.0}
IDENTITY = ("title", "aliases", "tags", "path")
CONTENT = ("content",)


@dataclass(frozen=True)
class Scored:
    """A note's scores and coverage."""

    identity: float
    content: float
    coverage: float

    @property
    def score(self) -> float:
        return max(self.identity, self.content)


Note = Mapping[str, Mapping[str, int]]


def notes_of(documents: Iterable[LexicalDocument]) -> Mapping[int, Note]:
    """Sum the documents of each note."""
    notes: dict[int, dict[str, dict[str, int]]] = {}
    for document in documents:
        if document.note_id is None:
            continue
        note = notes.setdefault(document.note_id, defaultdict(lambda: defaultdict(int)))
        for field, counts in document.fields.items():
            for term, count in counts.items():
                note[field][term] += count
    return notes


@cache
def edits(left: str, right: str) -> int:
    """Optimal string alignment distance."""
    rows = [list(range(len(right) + 1))]
    for i, a in enumerate(left, start=1):
        rows.append([i])
        for j, b in enumerate(right, start=1):
            best = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a != b))
            if i > 1 and j > 1 and (a, left[i - 2]) == (right[j - 2], b):
                best = min(best, rows[i - 2][j - 2] + 1)
            rows[i].append(best)
    return rows[-1][-1]


def is_lettered(word: str) -> bool:
    """Tell whether a word of these tests may be misspelt."""
    return word.isascii() and not any(map(str.isdigit, word))


def expansions(word: str, vocabulary: Iterable[str], asked: set[str]) -> dict[str, float]:
    """The terms that count for an English word, with their weights."""
    others = sorted(set(vocabulary) - asked)
    longer = [term for term in others if term.startswith(word) and len(word) >= 2]
    longer = sorted(longer, key=lambda term: (len(term), term))[:20]
    near = []
    if is_lettered(word):
        distances = [(edits(word, term), term) for term in others if is_lettered(term)]
        near = [pair for pair in sorted(distances) if pair[0] <= round(0.2 * len(word))][:20]
    weights = {term: 0.45 * len(term) / (len(term) + distance) for distance, term in near}
    for term in longer:
        weights[term] = 0.375 * len(term) / (len(term) + 0.3 * (len(term) - len(word)))
    best = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))[:20]
    return dict(best)


def search(documents: Iterable[LexicalDocument], text: str) -> dict[int, Scored]:
    """Score every note that holds a word of the text; English and Han words of two or more."""
    notes = notes_of(documents)
    asked = {piece.token: piece.is_part for piece in pieces(text)}
    asked = {token: part for token, part in asked.items() if not is_function_word(token)}
    having: dict[str, int] = defaultdict(int)
    for note in notes.values():
        for term in {term for counts in note.values() for term in counts}:
            having[term] += 1
    averages = {field: average(field, notes) for field in WEIGHTS}

    def idf(term: str) -> float:
        return math.log(1 + (len(notes) - having[term] + 0.5) / (having[term] + 0.5))

    def worth(term: str, note: Note, fields: Iterable[str]) -> float:
        total = 0.0
        for field in fields:
            counts = note.get(field, {})
            norm = 0.25 + 0.75 * sum(counts.values()) / averages[field]
            total += WEIGHTS[field] * counts.get(term, 0) / norm
        return 2.2 * total / (1.2 + total)

    scored = {}
    for note_id, note in notes.items():
        identity = content = covered = 0.0
        held = {term for counts in note.values() for term in counts}
        for token, is_part in asked.items():
            weights = {token: 1.0}
            if token.isascii() and not is_part:
                weights |= expansions(token, [term for term in having if having[term]], set(asked))
            most = idf(token) if having[token] else math.inf
            factors = {term: weight * min(idf(term), most) for term, weight in weights.items()}
            identity += max(factors[term] * worth(term, note, IDENTITY) for term in weights)
            content += max(factors[term] * worth(term, note, CONTENT) for term in weights)
            covered += idf(token) * max(weights[term] * (term in held) for term in weights)
        if max(identity, content) > 0:
            total = sum(idf(token) for token in asked)
            scored[note_id] = Scored(identity, content, covered / total)
    return scored


def average(field: str, notes: Mapping[int, Note]) -> float:
    """The mean length of a field over the notes that have it."""
    lengths = [sum(note.get(field, {}).values()) for note in notes.values()]
    filled = [length for length in lengths if length]
    return sum(filled) / len(filled) if filled else 1.0
