"""What of a note is embedded, and in which pieces.

Owns the note's full text and its chunks, as ChatCrystal makes them. Must not read notes or embed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.domain.chunks import Chunk
from app.domain.notes import AGENT_WRITEBACK, Note
from app.embedding.sentences import split_sentences
from app.text import is_blank, js_trim, utf16_length

CHUNK_UNITS: Final = 500
"""UTF-16 code units that paragraphs are gathered up to (ChatCrystal's CHUNK_SIZE)."""

_SEPARATOR = "\n\n"
_PARAGRAPH_BREAK = re.compile(r"\n\n+")

_WRITEBACK_LABELS: Final = (
    ("Root cause", "root_cause"),
    ("Resolution", "resolution"),
    ("Pitfall", "pitfalls"),
    ("Pattern", "reusable_patterns"),
    ("Decision", "decisions"),
)
"""Label of a line and the key of an agent's memory that it comes from."""


@dataclass(frozen=True, slots=True)
class NoteText:
    """What a note's full text is made of.

    Fields of type ``object`` are parsed JSON of any shape; what has the wrong one is left out.
    """

    title: str
    summary: str
    key_conclusions: object = ()
    code_snippets: object = ()
    tags: tuple[str, ...] = ()
    source_type: str = ""
    raw_llm_response: str | None = None
    error_signatures: object = ()
    files_touched: object = ()

    @classmethod
    def of(cls, note: Note) -> NoteText:
        """Return what the text of a stored note is made of."""
        return cls(
            title=note.title,
            summary=note.summary,
            key_conclusions=note.key_conclusions,
            code_snippets=note.code_snippets,
            tags=note.tags,
            source_type=note.source_type,
            raw_llm_response=note.raw_llm_response,
            error_signatures=note.error_signatures,
            files_touched=note.files_touched,
        )


def note_text(note: NoteText) -> str:
    """Join what is embedded of a note (contract, section 6); tags in the order of their ids."""
    parts = [note.title, note.summary]
    conclusions = _texts(note.key_conclusions)
    if conclusions:
        parts.append("\n".join(conclusions))
    if any(note.tags):
        parts.append(" ".join(note.tags))
    descriptions = _descriptions(note.code_snippets)
    if descriptions:
        parts.append("\n".join(descriptions))
    memory = list(_memory_lines(note)) if note.source_type == AGENT_WRITEBACK else []
    if memory:
        parts.append("\n".join(memory))
    return _SEPARATOR.join(parts)


def chunk_text(text: str, max_chars: int) -> tuple[Chunk, ...]:
    """Cut a note's full text into chunks (contract, section 6, with two mends).

    The mends: CRLF counts as LF, and a paragraph over ``max_chars`` is split at its sentences,
    which then count as paragraphs. A blank chunk is not made.

    Args:
        max_chars: The longest text that the model takes, in characters.

    Returns:
        Chunks of at most ``max_chars`` characters; only one of a single paragraph has more than
        500 UTF-16 units.
    """
    limit = min(CHUNK_UNITS, max_chars)
    if utf16_length(text) <= limit:
        pieces = [text]
    else:
        paragraphs = _paragraphs(text.replace("\r\n", "\n"), max_chars)
        pieces = [js_trim(piece) for piece in _gather(paragraphs, limit)]
    visible = [piece for piece in pieces if not is_blank(piece)]
    return tuple(Chunk(index, piece) for index, piece in enumerate(visible))


def _paragraphs(text: str, max_chars: int) -> Iterator[str]:
    for paragraph in _PARAGRAPH_BREAK.split(text):
        if len(paragraph) <= max_chars:
            yield paragraph
        else:
            yield from split_sentences(paragraph, max_chars)


def _gather(paragraphs: Iterator[str], limit: int) -> Iterator[str]:
    current = ""
    units = 0
    for paragraph in paragraphs:
        added = utf16_length(paragraph)
        if current and units + added + len(_SEPARATOR) > limit:
            yield current
            current, units = paragraph, added
        elif current:
            current += _SEPARATOR + paragraph
            units += len(_SEPARATOR) + added
        else:
            current, units = paragraph, added
    yield current


def _texts(value: object) -> list[str]:
    if not isinstance(value, list | tuple):
        return []
    return [item for item in value if isinstance(item, str)]


def _descriptions(snippets: object) -> list[str]:
    if not isinstance(snippets, list | tuple):
        return []
    found = (item.get("description") for item in snippets if isinstance(item, dict))
    return [text for text in found if isinstance(text, str) and text]


def _memory_lines(note: NoteText) -> Iterator[str]:
    memory = _memory(note.raw_llm_response)
    sources = [(label, memory.get(key)) for label, key in _WRITEBACK_LABELS]
    sources += [("Error signature", note.error_signatures), ("File", note.files_touched)]
    for label, value in sources:
        for text in [value] if isinstance(value, str) else _texts(value):
            if not is_blank(text):
                yield f"{label}: {text}"


def _memory(raw: str | None) -> dict[str, object]:
    try:
        parsed = json.loads(raw or "")
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}
