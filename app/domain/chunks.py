"""Chunks: the pieces of a note that are embedded."""

from __future__ import annotations

from dataclasses import dataclass

KIND_CHUNK = "chunk"
"""The pieces that the original has too; the only kind that its ranker sees."""

KIND_WHOLE = "whole"
"""Title, summary and conclusions together; one a note."""

KIND_FIELD = "field"
"""Title, summary and conclusions one by one, numbered in this order."""

KIND_ENTITY = "entity"
"""The name of a tag, file touched or error signature; belongs to no note."""

COMPANION_KINDS = (KIND_WHOLE, KIND_FIELD)
"""Kinds that are filled in after the chunks."""

SECOND_WHOLE = "second:whole"
"""Whole notes as the second model sees them; the name of an index, not a stored kind."""

SECOND_FIELD = "second:field"
"""Fields as the second model sees them."""

SECOND_PARTS = {SECOND_WHOLE: KIND_WHOLE, SECOND_FIELD: KIND_FIELD}
"""The indexes of the second space, with the kind that each holds."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a note's text, in the order of the text."""

    index: int
    text: str
    kind: str = KIND_CHUNK
    heading_path: str | None = None
    start: int | None = None
    end: int | None = None
