"""What is to be embedded of a note, as stored or as it will be stored.

Owns the hash that decides whether a note is embedded again.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from app.domain.chunks import Chunk
from app.domain.notes import Note, NoteDraft
from app.embedding.chunking import NoteText, chunk_text, note_text
from app.embedding.sections import body_chunks
from app.text import digest, is_blank

LONGEST_PARAGRAPH = 2_000
"""Characters; a longer paragraph is split at its sentences, whatever the model could take."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A note's chunks and the hash of the text that they were cut from."""

    text_hash: str
    chunks: tuple[Chunk, ...]


def of_note(note: Note, max_chars: int) -> Prepared:
    """Prepare a stored note."""
    return _prepared(NoteText.of(note), note.body or "", max_chars)


def of_draft(draft: NoteDraft, tags: tuple[str, ...], max_chars: int) -> Prepared:
    """Prepare a note that is not stored yet; tags come in the order that their ids will have."""
    return _prepared(
        NoteText(
            title=draft.title,
            summary=draft.summary,
            key_conclusions=list(draft.key_conclusions),
            code_snippets=[asdict(snippet) for snippet in draft.code_snippets],
            tags=tags,
            source_type=draft.source_type,
            raw_llm_response=draft.raw_llm_response,
            error_signatures=list(draft.error_signatures),
            files_touched=list(draft.files_touched),
        ),
        draft.body or "",
        max_chars,
    )


def _prepared(text: NoteText, body: str, max_chars: int) -> Prepared:
    full = note_text(text)
    limit = min(LONGEST_PARAGRAPH, max_chars)
    chunks = chunk_text(full, limit)
    if is_blank(body):
        return Prepared(digest(full, str(limit)), chunks)
    sections = body_chunks(text.title, body, max_chars, len(chunks))
    return Prepared(digest(full, str(limit), body, str(max_chars)), chunks + sections)
