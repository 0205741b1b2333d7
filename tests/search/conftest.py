"""Many notes at once, written past the embedding calls, with the cosines that a test wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import insert, text

from app.db import tags
from app.db.models import conversations, note_spaces
from app.db.models import notes as note_table
from app.domain.chunks import KIND_CHUNK
from app.factory import Application
from app.sync.transaction import Transaction, transaction
from tests.support.application import planted_vector

SPACE = 1


@dataclass(frozen=True)
class Planted:
    """A note with a chunk a cosine; the chunk's text is the title unless ``texts`` says more."""

    title: str = "note"
    cosines: tuple[float, ...] = (0.9,)
    texts: tuple[str, ...] = ()
    project: str = "p"
    source: str = "claude-code"
    source_type: str = "imported-conversation"
    tags: tuple[str, ...] = ()
    path: str | None = None
    created_at: str = "2026-01-01 00:00:00"
    status: str = "done"


def fill(application: Application, planted: Sequence[Planted]) -> list[int]:
    """Store notes with their vectors in one transaction, and return their ids."""
    with transaction(application.database) as unit:
        unit.connection.execute(text("UPDATE embedding_spaces SET dimension = 8"))
        unit.changed_space(SPACE)
        ids = [_store(unit, note) for note in planted]
        # Otherwise the next start of an application over the folder would write the words.
        unit.reworded(ids)
        return ids


def _store(unit: Transaction, planted: Planted) -> int:
    connection, moment = unit.connection, planted.created_at
    number = connection.execute(text("SELECT count(*) FROM conversations")).scalar_one()
    times = ("first_message_at", "last_message_at", "created_at", "updated_at")
    connection.execute(
        insert(conversations).values(
            id=f"c{number}", source=planted.source, project_dir="", project_name=planted.project,
            file_path="", **dict.fromkeys(times, moment),
        )
    )  # fmt: skip
    note_id: int = connection.execute(
        insert(note_table)
        .values(
            conversation_id=f"c{number}", title=planted.title, summary="", path=planted.path,
            source_type=planted.source_type, embedding_status=planted.status, created_at=moment,
        )
        .returning(note_table.c.id)
    ).scalar_one()  # fmt: skip
    connection.execute(
        insert(note_spaces).values(note_id=note_id, space_id=SPACE, status=planted.status)
    )
    tags.set_of_note(connection, note_id, planted.tags)
    rows = [_chunk(planted, note_id, index) for index in range(len(planted.cosines))]
    unit.add_vectors(rows)
    return note_id


def _chunk(planted: Planted, note_id: int, index: int) -> dict[str, Any]:
    words = planted.texts[index] if planted.texts else planted.title
    vector = np.array(planted_vector(f"cos={planted.cosines[index]}"), dtype=np.float32)
    return {
        "note_id": note_id,
        "space_id": SPACE,
        "kind": KIND_CHUNK,
        "chunk_index": index,
        "chunk_text": words,
        "has_han": 0,
        "content_hash": "",
        "created_at": "",
        "vector": vector.tobytes(),
    }
