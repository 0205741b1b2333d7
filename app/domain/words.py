"""Lexical documents as they are stored."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What words are found in; ``postings`` is the stored form that the lexical layer reads."""

    id: int
    kind: str
    note_id: int | None
    postings: str
