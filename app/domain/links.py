"""Links between notes: as a text writes them, as they are stored, and what notes are called."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.conversations import MARKDOWN_SOURCE
from app.domain.notes import Note

KIND_WIKI = "wiki"
KIND_MARKDOWN = "markdown"
KIND_EMBED = "embed"
LINK_KINDS = (KIND_WIKI, KIND_MARKDOWN, KIND_EMBED)


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it is written.

    ``target`` is the name or path without heading, ``label`` the text that is shown instead,
    ``position`` the code point of the body at which it begins.
    """

    target: str
    kind: str = KIND_WIKI
    heading: str | None = None
    label: str | None = None
    position: int = 0


@dataclass(frozen=True, slots=True)
class StoredLink:
    """A link of a note, with the note that it leads to, if one answers to its name."""

    id: int
    source_note_id: int
    target_note_id: int | None
    link: Link


@dataclass(frozen=True, slots=True)
class LinkEdge:
    """A link that leads to a note; two notes may be joined by several."""

    source_note_id: int
    target_note_id: int
    kind: str
    heading: str | None
    label: str | None
    position: int


@dataclass(frozen=True, slots=True)
class Named:
    """A note by all that a link may call it.

    ``folder`` is the vault that it came from, empty for notes of no vault; paths and their
    neighbourhood only mean something within one.
    """

    id: int
    title: str
    aliases: tuple[str, ...]
    path: str | None
    slug: str | None
    folder: str
    created_at: str


def named(note: Note) -> Named:
    """Return all that a link may call a note by."""
    return Named(
        note.id,
        note.title,
        note.aliases,
        note.path,
        note.slug,
        folder_of(note.source, note.project_dir),
        note.created_at,
    )


def folder_of(source: str, project_dir: str) -> str:
    """Return the vault that a note of a conversation came from, empty for notes of no vault."""
    return project_dir if source == MARKDOWN_SOURCE else ""
