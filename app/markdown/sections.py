"""Sections of a Markdown text: what stands under each heading.

Owns how headings nest, and that front matter belongs to no section. Must not read the front
matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from app.markdown.blocks import Heading, headings, lines
from app.text import is_blank

_FRONT_MATTER_MARK = "---"
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the text below it, up to the next heading of whatever level.

    ``heading_path`` has the texts of the headings around it from the outermost, its own last;
    inline Markdown in them stays. ``start``, ``content_start`` (behind the heading's lines) and
    ``end`` (exclusive) count code points of the whole text, ``text`` is what lies between
    ``start`` and ``end``. Text before the first heading has level 0 and an empty path.
    """

    heading_path: tuple[str, ...]
    level: int
    start: int
    content_start: int
    end: int
    text: str


def sections(text: str) -> tuple[Section, ...]:
    """Split a text at every heading of the document, however short what lies between.

    The sections follow one another without a gap, to the end of the text. What precedes them is
    front matter, or blank.
    """
    start = start_of_body(text)
    found = list(headings(text, start))
    ends = [heading.start for heading in found] + [len(text)]
    result = []
    if not is_blank(text[start : ends[0]]):
        result.append(Section((), 0, start, start, ends[0], text[start : ends[0]]))
    for (path, heading), end in zip(_with_paths(found), ends[1:], strict=True):
        extent = text[heading.start : end]
        result.append(Section(path, heading.level, heading.start, heading.end, end, extent))
    return tuple(result)


def _with_paths(found: list[Heading]) -> Iterator[tuple[tuple[str, ...], Heading]]:
    around: list[Heading] = []
    for heading in found:
        around = [*(outer for outer in around if outer.level < heading.level), heading]
        yield tuple([each.text for each in around]), heading


def start_of_body(text: str) -> int:
    """Return where the text behind front matter and byte order mark begins."""
    start = len(_BYTE_ORDER_MARK) if text.startswith(_BYTE_ORDER_MARK) else 0
    for number, line in enumerate(lines(text, start)):
        is_mark = line.text.rstrip(" \t") == _FRONT_MATTER_MARK
        if number == 0 and not is_mark:
            return start
        if number > 0 and is_mark:
            return line.end
    return start
