"""Prose and code of a turn: blocks, headings, sentences in both languages.

Owns where a sentence ends. Must not judge what a sentence says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.distill.logs import is_log_line, is_wordless, repeated_shapes, shape_of
from app.text import has_han

LONGEST_SENTENCE = 420
"""Characters; a longer piece is a paste, and cut where a clause ends."""

SHORTEST_SENTENCE = 12
SHORTEST_HAN_SENTENCE = 5

_FENCE = re.compile(r"^[ \t]{0,12}(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n`]*$")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*$|^\s*\*\*([^*]{2,60})\*\*\s*:?\s*$")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)、]|[-*]\s\[[ xX]\])\s+|^\s*>\s?")
_STRONG = re.compile(r"\*\*(.+?)\*\*|__(?=\S)(.+?)(?<=\S)__")
_TABLE = re.compile(r"^\s*\|.*\|\s*$")
_END = re.compile(
    r"""(?<![.!?\s])[.!?]+["')\]”’]*(?=\s+["'(\[“‘`]*[A-Z0-9`\u3400-\u9fff]|\s*$)"""
    r"""|(?<=[\u3400-\u9fff）」”"`])[.!?]+(?=\s|$)"""
    r"""|[。！？]+["')\]”’」』）】]*"""
    r"""|[；;](?=\s*[\u3400-\u9fff])"""
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|no|fig)|\b[A-Z])\.$", re.IGNORECASE
)
_CLAUSES = (". ", "; ", "，", "、", ", ", " ")


@dataclass(frozen=True, slots=True)
class Code:
    """A fenced block; ``before`` is the line of prose that leads to it."""

    language: str
    text: str
    before: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of prose under its heading."""

    text: str
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Blocks:
    """A turn taken apart: lines of prose, fenced code, and lines that machines wrote."""

    lines: tuple[Line, ...]
    codes: tuple[Code, ...]
    logged: tuple[str, ...]


def blocks_of(text: str) -> Blocks:
    """Take a turn apart; a fence that is not closed reaches to the end."""
    lines: list[Line] = []
    codes: list[Code] = []
    logged: list[str] = []
    heading, fence, language, inside = "", "", "", list[str]()
    written = text.split("\n")
    shapes = repeated_shapes(written)
    for raw in written:
        match = _FENCE.match(raw)
        if fence:
            if match and match[1].startswith(fence) and not match[2]:
                codes.append(_code(language, inside, lines))
                fence, inside = "", []
            else:
                inside.append(raw)
        elif match:
            fence, language = match[1], match[2].lower()
        elif found := _HEADING.match(raw):
            heading = (found[1] or found[2]).strip()
        elif is_log_line(raw) or (shapes and shape_of(raw) in shapes):
            logged.append(raw.strip())
        elif raw.strip() and not _TABLE.match(raw):
            lines.append(Line(_plain(raw), heading))
        elif not raw.strip() and lines and lines[-1].text:
            lines.append(Line("", heading))
    if fence:
        codes.append(_code(language, inside, lines))
    return Blocks(tuple(lines), tuple(codes), tuple(logged))


def _code(language: str, inside: list[str], lines: list[Line]) -> Code:
    before = next((line.text for line in reversed(lines) if line.text), "")
    return Code(language, "\n".join(inside).strip("\n"), before)


def _plain(line: str) -> str:
    line = _BULLET.sub("", line, count=1)
    return _STRONG.sub(lambda match: match[1] or match[2], line).strip()


def paragraphs(blocks: Blocks) -> Iterator[tuple[str, str]]:
    """Yield (text, heading) of what stands together: list items and lines that a mark ends alone.

    A line that ends without a mark goes on in the next one only where both are long, as in text
    that was wrapped by hand.
    """
    current, heading = "", ""
    for line in blocks.lines:
        joins = current and line.text and len(current) > 60 and current[-1] not in ".!?。！？:：;；"
        if joins and line.heading == heading and line.text[:1].islower():
            current = f"{current} {line.text}"
            continue
        if current:
            yield current, heading
        current, heading = line.text, line.heading
    if current:
        yield current, heading


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of a paragraph that say something, as they were written."""
    start = 0
    for match in _END.finditer(text):
        if _ABBREVIATION.search(text[start : match.end()]):
            continue
        yield from _kept(text[start : match.end()])
        start = match.end()
    yield from _kept(text[start:])


def _kept(piece: str) -> Iterator[str]:
    piece = piece.strip()
    shortest = SHORTEST_HAN_SENTENCE if has_han(piece) else SHORTEST_SENTENCE
    if len(piece) < shortest or is_wordless(piece):
        return
    yield piece if len(piece) <= LONGEST_SENTENCE else _cut(piece)


def _cut(piece: str) -> str:
    head = piece[:LONGEST_SENTENCE]
    for clause in _CLAUSES:
        place = head.rfind(clause, LONGEST_SENTENCE // 2)
        if place > 0:
            return head[:place].rstrip() + "…"
    return head + "…"
