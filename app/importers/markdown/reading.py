"""One file of a folder as the text of a note.

Owns which endings are read how, and what is refused. A file without readable text is a note of its
name alone.
"""

from __future__ import annotations

import re
from dataclasses import replace

from app.domain.vaults import VaultNote
from app.importers.markdown import pdf
from app.importers.markdown.chat import UnreadableChat, read_chat, unpack
from app.importers.markdown.decoding import decode
from app.markdown.document import LONGEST_TITLE, read_document
from app.markdown.names import MARKDOWN_SUFFIXES, stem
from app.text import clean, is_blank

LARGEST_FILE = 10_000_000
"""Bytes; larger files are refused."""

LONGEST_TEXT = 1_000_000
"""Characters that are taken of a file that is no Markdown, such as a log or a table."""

_PROSE = (*MARKDOWN_SUFFIXES, ".mdx", ".txt", ".text")
_CHAT = ".chat"
_PDF = ".pdf"
_PICTURES = (".svg",)
"""Text to a computer only."""

_BACKTICKS = re.compile("`{3,}")
_LANGUAGE = re.compile(r"\.([A-Za-z0-9]{1,12})\Z")


class RefusedFile(ValueError):
    """The file cannot become a note; its text says why."""


def read_note(path: str, data: bytes) -> VaultNote:
    """Read the bytes of a file.

    Args:
        path: Its path in the folder, whose last part names a note that has no other title.

    Raises:
        RefusedFile: it cannot be read.
    """
    name = path.rpartition("/")[2]
    lowered = name.lower()
    if lowered.endswith(_PROSE):
        return _prose(name, data)
    if lowered.endswith(_CHAT):
        return _chat(name, data)
    if lowered.endswith(_PDF):
        return _pdf(name, data)
    return _other(name, data)


def _titled(name: str, *, warning: str | None = None) -> VaultNote:
    return VaultNote(clean(name)[:LONGEST_TITLE], has_text=False, warning=warning)


def _prose(name: str, data: bytes) -> VaultNote:
    text = decode(data)
    if text is None:
        raise RefusedFile("its encoding is not known, or it is no text")
    found = read_document(text)
    facts = found.front_matter
    shown = stem(name)
    if not name.lower().endswith(MARKDOWN_SUFFIXES):
        shown = name.rpartition(".")[0] or name
    return VaultNote(
        title=found.title or clean(shown)[:LONGEST_TITLE] or name,
        body=found.body,
        summary=found.summary,
        aliases=found.aliases,
        tags=found.tags,
        project=facts.project,
        created_at=facts.created_at,
        updated_at=facts.updated_at,
        has_text=not is_blank(found.body),
        warning=facts.problem,
    )


def _chat(name: str, data: bytes) -> VaultNote:
    try:
        text = decode(unpack(data))
    except UnreadableChat as error:
        raise RefusedFile(str(error)) from error
    if text is None:
        return _titled(name)
    chat = read_chat(text)
    title = chat.title or clean(name.rpartition(".")[0] or name)
    if not chat.messages:
        return replace(_fenced(name, text, ""), title=title[:LONGEST_TITLE])
    body = "\n\n".join(f"## {message.role}\n\n{message.text}" for message in chat.messages)
    kept, warning = _shortened(body)
    return VaultNote(title[:LONGEST_TITLE], kept, warning=warning)


def _pdf(name: str, data: bytes) -> VaultNote:
    if not pdf.is_readable():
        return _titled(name)
    try:
        text = pdf.read_pdf(data)
    except pdf.UnreadablePdf as error:
        return _titled(name, warning=f"only its name is found: {error}")
    if is_blank(text):
        return _titled(name)
    return VaultNote(clean(name)[:LONGEST_TITLE], text)


def _other(name: str, data: bytes) -> VaultNote:
    if name.lower().endswith(_PICTURES):
        return _titled(name)
    text = decode(data)
    if text is None or is_blank(text):
        return _titled(name)
    language = _LANGUAGE.search(name)
    return _fenced(name, text, language[1].lower() if language else "")


def _fenced(name: str, text: str, language: str) -> VaultNote:
    """Return a note of a text that is no Markdown, as code, so that nothing in it is a mark."""
    body, warning = _shortened(clean(text).replace("\r\n", "\n"))
    fence = "`" * (max(map(len, _BACKTICKS.findall(body)), default=2) + 1)
    fenced = f"{fence}{language}\n{body.rstrip()}\n{fence}"
    return VaultNote(clean(name)[:LONGEST_TITLE], fenced, warning=warning)


def _shortened(text: str) -> tuple[str, str | None]:
    """Return as much of a text as is taken, and what to say when that is not all."""
    if len(text) <= LONGEST_TEXT:
        return text, None
    return text[:LONGEST_TEXT], f"only the first {LONGEST_TEXT} characters are taken"
