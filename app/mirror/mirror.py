"""The mirror: one object per process that catches up with the feed before each search.

Readers take the current view without waiting; one of them at a time applies what is new and
swaps the reference. Merging segments runs in a thread of its own.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

from app.db import changes
from app.db.engine import Database
from app.domain.changes import IndexState
from app.domain.chunks import KIND_CHUNK
from app.errors import DatabaseUnavailable
from app.mirror import parts
from app.mirror.view import View

MAXIMUM_REOPENS = 100
CHUNKS = (KIND_CHUNK,)

_log = logging.getLogger(__name__)


class Mirror:
    """The in-memory side of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._view: View | None = None
        self._lock = threading.Lock()
        self._merging = threading.Lock()

    @contextmanager
    def open(self, wanted: Iterable[str] = CHUNKS) -> Iterator[tuple[Connection, View]]:
        """Open a read snapshot together with the view that agrees with it.

        The view has the wanted parts (kinds of vectors, or ``WORDS``), loaded now if need be.
        Another thread may have brought the view past the snapshot; then it is opened again.

        Raises:
            DatabaseUnavailable: the database cannot be read.
        """
        listed = tuple(wanted)
        for _ in range(MAXIMUM_REOPENS):
            with self._database.read() as connection:
                view = self._view_at(connection, listed)
                if view is not None:
                    yield connection, view
                    return
        raise DatabaseUnavailable("The database changes faster than a search can follow")

    def warm(self, wanted: Iterable[str] = CHUNKS) -> None:
        """Load parts now, so that the first search need not."""
        with self.open(wanted) as (_, view):
            _log.info("view loaded", extra={"sequence": view.state.sequence})

    def _view_at(self, connection: Connection, wanted: tuple[str, ...]) -> View | None:
        """Return the view of this snapshot; None when the view is already past it."""
        state = changes.state(connection)
        view = self._view
        if view is None or view.state != state or parts.missing(view, wanted):
            with self._lock:
                view = self._caught_up(connection, state, wanted)
        return view

    def _caught_up(
        self, connection: Connection, state: IndexState, wanted: tuple[str, ...]
    ) -> View | None:
        known = view = self._view
        if view is not None and not _can_follow(view.state, state):
            view = None
        if view is None:
            view = parts.empty(connection, state)
        elif view.state.sequence > state.sequence:
            return None
        elif view.state.sequence < state.sequence:
            entries = changes.since(connection, view.state.sequence)
            view = parts.followed(connection, view, entries, state)
        lacking = parts.missing(view, wanted)
        self._view = parts.with_parts(connection, view, lacking) if lacking else view
        if known is not None and self._view is not known:
            # After the swap: the merge would look at the view of before.
            self._merge_beside()
        return self._view

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
        """Merge what one part has to merge; tell whether there was anything."""
        view = self._view
        merge = parts.next_merge(view) if view else None
        if merge is None:
            return False
        with self._lock:
            if self._view is not None:
                self._view = parts.adopted(self._view, merge)
        return True


def _can_follow(known: IndexState, state: IndexState) -> bool:
    return known.epoch == state.epoch and known.sequence >= state.trimmed_to
