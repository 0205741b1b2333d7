"""The mirror: one object per process that catches up with the feed before each search.

Readers take the current view without waiting; one of them at a time applies what is new and
swaps the reference. Merging segments runs in a thread of its own.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from app.db import changes, chunks, spaces
from app.db.engine import Database
from app.domain.changes import CHANGED_SPACE, OPERATION_ADD, Change, IndexState
from app.domain.chunks import KIND_CHUNK
from app.domain.spaces import Space
from app.embedding.scale import Means, centre_passages, means_of
from app.errors import DatabaseUnavailable
from app.index.faiss_flat import FlatIndex
from app.mirror.view import View

MAXIMUM_REOPENS = 100

_log = logging.getLogger(__name__)


class Mirror:
    """The in-memory side of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._view: View | None = None
        self._lock = threading.Lock()
        self._merging = threading.Lock()

    @contextmanager
    def open(self) -> Iterator[tuple[Connection, View]]:
        """Open a read snapshot together with the view that agrees with it.

        Another thread may have brought the view past the snapshot; then it is opened again.

        Raises:
            DatabaseUnavailable: the database cannot be read.
        """
        for _ in range(MAXIMUM_REOPENS):
            with self._database.read() as connection:
                view = self._view_at(connection)
                if view is not None:
                    yield connection, view
                    return
        raise DatabaseUnavailable("The database changes faster than a search can follow")

    def warm(self) -> None:
        """Load the index now, so that the first search need not."""
        with self.open():
            pass

    def _view_at(self, connection: Connection) -> View | None:
        """Return the view of this snapshot; None when the view is already past it."""
        state = changes.state(connection)
        view = self._view
        if view is None or view.state != state:
            with self._lock:
                view = self._caught_up(connection, state)
        return view

    def _caught_up(self, connection: Connection, state: IndexState) -> View | None:
        view = self._view
        if view is None or not _can_follow(view.state, state):
            view = self._view = _load(connection, state)
        elif view.state.sequence < state.sequence:
            entries = changes.since(connection, view.state.sequence)
            view = self._view = _followed(connection, view, entries, state)
            self._merge_beside()
        elif view.state.sequence > state.sequence:
            return None
        return view

    def _merge_beside(self) -> None:
        if self._merging.acquire(blocking=False):
            threading.Thread(target=self._merge, name="index-merge", daemon=True).start()

    def _merge(self) -> None:
        try:
            while self._merge_once():
                pass
        finally:
            self._merging.release()

    def _merge_once(self) -> bool:
        view = self._view
        index = view.index if view else None
        if not isinstance(index, FlatIndex):
            return False
        merge = index.merge()
        if merge is None:
            return False
        with self._lock:
            current = self._view
            if current is not None and isinstance(current.index, FlatIndex):
                self._view = replace(current, index=current.index.adopt(merge))
        return True


def _can_follow(known: IndexState, state: IndexState) -> bool:
    return known.epoch == state.epoch and known.sequence >= state.trimmed_to


def _load(connection: Connection, state: IndexState) -> View:
    space = spaces.active(connection)
    if space is None or space.spec.dimension is None:
        return View(state, space, None, None)
    means = means_of(space.spec)
    index = FlatIndex.loaded(
        space.spec.dimension,
        chunks.count(connection, space.id, KIND_CHUNK),
        _batches(connection, space, space.spec.dimension, means),
    )
    _log.info("index loaded", extra={"vectors": index.count(), "sequence": state.sequence})
    return View(state, space, means, index)


def _batches(
    connection: Connection, space: Space, dimension: int, means: Means | None
) -> Iterable[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    for batch in chunks.all_vectors(connection, space.id, KIND_CHUNK, dimension):
        yield batch.ids, centre_passages(batch.vectors, batch.has_han, means)


def _followed(
    connection: Connection, view: View, entries: Iterable[Change], state: IndexState
) -> View:
    """Apply entries to a view; a changed space means loading anew."""
    added: set[int] = set()
    removed: set[int] = set()
    for entry in entries:
        if entry.what == CHANGED_SPACE or view.space is None or view.index is None:
            return _load(connection, state)
        if entry.space_id == view.space.id and entry.kind == KIND_CHUNK:
            is_added = entry.operation == OPERATION_ADD
            (added if is_added else removed).add(entry.target_id)
            (removed if is_added else added).discard(entry.target_id)
    if view.index is None or not (added or removed):
        return replace(view, state=state)
    batch = chunks.vectors(connection, sorted(added), view.index.dimension)
    gone = np.array(sorted(removed), dtype=np.int64)
    vectors = centre_passages(batch.vectors, batch.has_han, view.means)
    return replace(view, state=state, index=view.index.changed(gone, batch.ids, vectors))
