"""Tags as a list: how they are ordered, which ones a pattern leaves, and what lies below each.

Owns the rules of the listing. Names come normalised where they are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

SEPARATOR = "/"


class TagUse(NamedTuple):
    """A tag's name and how many notes have it."""

    name: str
    notes: int


def by_use(tags: Iterable[TagUse]) -> list[TagUse]:
    """Order tags by how often they are used, most first, then by name."""
    return sorted(tags, key=lambda tag: (-tag.notes, tag.name))


def children(parent: str, tags: Iterable[TagUse]) -> list[TagUse]:
    """Return the tags that are nested in another one, at any depth, by use."""
    prefix = parent + SEPARATOR
    return by_use(tag for tag in tags if tag.name.startswith(prefix))


def chosen(tags: Iterable[TagUse], prefix: str = "", part: str = "") -> Sequence[TagUse]:
    """Return the tags whose names begin with ``prefix`` and hold ``part``, by use; without case."""
    begin, inside = prefix.casefold(), part.casefold()
    return by_use(
        tag
        for tag in tags
        if tag.name.casefold().startswith(begin) and inside in tag.name.casefold()
    )
