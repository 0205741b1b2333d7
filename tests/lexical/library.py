"""Small collections for tests."""

from __future__ import annotations

from collections.abc import Iterable

from app.lexical.documents import KIND_ROOT, LexicalDocument, count_terms
from app.lexical.index import LexicalIndex


def document(
    document_id: int, note_id: int | None = None, kind: str = KIND_ROOT, **texts: str | list[str]
) -> LexicalDocument:
    """A document of texts by field; of the note with its own id unless another is named."""
    owner = document_id if note_id is None else note_id
    return LexicalDocument(document_id, kind, owner, count_terms(texts))


def contents(*texts: str) -> LexicalIndex:
    """An index of notes 1, 2, … with these contents."""
    return LexicalIndex.loaded(
        document(number, content=text) for number, text in enumerate(texts, start=1)
    )


def found(index: LexicalIndex, text: str, limit: int = 10) -> list[int]:
    """The ids of the notes that a text finds, best first."""
    return [hit.id for hit in index.search(text, limit)]


def merged(index: LexicalIndex) -> LexicalIndex:
    """An index with all merges done."""
    while (merge := index.merge()) is not None:
        index = index.adopt(merge)
    return index


def fresh(documents: Iterable[LexicalDocument]) -> LexicalIndex:
    """An index built at once."""
    return LexicalIndex.loaded(sorted(documents, key=lambda each: each.id))
