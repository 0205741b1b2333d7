"""Chunks: the pieces of a note that are embedded."""

from __future__ import annotations

from dataclasses import dataclass

KIND_CHUNK = "chunk"
"""The pieces that the original has too; the only kind that its ranker sees."""

KIND_WHOLE = "whole"
"""Title, summary and conclusions together; one a note."""

KIND_FIELD = "field"
"""Title, summary and conclusions one by one, numbered in this order."""

COMPANION_KINDS = (KIND_WHOLE, KIND_FIELD)
"""Kinds that are filled in after the chunks."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a note's text, in the order of the text."""

    index: int
    text: str
    kind: str = KIND_CHUNK
    heading_path: str | None = None
    start: int | None = None
    end: int | None = None
