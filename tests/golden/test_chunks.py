"""The chunks of every recorded note are those that the original made of it.

Where it was known to be at fault, what the data say decides how far they can agree; no note is
left out by its number.
"""

import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from app.domain.notes import AGENT_WRITEBACK
from app.embedding.builtin import MAX_CHARS
from app.embedding.chunking import NoteText, chunk_text, note_text
from app.text import is_blank

pytestmark = pytest.mark.golden

# Read when this module is loaded: the fixtures of a test come too late to list the cases.
GOLDEN_DIR = Path(os.environ.get("GOLDEN_DIR") or Path(__file__).parents[2] / "fixtures/golden")
DATA_DIR = GOLDEN_DIR / "chatcrystal" / "datadir"

NOTES = "SELECT * FROM notes WHERE id IN (SELECT note_id FROM embeddings) ORDER BY id"
TAGS = "SELECT name FROM tags JOIN note_tags ON tag_id = id WHERE note_id = ? ORDER BY id"
ROWS = "SELECT chunk_text, vectra_id FROM embeddings WHERE note_id = ? ORDER BY chunk_index"


@dataclass(frozen=True)
class Recorded:
    """A note as it stands, its chunks, and the title that it had when they were made."""

    note_id: int
    note: NoteText
    chunks: tuple[str, ...]
    embedded_title: str | None


def parsed(column: str | None) -> object:
    try:
        return json.loads(column or "[]")
    except ValueError:
        return ()


@cache
def embedded_titles() -> dict[str, str]:
    """By vector id: the title was copied into the index when the vector was made."""
    path = DATA_DIR / "vectra-index" / "index.json"
    if not path.exists():
        return {}
    items = json.loads(path.read_text(encoding="utf-8"))["items"]
    return {item["id"]: item["metadata"]["title"] for item in items}


def recorded_notes() -> Iterator[Recorded]:
    path = DATA_DIR / "chatcrystal.db"
    if not path.exists():
        return
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as database:
        database.row_factory = sqlite3.Row
        for row in database.execute(NOTES):
            yield recorded(database, row)


def recorded(database: sqlite3.Connection, row: sqlite3.Row) -> Recorded:
    note_id = row["id"]
    chunks = database.execute(ROWS, (note_id,)).fetchall()
    note = NoteText(
        title=row["title"],
        summary=row["summary"],
        key_conclusions=parsed(row["key_conclusions"]),
        code_snippets=parsed(row["code_snippets"]),
        tags=tuple(tag["name"] for tag in database.execute(TAGS, (note_id,))),
        source_type=row["source_type"],
        raw_llm_response=row["raw_llm_response"],
        error_signatures=parsed(row["error_signatures"]),
        files_touched=parsed(row["files_touched"]),
    )
    titles = (embedded_titles().get(chunk["vectra_id"]) for chunk in chunks)
    title = next((title for title in titles if title is not None), None)
    return Recorded(note_id, note, tuple(chunk["chunk_text"] for chunk in chunks), title)


CASES = list(recorded_notes())


def as_embedded(case: Recorded) -> str:
    """The text that the original had: the title of then, and nothing of an agent's memory.

    Only a later version embeds the memories, so for its sake they are compared without.
    """
    title = case.note.title if case.embedded_title is None else case.embedded_title
    return note_text(replace(case.note, title=title, source_type="imported-conversation"))


def visible(texts: Any) -> str:
    return re.sub(r"\s", "", "".join(texts))


def is_mended(text: str) -> bool:
    """Whether a paragraph break by CRLF or a paragraph too long makes our chunks other ones."""
    return "\r\n\r\n" in text or any(len(part) > MAX_CHARS for part in re.split("\n\n+", text))


def test_there_are_recorded_notes() -> None:
    assert CASES, f"no notes in {DATA_DIR}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"note-{case.note_id}")
def test_chunks_are_those_recorded(case: Recorded) -> None:
    text = as_embedded(case)
    chunks = tuple(chunk.text for chunk in chunk_text(text, MAX_CHARS))
    if is_mended(text):
        assert visible(chunks) == visible(case.chunks)
    else:
        assert chunks == tuple(chunk for chunk in case.chunks if not is_blank(chunk))


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.note.source_type == AGENT_WRITEBACK],
    ids=lambda case: f"note-{case.note_id}",
)
def test_memory_of_an_agent_follows_what_was_recorded(case: Recorded) -> None:
    assert note_text(case.note).startswith(f"{as_embedded(case)}\n\n")
