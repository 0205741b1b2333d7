"""Embedding spaces: which model made a vector, and how its cosines are to be read."""

from __future__ import annotations

from dataclasses import dataclass

PLAIN_BORDER = 0.58
"""The border at which a cosine is a raw score as it stands (search.md, stage 3)."""


@dataclass(frozen=True, slots=True)
class SpaceMeans:
    """Mean vectors of a space, float32 bytes of ``dimension`` each, for centring."""

    query: bytes
    query_han: bytes
    passage: bytes
    passage_han: bytes


@dataclass(frozen=True, slots=True)
class SpaceSpec:
    """What a provider says of the space that its vectors live in.

    ``dimension`` is None until the first answer of a remote provider shows it.
    ``max_chars`` is the longest text that the model takes, in characters. ``variant`` tells apart
    what bears one model's name and makes other vectors; a provider does not know it.
    """

    provider: str
    model: str
    dimension: int | None
    max_chars: int
    border: float = PLAIN_BORDER
    means: SpaceMeans | None = None
    variant: int = 0


@dataclass(frozen=True, slots=True)
class Space:
    """A stored space."""

    id: int
    spec: SpaceSpec
    active: bool
    created_at: str
