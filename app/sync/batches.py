"""Embedding of many stored notes, in groups.

Owns the loop: read a group, embed it outside any transaction, store it if it is unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from app.db import notes
from app.db.engine import Database
from app.domain.notes import STATUS_DONE, Note
from app.embedding.active import Holder
from app.errors import NoteNotFound, ProviderTimeout, ProviderUnreachable
from app.sync import texts
from app.sync.transaction import transaction
from app.sync.vectors import Outcome, embed, store_many

GROUP = 32
UNEMBEDDED = ("pending", "failed", "syncing")


@dataclass(frozen=True, slots=True)
class Report:
    """What a batch came to; ``reasons`` maps the ids of failed notes to why."""

    embedded: int
    chunks: int
    reasons: dict[int, str]


class BatchEmbedder:
    """Embeds stored notes into the active space."""

    def __init__(
        self,
        database: Database,
        active: Holder,
        on_embedded: Callable[[], None] = lambda: None,
    ) -> None:
        """Embed notes of a database; ``on_embedded`` is called after each group."""
        self._database = database
        self._active = active
        self._on_embedded = on_embedded

    def unembedded(self) -> tuple[int, ...]:
        """Return the ids of notes that are not embedded, by id."""
        with self._database.read() as connection:
            return notes.ids_with_status(connection, UNEMBEDDED)

    def everything(self) -> tuple[int, ...]:
        """Return the ids of all notes, by id."""
        with self._database.read() as connection:
            return notes.all_ids(connection)

    def embed_one(self, note_id: int) -> int:
        """Embed one note anew and return the number of its chunks.

        A note that was embedded keeps its vectors when the provider fails.

        Raises:
            NoteNotFound: there is no such note.
            ProviderError: the provider failed.
            SpaceMismatch: the provider answered with vectors of another dimension.
        """
        outcomes = self._embed_group([note_id])
        if not outcomes:
            raise NoteNotFound
        outcome = outcomes[note_id]
        if outcome.error is not None:
            raise outcome.error
        return len(outcome.prepared.chunks)

    def embed_many(
        self,
        note_ids: Sequence[int],
        on_progress: Callable[[int], None] | None = None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> Report:
        """Embed notes anew, group by group; ``on_progress`` gets the number of notes done.

        When the provider cannot be reached, the rest is left as it is.
        """
        embedded = chunk_count = 0
        reasons: dict[int, str] = {}
        for start in range(0, len(note_ids), GROUP):
            if is_cancelled():
                break
            outcomes = self._embed_group(note_ids[start : start + GROUP])
            for note_id, outcome in outcomes.items():
                if outcome.failure is None:
                    embedded += 1
                    chunk_count += len(outcome.prepared.chunks)
                else:
                    reasons[note_id] = outcome.failure
            if on_progress is not None:
                on_progress(min(start + GROUP, len(note_ids)))
            if _is_down(outcomes.values()):
                break
        return Report(embedded, chunk_count, reasons)

    def run(self, note_ids: Sequence[str]) -> dict[str, str]:
        """Embed notes of the work queue; return why some failed."""
        report = self.embed_many([int(note_id) for note_id in note_ids])
        return {str(note_id): reason for note_id, reason in report.reasons.items()}

    def _embed_group(self, note_ids: Sequence[int]) -> dict[int, Outcome]:
        with self._database.read() as connection:
            found = notes.get_many(connection, note_ids)
        active = self._active.current
        max_chars = active.embedder.max_chars
        prepared = [texts.of_note(note, max_chars) for note in found]
        outcomes = embed(active.embedder, prepared)
        by_id = {note.id: outcome for note, outcome in zip(found, outcomes, strict=True)}
        with transaction(self._database) as unit:
            current = {
                note.id: by_id[note.id]
                for note in notes.get_many(unit.connection, by_id)
                if _is_to_be_stored(note, by_id[note.id], max_chars)
            }
            store_many(unit, active.space_id, current)
        self._on_embedded()
        return by_id


def _is_to_be_stored(note: Note, outcome: Outcome, max_chars: int) -> bool:
    """Tell whether a note still is what was embedded; one that was done keeps its vectors."""
    if outcome.failure and note.embedding_status == STATUS_DONE:
        return False
    return texts.of_note(note, max_chars) == outcome.prepared


def _is_down(outcomes: Iterable[Outcome]) -> bool:
    return any(
        isinstance(outcome.error, ProviderUnreachable | ProviderTimeout) for outcome in outcomes
    )
