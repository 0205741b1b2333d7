"""What the index is made of: documents, their fields, and the form in which they are stored.

Owns the list of fields and the encoding of postings. Must not know how scores are made of them.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.lexical.function_words import is_function_word
from app.lexical.segmentation import token_counts

TITLE = "title"
ALIASES = "aliases"
TAGS = "tags"
PATH = "path"
CONTENT = "content"
FIELDS = (TITLE, ALIASES, TAGS, PATH, CONTENT)
"""Stored postings name a field by its place here, so a new one goes to the end."""

KIND_ROOT = "root"
KIND_CHUNK = "chunk"
KIND_ENTITY = "entity"
KIND_MESSAGE = "message"
KINDS = (KIND_ROOT, KIND_CHUNK, KIND_ENTITY, KIND_MESSAGE)

LARGEST_COUNT = 65_535
"""More occurrences of a term than this are not told apart: its score is saturated long before."""

Counts = Mapping[str, int]
Fields = Mapping[str, Counts]


@dataclass(frozen=True, slots=True)
class LexicalDocument:
    """What words are found in: a root, chunk, entity or message.

    ``note_id`` is the note that it belongs to, None for an entity. ``fields`` maps a field to how
    often each term stands in it.
    """

    id: int
    kind: str
    note_id: int | None
    fields: Fields


def count_terms(texts: Mapping[str, str | Iterable[str]]) -> dict[str, dict[str, int]]:
    """Count the terms of a document's texts by field; function words are left out.

    A field may have several texts (tags, aliases): nothing is found across their borders. Fields
    without a term are left out.

    Raises:
        KeyError: a field that does not exist.
    """
    counted: dict[str, dict[str, int]] = {}
    for field in sorted(texts, key=_NUMBER_OF.__getitem__):
        text = texts[field]
        counts = token_counts(*([text] if isinstance(text, str) else text))
        kept = {
            term: min(count, LARGEST_COUNT)
            for term, count in sorted(counts.items())
            if not is_function_word(term)
        }
        if kept:
            counted[field] = kept
    return counted


def postings_of(texts: Mapping[str, str | Iterable[str]]) -> str:
    """Return the stored form of a document's texts: ``encode(count_terms(texts))``."""
    return encode(count_terms(texts))


def encode(fields: Fields) -> str:
    """Write postings as JSON: arrays of terms, of field numbers and of counts, side by side.

    The same counts give the same text, whatever their order.
    """
    rows = sorted(
        (_NUMBER_OF[field], term, count)
        for field, counts in fields.items()
        for term, count in counts.items()
    )
    columns = [[term for _, term, _ in rows], [row[0] for row in rows], [row[2] for row in rows]]
    return json.dumps(columns, ensure_ascii=False, separators=(",", ":"))


def decode(postings: str) -> dict[str, dict[str, int]]:
    """Read what ``encode`` wrote.

    Raises:
        ValueError: the text is no such form.
    """
    try:
        terms, numbers, counts = json.loads(postings)
        _check(terms, numbers, counts)
        fields = {}
        end = 0
        while end < len(numbers):
            start, end = end, bisect_right(numbers, numbers[end])
            pairs = zip(terms[start:end], counts[start:end], strict=True)
            fields[FIELDS[numbers[start]]] = dict(pairs)
    except (ValueError, TypeError) as error:
        raise ValueError("Stored postings are damaged") from error
    return fields


def _check(terms: list[str], numbers: list[int], counts: list[int]) -> None:
    """Raise ValueError or TypeError unless these are columns as ``encode`` writes them."""
    if not len(terms) == len(numbers) == len(counts):
        raise ValueError("columns of different lengths")
    if set(map(type, terms)) | {str} != {str} or set(map(type, numbers + counts)) | {int} != {int}:
        raise TypeError("values of other types")
    if not set(numbers) <= _NUMBERS or numbers != sorted(numbers):
        raise ValueError("fields that do not exist, or out of order")
    if len(set(zip(numbers, terms, strict=True))) < len(terms):
        raise ValueError("a term twice in a field")
    if counts and (min(counts) < 1 or max(counts) > LARGEST_COUNT):
        raise ValueError("counts out of range")


_NUMBER_OF = {field: number for number, field in enumerate(FIELDS)}
_NUMBERS = frozenset(_NUMBER_OF.values())
