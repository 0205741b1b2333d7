"""Which part of a Markdown text is prose, and which code or comment.

Owns the finding of code fences, indented code, code spans and HTML comments, as far as they hide
links and tags. A mask has the length of the text, so that places in one are places in the other.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from functools import lru_cache

from app.markdown.blocks import lines

_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)*")
_MARKER = r"(?:[-*+]|[0-9]{1,9}[.)])"
_FENCE = re.compile(rf"[ \t]*(?:{_MARKER}[ \t]+)?(?:(`{{3,}})[^`]*\Z|(~{{3,}}))")
_ITEM = re.compile(rf"[ \t]*{_MARKER}(?:[ \t]|\Z)")
_INDENTED = re.compile(r" {0,3}\t| {4}")
_BACKTICKS = re.compile("`+")
_PARAGRAPH_END = re.compile(r"\n[ \t]*(?=\r?\n)")
_COMMENT_START, _COMMENT_END = "<!--", "-->"
_NOT_LINE_END = re.compile(r"[^\r\n]")


def prose(text: str) -> str:
    """Blank out code and comments, line ends excepted; the length stays."""
    extents = list(_code_blocks(text)) if _may_hold_blocks(text) else []
    masked = blanked(text, extents)
    masked = blanked(masked, list(_code_spans(masked))) if "`" in masked else masked
    return blanked(masked, list(_comments(masked))) if _COMMENT_START in masked else masked


def _may_hold_blocks(text: str) -> bool:
    return any(mark in text for mark in ("```", "~~~", "\t", "    "))


def blanked(text: str, extents: list[tuple[int, int]]) -> str:
    """Blank out extents of a text, which are in order and apart."""
    if not extents:
        return text
    parts: list[str] = []
    end = 0
    for start, stop in extents:
        parts += (text[end:start], _NOT_LINE_END.sub(" ", text[start:stop]))
        end = stop
    return "".join([*parts, text[end:]])


def _code_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the extents of lines of code, in their order."""
    is_last: Callable[[str], object] | None = None
    in_item, may_begin, was_quoted = False, True, False
    for line in lines(text):
        content = _QUOTE.sub("", line.text, count=1) if ">" in line.text else line.text
        is_quoted = content != line.text
        if is_last is not None and (is_quoted or not was_quoted):
            yield line.start, line.end
            is_last = None if is_last(content) else is_last
            continue
        is_last = None
        if fence := _FENCE.match(content):
            yield line.start, line.end
            is_last = _end_of_fence(fence.group(1) or fence.group(2))
            may_begin, was_quoted = True, is_quoted
        elif not content.strip():
            may_begin = True
        elif may_begin and not in_item and _INDENTED.match(line.text):
            yield line.start, line.end
        else:
            stays = in_item and (content[0].isspace() or not may_begin)
            in_item = stays or _ITEM.match(content) is not None
            may_begin = False


@lru_cache(maxsize=64)
def _end_of_fence(mark: str) -> Callable[[str], object]:
    return re.compile(rf"[ \t]*{mark[0]}{{{len(mark)},}}[ \t]*\Z").match


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the extents of code spans: equally long runs of backticks within one paragraph."""
    paragraph: list[tuple[int, int]] = []
    end = -1
    for match in _BACKTICKS.finditer(text):
        if match.start() > end:
            yield from _spans_of(paragraph, text)
            paragraph = []
            after = _PARAGRAPH_END.search(text, match.end())
            end = after.start() if after else len(text)
        paragraph.append(match.span())
    yield from _spans_of(paragraph, text)


def _spans_of(runs: list[tuple[int, int]], text: str) -> Iterator[tuple[int, int]]:
    if len(runs) < 2:
        return
    following: defaultdict[int, deque[int]] = defaultdict(deque)
    for number, (start, end) in enumerate(runs):
        following[end - start].append(number)
    number = 0
    while number < len(runs):
        start, end = runs[number]
        same = following[end - start]
        while same and same[0] <= number:
            same.popleft()
        if not same or _is_escaped(text, start):
            number += 1
            continue
        yield start, runs[same[0]][1]
        number = same[0] + 1


def _is_escaped(text: str, place: int) -> bool:
    return place > 0 and text[place - 1] == "\\"


def _comments(text: str) -> Iterator[tuple[int, int]]:
    start = text.find(_COMMENT_START)
    while start >= 0:
        end = text.find(_COMMENT_END, start + len(_COMMENT_START))
        if end < 0:
            return
        yield start, end + len(_COMMENT_END)
        start = text.find(_COMMENT_START, end)
