"""Takes over chunk rows with their vectors, and with them what a note's status is in their space.

Owns the rule when a note counts as embedded, and the order in which chunks get their ids.
"""

from __future__ import annotations

from typing import Any

from app.db import notes, spaces
from app.db.spaces import NoteState
from app.domain.adoption import Progress
from app.domain.chunks import KIND_CHUNK
from app.domain.notes import STATUS_DONE, STATUS_FAILED, STATUS_PENDING, Note
from app.domain.spaces import SpaceSpec
from app.importers import chatcrystal_rows as source
from app.importers.chatcrystal import DataDirectory
from app.importers.chatcrystal_rows import ChunkedNote, SourceChunk
from app.importers.vectra import Vectors
from app.sync import texts
from app.sync.adopting.rows import RowAdopter
from app.sync.adopting.target import Target, batched
from app.sync.spaces import ensure, settle_dimension
from app.sync.transaction import Transaction
from app.text import digest, has_han

BATCH = 200
KEPT_STATUSES = (STATUS_PENDING, STATUS_DONE, STATUS_FAILED, "syncing")


class ChunkAdopter:
    """Takes over the chunks of one directory whose rows are stored already.

    A note that has a state in the space keeps it, and its chunks there.
    """

    def __init__(
        self, target: Target, space: SpaceSpec, vectors: Vectors, rows: RowAdopter
    ) -> None:
        self._target = target
        self._space = space
        self._space_id: int | None = None
        self._vectors = vectors.by_row
        self._dimension = vectors.dimension
        self._rows = rows

    def adopt(self, directory: DataDirectory, on_progress: Progress) -> None:
        """Take over all chunks, in the order of their rows, which breaks ties of a search."""
        with self._target.step() as unit:
            self._space_id = self._prepare_space(unit)
        total = source.count(directory, "notes")
        done = 0
        for batch in batched(source.chunked_notes(directory), BATCH):
            with self._target.step() as unit:
                self._add(unit, batch)
            done += len(batch)
            on_progress("embeddings", done, total)
        on_progress("embeddings", total, total)

    def _prepare_space(self, unit: Transaction) -> int | None:
        if self._target.is_dry_run:
            known = spaces.find(unit.connection, self._space.provider, self._space.model)
            return known.id if known else None
        space_id = ensure(unit, self._space)
        if self._dimension is not None:
            settle_dimension(unit, space_id, self._dimension)
        return space_id

    def _add(self, unit: Transaction, batch: list[ChunkedNote]) -> None:
        settled = self._settled(unit, batch)
        fresh = [note for note in batch if note.note_id not in settled]
        ids = [self._rows.note_ids[note.note_id] for note in fresh]
        stored = {note.id: note for note in notes.get_many(unit.connection, ids)}
        rows: list[dict[str, Any]] = []
        states: list[NoteState] = []
        for note_id, note in zip(ids, fresh, strict=True):
            found, state = self._decide(note, note_id, stored.get(note_id))
            rows += [self._row(note_id, chunk) for chunk in found]
            states.append(state)
        self._count(batch, settled, rows)
        if self._space_id is not None and not self._target.is_dry_run:
            unit.add_vectors(rows)
            spaces.add_states(unit.connection, self._space_id, states)
            spaces.mirror_states(unit.connection, self._space_id, states)

    def _settled(self, unit: Transaction, batch: list[ChunkedNote]) -> set[int]:
        """Return the notes, by their id in the source, that have a state in the space."""
        if self._space_id is None:
            return set()
        ids = {self._rows.note_ids[note.note_id]: note.note_id for note in batch}
        known = spaces.notes_with_state(unit.connection, self._space_id, ids)
        return {ids[note_id] for note_id in known}

    def _decide(
        self, note: ChunkedNote, note_id: int, stored: Note | None
    ) -> tuple[list[SourceChunk], NoteState]:
        """Return the chunks of a note to be stored, and its state in the space."""
        found = [chunk for chunk in note.chunks if chunk.id in self._vectors]
        text_hash = self._text_hash(note, stored)
        if note.note_id in self._rows.changed and text_hash is None:
            self._target.tally.left_out["chunks_of_edited_notes"] += len(found)
            return [], NoteState(note_id, STATUS_PENDING, None)
        status = note.status if note.status in KEPT_STATUSES else STATUS_PENDING
        is_whole = bool(note.chunks) and len(found) == len(note.chunks)
        if status == STATUS_DONE and not is_whole:
            status = STATUS_PENDING
        if note.note_id in self._rows.fresh:
            self._target.tally.statuses[status] += 1
        return found, NoteState(note_id, status, text_hash if status == STATUS_DONE else None)

    def _text_hash(self, note: ChunkedNote, stored: Note | None) -> str | None:
        """Return the hash of the stored text, if the chunks are what would be cut from it.

        Otherwise the note was edited after it was embedded, or cut by older rules: what it was
        embedded from is not known.
        """
        if stored is None:
            return None
        prepared = texts.of_note(stored, self._space.max_chars)
        wanted = [chunk.text for chunk in prepared.chunks]
        return prepared.text_hash if wanted == [chunk.text for chunk in note.chunks] else None

    def _row(self, note_id: int, chunk: SourceChunk) -> dict[str, Any]:
        return {
            "note_id": note_id,
            "space_id": self._space_id,
            "kind": KIND_CHUNK,
            "chunk_index": chunk.index,
            "chunk_text": chunk.text,
            "has_han": int(has_han(chunk.text)),
            "content_hash": digest(chunk.text),
            "vectra_id": chunk.vectra_id,
            "created_at": chunk.created_at,
            "vector": self._vectors[chunk.id],
        }

    def _count(
        self, batch: list[ChunkedNote], settled: set[int], rows: list[dict[str, Any]]
    ) -> None:
        tally = self._target.tally
        tally.added["chunks"] += len(rows)
        tally.unchanged["chunks"] += sum(
            chunk.id in self._vectors
            for note in batch
            if note.note_id in settled
            for chunk in note.chunks
        )
