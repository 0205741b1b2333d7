"""Which note a person means by a reference: a path, a title, a slug, or the end of one.

Owns the order of the steps (notebrain.md). Pure; ids are tried before, where notes are stored.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from app.markdown.names import slug

SUFFIX = ".md"


@dataclass(frozen=True, slots=True)
class Referable:
    """A note by what a reference may call it; ``slug`` falls back on that of path or title."""

    note_id: int
    title: str
    path: str | None = None
    slug: str | None = None

    @property
    def known_as(self) -> str:
        """The slug that the end of a reference is compared with."""
        return self.slug or slug(self.path or self.title)


@dataclass(frozen=True, slots=True)
class Resolved:
    """The notes that a reference means: one, none, or the candidates among which to choose."""

    candidates: tuple[Referable, ...]

    @property
    def note_id(self) -> int | None:
        """The one note that is meant, None when there is none or a choice."""
        return self.candidates[0].note_id if len(self.candidates) == 1 else None


@dataclass(frozen=True, slots=True)
class _Wanted:
    text: str
    slug: str

    def is_path(self, note: Referable) -> bool:
        path = _comparable(note.path or "")
        ways = (self.text, self.text + SUFFIX)
        return path in ways or path.endswith(tuple(f"/{way}" for way in ways))

    def is_title(self, note: Referable) -> bool:
        return _comparable(note.title) == self.text

    def is_slug(self, note: Referable) -> bool:
        return bool(self.slug) and note.known_as == self.slug

    def is_end_of_slug(self, note: Referable) -> bool:
        return bool(self.slug) and note.known_as.endswith(self.slug)


def resolve(reference: str, notes: Iterable[Referable]) -> Resolved:
    """Find what a reference means, without case and blanks around; blank ones mean nothing.

    A note counts at the first of title, path, slug, end of slug that it matches. Then path, title,
    slug and end of slug are tried in this order, and the first with exactly one note decides;
    where none has, all that matched are candidates.
    """
    wanted = _Wanted(_comparable(reference), slug(reference))
    by_path: list[Referable] = []
    by_title: list[Referable] = []
    by_slug: list[Referable] = []
    by_end: list[Referable] = []
    if wanted.text:
        for note in notes:
            if wanted.is_title(note):
                by_title.append(note)
            elif wanted.is_path(note):
                by_path.append(note)
            elif wanted.is_slug(note):
                by_slug.append(note)
            elif wanted.is_end_of_slug(note):
                by_end.append(note)
    steps = (by_path, by_title, by_slug, by_end)
    decided = next((step for step in steps if len(step) == 1), None)
    found = decided or [note for step in steps for note in step]
    return Resolved(tuple(sorted(found, key=_order)))


def _order(note: Referable) -> tuple[str, str, int]:
    return note.known_as, note.path or "", note.note_id


def _comparable(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip()).casefold()
