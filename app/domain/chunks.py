"""Chunks: the pieces of a note that are embedded."""

from __future__ import annotations

from dataclasses import dataclass

KIND_CHUNK = "chunk"
"""The pieces that the original has too; the only kind that its ranker sees."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a note's text, in the order of the text."""

    index: int
    text: str
    kind: str = KIND_CHUNK
    heading_path: str | None = None
    start: int | None = None
    end: int | None = None
