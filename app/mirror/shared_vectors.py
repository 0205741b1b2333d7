"""Brings the vectors that all processes share in step with the rows.

Owns the turn in which one process at a time writes to a store. Each turn holds up the database's
writers, so it is short: a store is filled batch by batch, by whichever processes need it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np
from sqlalchemy import Connection

from app.db import changes, chunk_feeds, chunks
from app.domain.changes import CHANGED_VECTOR, OPERATION_ADD, Change
from app.embedding.scale import Means, centre_passages
from app.index.shared import Batch, Progress, SharedIndex, Store
from app.index.snapshot import Label

TURN_ROWS = 2_000
"""Vectors that are written in one turn."""

LAG = 5_000
"""So many transactions without a change of its vectors may go by before a store is told."""

KEPT_SEQUENCES = 1_000
"""What was removed so many transactions ago is forgotten."""

Turn = Callable[[], AbstractContextManager[Connection]]


class ViewOutdated(Exception):
    """A store does not know the state of a view any more; a newer snapshot must be opened."""


class WritableStore(Store, Protocol):
    """A store, and how it is written; connections are those of the turn."""

    def progress(self, connection: Connection | None = None) -> Progress | None:
        """Return how far it is, None when there is none."""
        ...

    def begin(self, connection: Connection) -> None:
        """Make it anew, empty."""
        ...

    def write(self, connection: Connection, batch: Batch, progress: Progress) -> None:
        """Apply a batch of changes; all of it may have been applied before."""
        ...


def in_step(
    store: WritableStore, label: Label, means: Means | None, turn: Turn, sequence: int
) -> SharedIndex:
    """Return the index of a store at a sequence number, after writing what it lacks.

    Raises:
        ViewOutdated: the store was begun, or forgot what was removed, after that number.
    """
    progress = store.progress()
    while progress is None or not progress.is_complete or progress.sequence < sequence:
        with turn() as connection:
            changes.take_turn(connection)
            progress = _step(connection, store, label, means)
    if sequence < progress.since:
        raise ViewOutdated
    return SharedIndex(store, label.dimension, sequence)


def _step(
    connection: Connection, store: WritableStore, label: Label, means: Means | None
) -> Progress:
    state, progress = changes.state(connection), store.progress(connection)
    if progress is None or not state.trimmed_to <= progress.sequence <= state.sequence:
        store.begin(connection)
        progress = Progress(state.sequence, 0, False, state.sequence)
    removed, added = _delta(connection, label, progress)
    last_id, is_complete = progress.last_id, progress.is_complete
    if not is_complete:
        fresh = chunk_feeds.next_ids(
            connection, label.space_id, label.kind, progress.last_id, TURN_ROWS
        )
        is_complete = len(fresh) < TURN_ROWS
        added = dict.fromkeys(fresh, 0) | added
        last_id = fresh[-1] if fresh else last_id
    rows = chunks.vectors(connection, sorted(added), label.dimension)
    batch = Batch(
        removed=np.array(list(removed), dtype=np.int64),
        removed_at=np.array(list(removed.values()), dtype=np.int64),
        added=rows.ids,
        added_at=np.array([added[id_] for id_ in rows.ids.tolist()], dtype=np.int64),
        vectors=centre_passages(rows.vectors, rows.has_han, means),
    )
    since = state.sequence
    if progress.is_complete:
        since = max(progress.since, state.sequence - KEPT_SEQUENCES)
    done = Progress(state.sequence, last_id, is_complete, since)
    store.write(connection, batch, done)
    return done


def _delta(
    connection: Connection, label: Label, progress: Progress
) -> tuple[dict[int, int], dict[int, int]]:
    """Return what was removed and what was added since, with the sequence number of each."""
    removed: dict[int, int] = {}
    added: dict[int, int] = {}
    entries = changes.of_vectors(connection, progress.sequence, label.space_id, label.kind)
    for sequence, operation, target in entries:
        into, out_of = (added, removed) if operation == OPERATION_ADD else (removed, added)
        into[target] = sequence
        out_of.pop(target, None)
    return removed, added


def of_label(entries: Iterable[Change], space_id: int, kind: str) -> list[Change]:
    """Return the entries that are about the vectors of a kind in a space."""
    return [
        entry
        for entry in entries
        if entry.what == CHANGED_VECTOR and entry.kind == kind and entry.space_id == space_id
    ]
