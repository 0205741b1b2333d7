"""From prepared texts to stored vectors: the embedding call outside, the rows inside a transaction.

Owns chunk rows and the status of a note in the space that is written to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.db import chunks, spaces
from app.db.columns import now
from app.domain.chunks import Chunk
from app.domain.notes import NO_TEXT, STATUS_DONE, STATUS_FAILED
from app.embedding.base import Embedder
from app.errors import (
    CrystalError,
    ProviderAnswerInvalid,
    ProviderError,
    ProviderRejected,
    SpaceMismatch,
)
from app.sync.spaces import settle_dimension
from app.sync.texts import Prepared
from app.sync.transaction import Transaction
from app.text import digest, has_han

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What embedding one note came to: a vector a chunk, or the error that prevented it."""

    prepared: Prepared
    vectors: tuple[Vector, ...] = ()
    error: CrystalError | None = field(default=None)

    @property
    def failure(self) -> str | None:
        """Say why the note has no vectors, None when it has."""
        if self.error is not None:
            return self.error.message
        return None if self.prepared.chunks else NO_TEXT

    @property
    def status(self) -> str:
        """The status that the note has with it."""
        return STATUS_DONE if self.failure is None else STATUS_FAILED


def embed(
    embedder: Embedder,
    prepared: Sequence[Prepared],
    known: Mapping[str, Vector] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> list[Outcome]:
    """Embed the chunks of notes in one call, those with a known vector excepted.

    ``known`` maps the hash of a chunk's text to its vector. When the provider refuses the call
    for what is in it, every note is tried by itself, so that one bad text fails one note.
    """
    vectors = dict(known or {})
    texts = {
        digest(chunk.text): chunk.text
        for note in prepared
        for chunk in note.chunks
        if digest(chunk.text) not in vectors
    }
    try:
        found = embedder.embed_passages(list(texts.values()), on_progress)
    except (ProviderRejected, ProviderAnswerInvalid) as error:
        if len(prepared) == 1:
            return [Outcome(prepared[0], error=error)]
        return [embed(embedder, [note], known)[0] for note in prepared]
    except (ProviderError, SpaceMismatch) as error:
        return [Outcome(note, error=error) for note in prepared]
    vectors.update(zip(texts, found, strict=True))
    return [
        Outcome(note, tuple(vectors[digest(chunk.text)] for chunk in note.chunks))
        for note in prepared
    ]


def store(unit: Transaction, space_id: int, note_id: int, outcome: Outcome) -> None:
    """Replace a note's chunks in a space and set its status there, as ``store_many`` does."""
    store_many(unit, space_id, {note_id: outcome})


def store_many(unit: Transaction, space_id: int, outcomes: Mapping[int, Outcome]) -> None:
    """Replace the chunks of notes in a space and set their status there.

    A failed outcome leaves no chunks: they would speak of a text that is gone.
    """
    known = unit.known(outcomes)
    unit.removed_vectors(chunks.remove_of_notes(unit.connection, known, space_id))
    rows = [
        row
        for note_id, outcome in outcomes.items()
        if outcome.failure is None
        for row in rows_of(note_id, space_id, outcome.prepared.chunks, outcome.vectors)
    ]
    lengths = {len(vector) for outcome in outcomes.values() for vector in outcome.vectors}
    for length in sorted(lengths):
        settle_dimension(unit, space_id, length)
    unit.add_vectors(rows)
    spaces.forget_states(unit.connection, space_id, known)
    states = [_state_of(note_id, outcome) for note_id, outcome in outcomes.items()]
    spaces.add_states(unit.connection, space_id, states)
    unlike = [state for state in states if not unit.is_mirrored(state)]
    spaces.mirror_states(unit.connection, space_id, unlike)


def _state_of(note_id: int, outcome: Outcome) -> spaces.NoteState:
    return spaces.NoteState(note_id, outcome.status, outcome.prepared.text_hash, outcome.failure)


def rows_of(
    note_id: int, space_id: int, pieces: Sequence[Chunk], vectors: Sequence[Vector]
) -> list[dict[str, Any]]:
    """Return the columns of a note's chunks with their vectors."""
    return [
        _row(note_id, space_id, chunk, vector)
        for chunk, vector in zip(pieces, vectors, strict=True)
    ]


def _row(note_id: int, space_id: int, chunk: Chunk, vector: Vector) -> dict[str, Any]:
    return {
        "note_id": note_id,
        "space_id": space_id,
        "kind": chunk.kind,
        "chunk_index": chunk.index,
        "chunk_text": chunk.text,
        "has_han": int(has_han(chunk.text)),
        "heading_path": chunk.heading_path,
        "start": chunk.start,
        "end": chunk.end,
        "content_hash": digest(chunk.text),
        "created_at": now(),
        "vector": vector.tobytes(),
    }
