"""Links of a Markdown text to other notes: wiki links, embeds, and links to files.

Owns how a link is written. Must not know which notes exist; see ``resolution``. Links to other
places, such as web addresses, and to places within the same text are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from urllib.parse import unquote

from app.domain.links import KIND_EMBED, KIND_MARKDOWN, KIND_WIKI, Link
from app.markdown.prose import prose
from app.text import clean, is_blank

LONGEST_NAME = 1_000
"""Characters; what is longer is not meant as a link."""

MOST_LINKS = 10_000
"""Of one text and way of writing; what is beyond was not written by hand."""

_WIKI = re.compile(rf"(!?)\[\[([^\[\]\r\n]{{1,{2 * LONGEST_NAME}}})\]\]")
_DESTINATION = re.compile(
    rf"\]\([ \t]*(?:<([^<>\r\n]{{1,{LONGEST_NAME}}})>"
    rf"|((?:[^\s()<\\]|\\[^\r\n]|\([^\s()]{{0,200}}\)){{1,{LONGEST_NAME}}}))"
    r"(?:[ \t]+(?:\"[^\"\r\n]{0,500}\"|'[^'\r\n]{0,500}'|\([^()\r\n]{0,500}\)))?[ \t]*\)"
)
_DEFINITION = re.compile(
    rf"^ {{0,3}}\[([^\[\]\r\n]{{1,200}})\]:[ \t]*(?:<([^<>\r\n]{{1,{LONGEST_NAME}}})>"
    rf"|(\S{{1,{LONGEST_NAME}}}))",
    re.MULTILINE,
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_FOOTNOTE = "^"

Extent = tuple[int, int]


def links_of(text: str) -> tuple[Link, ...]:
    """Return the links of a text, in their order; code and comments have none."""
    return tuple(link for _, link in found_links(prose(text)))


def found_links(masked: str) -> list[tuple[Extent, Link]]:
    """Return the links of a text whose code is blanked out, each with where it stands."""
    found = [*_wiki_links(masked), *_file_links(masked), *_definitions(masked)]
    return sorted(found, key=lambda each: each[0])


def _wiki_links(text: str) -> Iterator[tuple[Extent, Link]]:
    if "[[" not in text:
        return
    for match in islice(_WIKI.finditer(text), MOST_LINKS):
        if _is_escaped(text, match.start()):
            continue
        # Within tables the bar before a label is escaped.
        name, _, label = match[2].replace("\\|", "|").partition("|")
        target, _, heading = name.partition("#")
        link = _link(KIND_EMBED if match[1] else KIND_WIKI, target, heading, label, match.start())
        if link is not None:
            yield match.span(), link


def _file_links(text: str) -> Iterator[tuple[Extent, Link]]:
    if "](" not in text:
        return
    for match in islice(_DESTINATION.finditer(text), MOST_LINKS):
        start = _start_of_label(text, match.start())
        if start is None or _is_escaped(text, start):
            continue
        is_embed = start > 0 and text[start - 1] == "!"
        label = text[start + 1 : match.start()]
        place = start - is_embed
        link = _file_link(match[1] or match[2], label, place, is_embed=is_embed)
        if link is not None:
            yield (place, match.end()), link


def _start_of_label(text: str, end: int) -> int | None:
    """Return where the bracket opens that closes at a place, on the same line."""
    depth = 0
    for place in range(end - 1, max(-1, end - LONGEST_NAME), -1):
        character = text[place]
        if character in "\r\n":
            return None
        if character == "]":
            depth += 1
        elif character == "[":
            if not depth:
                return place
            depth -= 1
    return None


def _definitions(text: str) -> Iterator[tuple[Extent, Link]]:
    """Yield what links by reference lead to, once for each definition."""
    if "]:" not in text:
        return
    for match in islice(_DEFINITION.finditer(text), MOST_LINKS):
        if match[1].startswith(_FOOTNOTE):
            continue
        link = _file_link(match[2] or match[3], match[1], match.start(), is_embed=False)
        if link is not None:
            yield match.span(), link


def _file_link(written: str, label: str, position: int, *, is_embed: bool) -> Link | None:
    destination = _ESCAPED.sub(r"\1", written)
    if _SCHEME.match(destination) or destination.startswith("//"):
        return None
    path, _, heading = destination.partition("#")
    path = unquote(path.partition("?")[0])
    # A folder is no note.
    if path.endswith(("/", "/.", "/..")) or path in (".", ".."):
        return None
    kind = KIND_EMBED if is_embed else KIND_MARKDOWN
    return _link(kind, path, unquote(heading), _ESCAPED.sub(r"\1", label), position)


def _link(kind: str, target: str, heading: str, label: str, position: int) -> Link | None:
    target = clean(target).strip()
    if is_blank(target) or len(target) > LONGEST_NAME:
        return None
    return Link(target, kind, _optional(heading), _optional(label), position)


def _optional(text: str) -> str | None:
    stripped = clean(text).strip()
    return stripped or None


def _is_escaped(text: str, place: int) -> bool:
    backslashes = 0
    while place - backslashes > 0 and text[place - backslashes - 1] == "\\":
        backslashes += 1
    return backslashes % 2 == 1
