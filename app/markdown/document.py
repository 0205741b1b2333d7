"""A Markdown file as a note: what its front matter, headings and text say.

Owns which of them decides title, tags and summary. Pure; must not know where the file lies.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.markdown.blocks import Heading, headings
from app.markdown.front_matter import FrontMatter, read_front_matter
from app.markdown.links import found_links
from app.markdown.prose import blanked, prose
from app.markdown.tags import tags_of
from app.text import clean, is_blank

LONGEST_SUMMARY = 300
LONGEST_TITLE = 500
LONGEST_TITLE_LINES = 2_000

_LINE_END = re.compile(r"\r\n?")
_NO_PROSE = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]|[-*+][ \t]|\d{1,9}[.)][ \t]|[|>!<]|(?:[-*_=][ \t]*){3}"
    r"|\[[^\]\n]*\]:|%%|\$\$)"
)
_WIKI_LINK = re.compile(r"!?\[\[(?:[^\[\]|\n]{0,500}\|)?([^\[\]|\n]{0,500})\]\]")
_FILE_LINK = re.compile(r"!?\[([^\[\]\n]{0,500})\]\([^()\n]{0,500}\)")
_EMPHASIS = re.compile(r"(?<!\w)([*_]{1,3})(?=\S)([^*_\n]{1,300}?)(?<=\S)\1(?!\w)|`")
_PARAGRAPHS = 20
"""So many paragraphs are looked at for one that can be a summary."""

_SENTENCE_ENDS = ".!?。！？"


@dataclass(frozen=True, slots=True)
class Document:
    """What a Markdown text says of itself; ``body`` is what follows the front matter.

    Line ends of the body are ``\\n``. ``title`` is None when the text names none.
    """

    title: str | None
    summary: str
    body: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    front_matter: FrontMatter


def read_document(text: str) -> Document:
    """Read a Markdown text."""
    facts, behind = read_front_matter(_LINE_END.sub("\n", clean(text)))
    body = behind.strip("\n")
    masked = prose(body)
    heading = next(headings(body[:LONGEST_TITLE_LINES]), None)
    without_links = blanked(masked, _disjoint([extent for extent, _ in found_links(masked)]))
    title = facts.title or _title_of(heading, body)
    return Document(
        title=title[:LONGEST_TITLE] if title else None,
        summary=facts.summary or _summary(body, masked),
        body=body,
        aliases=facts.aliases,
        tags=tuple(dict.fromkeys((*facts.tags, *tags_of(without_links)))),
        front_matter=facts,
    )


def _title_of(heading: Heading | None, body: str) -> str | None:
    """Return the heading that stands above everything else, if there is one."""
    if heading is None or heading.level != 1 or not is_blank(body[: heading.start]):
        return None
    text = _plain(heading.text)
    return None if is_blank(text) else text


def _disjoint(extents: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in extents:
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def _summary(body: str, masked: str) -> str:
    """Return the first paragraph of prose, without marks and cut at a sentence."""
    start = 0
    for _ in range(_PARAGRAPHS):
        end = body.find("\n\n", start)
        stop = len(body) if end < 0 else end
        if (
            not _NO_PROSE.match(body, _first_visible(body, start, stop))
            and masked[start:stop].strip()
        ):
            return _cut(_plain(body[start : min(stop, start + 4 * LONGEST_SUMMARY)]))
        if end < 0:
            return ""
        start = end + 2
    return ""


def _first_visible(body: str, start: int, stop: int) -> int:
    return start + len(body[start:stop]) - len(body[start:stop].lstrip("\n"))


def _plain(text: str) -> str:
    without_links = _FILE_LINK.sub(r"\1", _WIKI_LINK.sub(r"\1", text))
    return " ".join(_EMPHASIS.sub(r"\2", without_links).split())


def _cut(text: str) -> str:
    if len(text) <= LONGEST_SUMMARY:
        return text
    kept = text[: LONGEST_SUMMARY - 1]
    end = max(kept.rfind(mark) for mark in _SENTENCE_ENDS)
    if end > LONGEST_SUMMARY // 3:
        return kept[: end + 1]
    return kept[: max(kept.rfind(" "), LONGEST_SUMMARY // 2)].rstrip() + "…"
