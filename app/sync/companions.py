"""Vectors of whole notes and of their fields, made after the chunks.

Owns which texts they are made of. A note is found by its chunks at once; its companions follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.db import chunks, notes, spaces
from app.db.engine import Database
from app.domain.chunks import COMPANION_KINDS, KIND_FIELD, KIND_WHOLE, Chunk
from app.domain.notes import Note
from app.embedding.active import ActiveEmbedder
from app.sync.texts import LONGEST_PARAGRAPH
from app.sync.transaction import transaction
from app.sync.vectors import rows_of
from app.text import is_blank

GROUP = 32


class CompanionEmbedder:
    """Makes the companions of notes that are embedded and lack them."""

    def __init__(self, database: Database, active: ActiveEmbedder) -> None:
        self._database = database
        self._active = active

    def missing(self) -> tuple[int, ...]:
        """Return the embedded notes without companions in the active space, by id."""
        with self._database.read() as connection:
            return chunks.notes_lacking(connection, self._active.current.space_id, KIND_WHOLE)

    def fill(
        self,
        on_progress: Callable[[int], None] | None = None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> int:
        """Make all that is missing, group by group; return the number of notes.

        Raises:
            ProviderError: the provider failed; what was made by then is stored.
        """
        note_ids = self.missing()
        for start in range(0, len(note_ids), GROUP):
            if is_cancelled():
                break
            self._fill_group(note_ids[start : start + GROUP])
            if on_progress is not None:
                on_progress(min(start + GROUP, len(note_ids)))
        return len(note_ids)

    def _fill_group(self, note_ids: Sequence[int]) -> None:
        active = self._active.current
        with self._database.read() as connection:
            found = notes.get_many(connection, note_ids)
            hashes = spaces.text_hashes(connection, active.space_id, note_ids)
        pieces = {note.id: companions_of(note, active.embedder.max_chars) for note in found}
        vectors = iter(
            active.embedder.embed_passages(
                [piece.text for each in pieces.values() for piece in each]
            )
        )
        rows = {
            note_id: rows_of(note_id, active.space_id, each, [next(vectors) for _ in each])
            for note_id, each in pieces.items()
        }
        with transaction(self._database) as unit:
            current = spaces.text_hashes(unit.connection, active.space_id, note_ids)
            lacking = set(
                chunks.notes_lacking(unit.connection, active.space_id, KIND_WHOLE, note_ids)
            )
            for note_id, fresh in rows.items():
                if note_id not in lacking or current.get(note_id) != hashes.get(note_id):
                    continue
                for kind in COMPANION_KINDS:
                    of_kind = [row for row in fresh if row["kind"] == kind]
                    ids = chunks.add(unit.connection, of_kind)
                    unit.added_vectors(active.space_id, kind, ids)


def companions_of(note: Note, max_chars: int) -> tuple[Chunk, ...]:
    """Return the texts of a note's companions; a blank field has none."""
    conclusions = note.key_conclusions if isinstance(note.key_conclusions, list) else []
    texts = (
        note.title,
        note.summary,
        "\n".join(text for text in conclusions if isinstance(text, str)),
    )
    longest = min(LONGEST_PARAGRAPH, max_chars)
    whole = "\n\n".join(text for text in texts if text)
    fields = [
        Chunk(number, text[:longest], KIND_FIELD)
        for number, text in enumerate(texts)
        if not is_blank(text)
    ]
    return (Chunk(0, whole[:longest], KIND_WHOLE), *fields) if not is_blank(whole) else ()
