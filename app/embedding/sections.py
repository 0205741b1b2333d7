"""The chunks of a Markdown body: its sections, each told apart by the headings around it.

Owns the layout of such a chunk, and where a section too long for the model is split. Must not read
notes or embed.

A chunk's text is ``Note: <title>``, a line with the headings around it and its own, a blank line,
and what stands below the heading::

    Note: Deploying
    Server > Certificates

    They are renewed by a timer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from app.domain.chunks import Chunk
from app.embedding.sentences import cut_point, split_sentences
from app.markdown.sections import Section, sections
from app.text import JS_WHITE_SPACE

HEADING_SEPARATOR = " > "

MOST_SECTIONS = 1_000
"""A body of more is no text with headings; a chunk for each would keep a model busy for minutes."""

_NOTE_LABEL = "Note: "
_SEPARATOR = "\n\n"
_WHITE_SPACE = JS_WHITE_SPACE + "\x1c\x1d\x1e\x1f\x85"
"""All that JavaScript and Python take for white space, so that no text is blank to one of them."""

_PARAGRAPH_BREAK = re.compile(r"\r?\n(?:[ \t]*\r?\n)+")

Extent = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Prefix:
    """What stands before the text of a section: the label, and the innermost headings that fit."""

    label: str
    headings: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(filter(None, (self.label, HEADING_SEPARATOR.join(self.headings))))


@dataclass(frozen=True, slots=True)
class _Piece:
    """A section with the names of its path, blank ones left out.

    ``is_named`` tells that the last of them is its own; ``text_start`` is where the text begins
    that does not stand in the prefix, ``has_text`` that there is some.
    """

    section: Section
    names: tuple[str, ...]
    is_named: bool
    prefix: _Prefix
    text_start: int
    has_text: bool


def body_chunks(title: str, body: str, max_chars: int, first_index: int) -> tuple[Chunk, ...]:
    """Cut a note's Markdown body into chunks, one for each section, however short (fusion.md).

    A body of more than ``MOST_SECTIONS`` is cut as if it had no headings.

    A section beyond ``max_chars`` is split at its paragraphs, then at its sentences; its parts have
    the same prefix. A heading with nothing below it but deeper headings makes no chunk, for theirs
    name it; with nothing below it at all it makes one of its prefix. A section without a visible
    character, heading included, makes none.

    The prefix takes at most half of ``max_chars``: a title too long is cut, then the outermost
    headings are left out. A heading that does not fit into its own prefix stands in the text.

    Args:
        max_chars: The longest text that the model takes, in characters; at least 1.
        first_index: The index of the first chunk.

    Returns:
        Chunks in the order of the body, of at most ``max_chars`` characters. ``heading_path`` has
        the headings joined by `` > ``, None before the first one. ``start`` and ``end`` count code
        points of the body; parts of a section follow one another without a gap.
    """
    made = [_piece(title, section, body, max_chars // 2) for section in _sections(body)]
    pieces = [piece for piece in made if piece.is_named or piece.has_text]
    chunks: list[Chunk] = []
    for piece, following in zip_longest(pieces, pieces[1:]):
        if following is not None and _is_context_of(piece, following):
            continue
        path = HEADING_SEPARATOR.join(piece.names) or None
        for text, (start, end) in _texts(piece, body, max_chars):
            index = first_index + len(chunks)
            chunks.append(Chunk(index, text, heading_path=path, start=start, end=end))
    return tuple(chunks)


def _sections(body: str) -> tuple[Section, ...]:
    found = tuple(sections(body))
    if len(found) <= MOST_SECTIONS:
        return found
    start, end = found[0].start, found[-1].end
    return (Section((), 0, start, start, end, body[start:end]),)


def _piece(title: str, section: Section, body: str, room: int) -> _Piece:
    path = [_one_line(heading) for heading in section.heading_path]
    names = tuple(filter(None, path))
    prefix = _prefix(_one_line(title), names, room)
    is_named = bool(path) and bool(path[-1])
    is_left_out = is_named and not prefix.headings
    text_start = section.start if is_left_out else section.content_start
    has_text = bool(_trimmed(body[text_start : section.end]))
    return _Piece(section, names, is_named, prefix, text_start, has_text)


def _prefix(title: str, names: tuple[str, ...], room: int) -> _Prefix:
    room -= len(_SEPARATOR)
    whole = _Prefix(_NOTE_LABEL + title if title else "", names)
    if len(str(whole)) <= room:
        return whole
    label = _label(title, room if not names else room // 2)
    kept = [_Prefix(label, names[first:]) for first in range(len(names))]
    fitting = (prefix for prefix in kept if len(str(prefix)) <= room)
    return next(fitting, _Prefix(label, ()))


def _label(title: str, room: int) -> str:
    label = _NOTE_LABEL + title
    if len(label) > room:
        label = label[: cut_point(label, room)].rstrip() if room > len(_NOTE_LABEL) else ""
    return label if title else ""


def _is_context_of(piece: _Piece, following: _Piece) -> bool:
    """Tell whether a heading without text stands in the prefix of the next chunk."""
    path, deeper = piece.section.heading_path, following.section.heading_path
    is_around = len(deeper) > len(path) and deeper[: len(path)] == path
    return not piece.has_text and is_around and following.prefix.headings == following.names


def _texts(piece: _Piece, body: str, max_chars: int) -> Iterator[tuple[str, Extent]]:
    section, prefix = piece.section, str(piece.prefix)
    if not piece.has_text:
        yield prefix, (section.start, section.end)
        return
    head = prefix + _SEPARATOR if prefix else ""
    starts = _starts_of_parts(body, piece.text_start, section.end, max_chars - len(head))
    for start, end in pairwise([*starts, section.end]):
        text = _trimmed(body[start:end]).replace("\r\n", "\n")
        yield head + text, (section.start if start == starts[0] else start, end)


def _starts_of_parts(body: str, start: int, end: int, room: int) -> list[int]:
    """Return where the parts of a text begin, each with as many paragraphs or sentences as fit."""
    if len(_trimmed(body[start:end])) <= room:
        return [start]
    units = list(_units(body, start, end, room))
    starts = [units[0][0]]
    for unit_start, unit_end in units[1:]:
        if unit_end - starts[-1] > room:
            starts.append(unit_start)
    return starts


def _units(body: str, start: int, end: int, room: int) -> Iterator[Extent]:
    """Yield the paragraphs that fit, and the sentences of the others."""
    breaks = [match.span() for match in _PARAGRAPH_BREAK.finditer(body, start, end)]
    borders = [start, *(border for span in breaks for border in span), end]
    for paragraph_start, paragraph_end in zip(borders[::2], borders[1::2], strict=True):
        paragraph = body[paragraph_start:paragraph_end].rstrip(_WHITE_SPACE)
        if not paragraph:
            continue
        if len(paragraph) <= room:
            yield paragraph_start, paragraph_start + len(paragraph)
            continue
        found = 0
        for sentence in split_sentences(paragraph, room):
            # Between two sentences lies nothing but white space, so the first find is the place.
            found = paragraph.index(sentence, found)
            if _trimmed(sentence):
                yield paragraph_start + found, paragraph_start + found + len(sentence)
            found += len(sentence)


def _one_line(text: str) -> str:
    return _trimmed(" ".join(text.split()))


def _trimmed(text: str) -> str:
    return text.strip(_WHITE_SPACE)
