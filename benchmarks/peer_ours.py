"""Our index over a database of generated vectors, as benchmarks/peers.py asks it.

Owns the rows. Notes go through the application's own door one by one, and all at once as chunk
rows with their entries in the change feed; words are left out there, since vectra has none.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, insert

import app  # noqa: F401 - limits native threads before numpy is imported
from app.db import changes, chunks
from app.db.models import conversations, notes
from app.domain.changes import CHANGED_VECTOR, OPERATION_ADD, Change
from app.domain.chunks import KIND_CHUNK
from app.domain.notes import NoteDraft
from app.embedding.base import Embedder
from app.factory import Application, build
from app.mirror.mirror import Mirror
from app.settings.store import load
from benchmarks.memory import peak_bytes

BATCH = 2_000
MOMENT = "2026-01-01 00:00:00"
Vectors = NDArray[np.float32]


class PlannedEmbedder(Embedder):
    """A provider that answers at once, with the vector that is planned next."""

    provider = "generated"
    default_model = "generated"
    planned: Vectors

    def request_vectors(self, texts: Sequence[str], *, is_query: bool) -> object:
        """Return the planned vector for every text."""
        return np.tile(self.planned, (len(texts), 1))


class Ours:
    """An application over a folder, and the times of what it does, in milliseconds."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        """Open an application; row i of the vectors is that of note i + 1."""
        settings = load({"data_dir": str(folder)}, environment={})
        self._vectors = vectors
        self._embedder = PlannedEmbedder(settings.embedding, vectors.shape[1])
        self._application: Application = build(settings, self._embedder)

    def build(self, count: int) -> float:
        """Store so many chunks with their vectors, and index them."""
        with self._application.database.write() as connection:
            for start in range(0, count, BATCH):
                add_notes(connection, range(start + 1, min(start + BATCH, count) + 1))
        start_time = time.perf_counter()
        space_id = self._application.active.current.space_id
        for start in range(0, count, BATCH):
            rows = self._vectors[start : min(start + BATCH, count)]
            with self._application.database.write() as connection:
                add_chunks(connection, space_id, start + 1, rows)
        with self._application.mirror.open():
            return _since(start_time)

    def insert(self, row: int) -> float:
        """Write one note through the usual door, until the next search sees it."""
        self._embedder.planned = self._vectors[row]
        start = time.perf_counter()
        note_id = self._application.writer.create_note(NoteDraft(f"note {row}", f"text of {row}"))
        with self._application.mirror.open():
            milliseconds = _since(start)
        if note_id not in self.query(row, 1)[1]:
            raise SystemExit(f"note {note_id} is not found after it was written")
        return milliseconds

    def query(self, row: int, limit: int) -> tuple[float, list[int]]:
        """Search with a vector, and read the rows of what is found; return their notes too."""
        return query(self._application.mirror, self._vectors[row], limit)

    def close(self) -> None:
        """Stop cleanly."""
        self._application.close()


def query(mirror: Mirror, vector: Vectors, limit: int) -> tuple[float, list[int]]:
    """Return milliseconds and the notes of the nearest chunks."""
    start = time.perf_counter()
    with mirror.open() as (connection, view):
        if view.index is None:
            raise SystemExit("there is no index")
        found = [each.chunk_id for each in view.index.search(vector, limit)]
        rows = {row.chunk_id: row.note.note_id for row in chunks.rows(connection, found)}
    return _since(start), [rows[chunk_id] for chunk_id in found]


def cold(folder: Path, vector: Vectors, limit: int) -> dict[str, Any]:
    """Open the database in this fresh process and search once; the peak is in bytes."""
    start = time.perf_counter()
    settings = load({"data_dir": str(folder)}, environment={})
    application = build(settings, PlannedEmbedder(settings.embedding, len(vector)))
    _, found = query(application.mirror, vector, limit)
    milliseconds = _since(start)
    peak = peak_bytes()
    application.close()
    return {"ms": milliseconds, "ids": found, "peak": peak}


def file_size(folder: Path) -> int:
    """Return the bytes of the database."""
    return (folder / "crystal.db").stat().st_size


def settle(folder: Path, dimension: int) -> None:
    """Start and stop once: what the bulk left out is made now, and the journal written back."""
    settings = load({"data_dir": str(folder)}, environment={})
    application = build(settings, PlannedEmbedder(settings.embedding, dimension))
    with application.mirror.open():
        pass
    with application.database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    application.close()


def add_notes(connection: Connection, numbers: range) -> None:
    """Store notes of these ids, without a vector and without words."""
    times = dict.fromkeys(
        ("first_message_at", "last_message_at", "created_at", "updated_at"), MOMENT
    )
    common = {"source": "manual", "project_dir": "", "project_name": "", "file_path": ""}
    connection.execute(
        insert(conversations),
        [{"id": f"note:{number}", **common, **times} for number in numbers],
    )
    connection.execute(
        insert(notes),
        [
            {"id": number, "conversation_id": f"note:{number}", "title": f"note {number}",
             "summary": f"text of note {number}", "created_at": MOMENT}
            for number in numbers
        ],
    )  # fmt: skip


def add_chunks(connection: Connection, space_id: int, first: int, vectors: Vectors) -> None:
    """Store a chunk for each of the notes from ``first`` on, and announce them."""
    rows = [
        {"note_id": first + place, "space_id": space_id, "kind": KIND_CHUNK, "chunk_index": 0,
         "chunk_text": f"text of note {first + place}", "has_han": 0, "content_hash": "",
         "created_at": MOMENT, "vector": vector.tobytes()}
        for place, vector in enumerate(vectors)
    ]  # fmt: skip
    added = chunks.add(connection, rows)
    entries = [Change(CHANGED_VECTOR, OPERATION_ADD, row.id, space_id, KIND_CHUNK) for row in added]
    changes.append(connection, entries)


def _since(start: float) -> float:
    return (time.perf_counter() - start) * 1000
