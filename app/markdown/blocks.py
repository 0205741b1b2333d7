"""Headings of a text, found line by line.

Owns the block rules of CommonMark 0.31 as far as they decide whether a line is a heading of the
document. Must not nest headings into sections.

What stands inside a list item or a quotation is no heading of the document. Of these two, only as
much is followed as tells where they end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

TAB_STOP: Final = 4
CODE_INDENT: Final = 4
"""Columns from which on a line is code, or goes on with its paragraph."""

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\n|\r)?")
_BLANKS = " \t"
_ATX = re.compile(r"(#{1,6})(?![^ \t])")
_SETEXT = re.compile(r"(?:=+|-+)[ \t]*\Z")
_BREAK = re.compile(r"([-*_])[ \t]*(?:\1[ \t]*){2,}\Z")
_FENCE = re.compile(r"(`{3,})[^`]*\Z|(~{3,})")
_ITEM = re.compile(r"(?:[-*+]|([0-9]{1,9})[.)])(?![^ \t])")
_CONTAINERS = re.compile(rf"(?:(?:>|{_ITEM.pattern})[ \t]*)*")
_REFERENCE = re.compile(r"\[[^\]]+\]:")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")

_HTML_NAMES = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|"
    "dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|"
    "header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|"
    "param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_HTML_TEXTS = "script|pre|style|textarea"
_HTML_BLOCKS = tuple(
    (re.compile(first, re.IGNORECASE), re.compile(last, re.IGNORECASE).search)
    for first, last in (
        (rf"<(?:{_HTML_TEXTS})(?=[\s>]|\Z)", rf"</(?:{_HTML_TEXTS})>"),
        (r"<!--", r"-->"),
        (r"<\?", r"\?>"),
        (r"<!\[CDATA\[", r"\]\]>"),
        (r"<![a-z]", r">"),
        (rf"</?(?:{_HTML_NAMES})(?=\s|/?>|\Z)", r"\A[ \t]*\Z"),
    )
)
"""How a block of HTML begins and what ends it, in the order of the specification."""

_HTML_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9-]*(?=[\s/>])[^<>]*>[ \t]*\Z")
"""A tag alone on its line begins a block too, but not within a paragraph."""

_IS_BLANK = re.compile(r"[ \t]*\Z").match


class Line(NamedTuple):
    """A line without its end; ``start`` and ``end`` (its end included) are code points."""

    text: str
    start: int
    end: int


class Heading(NamedTuple):
    """A heading; from ``start`` to ``end`` (exclusive) lie the lines that it is written in."""

    level: int
    text: str
    start: int
    end: int


def lines(text: str, start: int = 0) -> Iterator[Line]:
    """Yield the lines from a place on; they end with LF, CRLF or CR."""
    for match in _LINE.finditer(text, start):
        if match.end() > match.start():
            yield Line(match.group(1), match.start(), match.end())


def headings(text: str, start: int = 0) -> Iterator[Heading]:
    """Yield the headings of the document, ATX and setext, from the beginning of a line on."""
    scanner = _Scanner()
    for line in lines(text, start):
        found = scanner.read(line)
        if found is not None:
            yield found


class _Scanner:
    """What is open after the lines read so far.

    ``_is_last`` tells whether a line ends the open code fence or HTML; ``_paragraph`` has the
    lines of an open paragraph of the document; ``_item`` is the column from which on lines belong
    to the open list item, 0 without one; ``_in_container`` tells that the line before is text in
    a list item or quotation, which a line without their marks goes on with.
    """

    def __init__(self) -> None:
        self._is_last: Callable[[str], object] | None = None
        self._paragraph: list[Line] = []
        self._item = 0
        self._in_container = False

    def read(self, line: Line) -> Heading | None:
        """Take in the next line; return the heading that it is or ends."""
        if self._is_last is not None:
            if self._is_last(line.text):
                self._is_last = None
            return None
        content = line.text.lstrip(_BLANKS)
        if not content:
            self._paragraph = []
            self._in_container = False
            return None
        indent = _columns(line.text[: len(line.text) - len(content)])
        if self._item and indent >= self._item:
            self._in_container = _ends_in_text(content)
            return None
        if indent >= CODE_INDENT:
            self._read_indented(line)
            return None
        return self._read_block(line, content.rstrip(_BLANKS))

    def _read_indented(self, line: Line) -> None:
        if self._paragraph:
            self._paragraph.append(line)
        elif not self._in_container:
            self._item = 0

    def _read_block(self, line: Line, content: str) -> Heading | None:
        if self._paragraph and _SETEXT.match(content):
            return self._setext(line, content)
        if atx := _ATX.match(content):
            self._close()
            return Heading(atx.end(), _atx_text(content[atx.end() :]), line.start, line.end)
        if _BREAK.match(content):
            self._close()
        elif fence := _FENCE.match(content):
            self._close()
            self._is_last = _end_of_fence(fence.group(1) or fence.group(2))
        elif is_last := _end_of_html(content, within_text=self._is_within_text()):
            self._close()
            self._is_last = None if is_last(content) else is_last
        elif content.startswith(">"):
            self._close()
            self._in_container = _ends_in_text(content)
        elif self._begins_item(content):
            self._close()
            self._item = _item_column(line.text)
            self._in_container = _ends_in_text(content)
        else:
            self._read_text(line, content)
        return None

    def _read_text(self, line: Line, content: str) -> None:
        if self._paragraph:
            self._paragraph.append(line)
        elif not self._in_container:
            self._item = 0
            if not _REFERENCE.match(content):
                self._paragraph = [line]

    def _setext(self, line: Line, content: str) -> Heading:
        text = " ".join(part.text.strip(_BLANKS) for part in self._paragraph)
        start = self._paragraph[0].start
        self._close()
        return Heading(1 if content[0] == "=" else 2, _unescaped(text), start, line.end)

    def _is_within_text(self) -> bool:
        return bool(self._paragraph) or self._in_container

    def _begins_item(self, content: str) -> bool:
        match = _ITEM.match(content)
        if match is None:
            return False
        may_interrupt = match.end() < len(content) and match.group(1) in (None, "1")
        return may_interrupt or not self._paragraph

    def _close(self) -> None:
        self._paragraph = []
        self._item = 0
        self._in_container = False


def _columns(text: str) -> int:
    return len(text.expandtabs(TAB_STOP))


def _atx_text(content: str) -> str:
    text = content.strip(_BLANKS)
    without = text.rstrip("#")
    if not without or without[-1] in _BLANKS:
        text = without.rstrip(_BLANKS)
    return _unescaped(text)


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def _ends_in_text(content: str) -> bool:
    """Tell whether a line of a list item or quotation may be text, which the next one goes on with.

    Of fences and HTML that are open within the container nothing is known.
    """
    inner = _CONTAINERS.sub("", content, count=1).rstrip(_BLANKS)
    return bool(inner) and not any(kind.match(inner) for kind in (_ATX, _BREAK, _FENCE))


def _end_of_fence(mark: str) -> Callable[[str], object]:
    """Return what tells the last line of a code fence that begins with a mark."""
    return re.compile(rf" {{0,3}}{mark[0]}{{{len(mark)},}}[ \t]*\Z").match


def _end_of_html(content: str, *, within_text: bool) -> Callable[[str], object] | None:
    """Return what tells the last line of the HTML that a line begins, None if it does not."""
    for first, is_last in _HTML_BLOCKS:
        if first.match(content):
            return is_last
    return _IS_BLANK if not within_text and _HTML_TAG.match(content) else None


def _item_column(text: str) -> int:
    """Return the column at which the content of a list item begins."""
    content = text.lstrip(_BLANKS)
    marker = _ITEM.match(content)
    marked = len(text) - len(content) + (marker.end() if marker else 0)
    after = _columns(text[:marked])
    rest = text[marked:].lstrip(_BLANKS)
    column = _columns(text[: len(text) - len(rest)])
    return column if rest and column - after <= CODE_INDENT else after + 1
