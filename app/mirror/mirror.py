"""The mirror: one object per process that catches up with the feed before each search.

Readers take the current view without waiting; one of them at a time applies what is new and
swaps the reference. Merging segments runs in a thread of its own.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from sqlalchemy import Connection

from app.db import changes
from app.db.engine import Database
from app.domain.changes import IndexState
from app.domain.chunks import KIND_CHUNK
from app.errors import DatabaseUnavailable
from app.index.snapshot import Snapshot
from app.index.work import aside
from app.mirror import held_vectors, parts
from app.mirror.held_vectors import IN_MEMORY, Holding
from app.mirror.shared_vectors import ViewOutdated
from app.mirror.view import View

MAXIMUM_REOPENS = 100
CHUNKS = (KIND_CHUNK,)
CHECK_SECONDS = 2.0
"""So long a stop waits for the check of a snapshot."""

_log = logging.getLogger(__name__)


class Mirror:
    """The in-memory side of one database."""

    def __init__(
        self, database: Database, second_space: int | None = None, holding: Holding = IN_MEMORY
    ) -> None:
        """Follow a database; ``second_space`` is the id of the second space, if there is one."""
        self._database = database
        self._second_space = second_space
        self._view: View | None = None
        self._lock = threading.Lock()
        self._loading = threading.Lock()
        self._merging = threading.Lock()
        self._checks: list[threading.Thread] = []
        self._holding = replace(holding, on_mapped=self._check_beside)

    @property
    def is_in_memory(self) -> bool:
        """Tell whether this process holds the vectors that it searches."""
        return self._holding.shared is None

    @property
    def latest(self) -> View | None:
        """The view that was used last, maybe outdated; None before the first."""
        return self._view

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

    def prepare(self, wanted: Iterable[str]) -> None:
        """Load those of the parts that nobody has needed yet; returns at once without any.

        Of those who wait for the same load only one has a connection.
        """
        listed = tuple(wanted)
        if self._lacks(listed):
            with self._loading:
                if self._lacks(listed):
                    with self.open(listed):
                        pass

    def _lacks(self, wanted: tuple[str, ...]) -> bool:
        view = self._view
        return view is None or bool(parts.missing(view, wanted))

    def warm(self, wanted: Iterable[str] = CHUNKS) -> None:
        """Load parts now, so that the first search need not."""
        with self.open(wanted) as (_, view):
            _log.info("view loaded", extra={"sequence": view.state.sequence})

    def _view_at(self, connection: Connection, wanted: tuple[str, ...]) -> View | None:
        """Return the view of this snapshot; None when the view is already past it."""
        state = changes.state(connection)
        view = self._view
        if view is None or view.state != state or parts.missing(view, wanted):
            try:
                # It may take seconds; searches that need nothing more go on.
                with aside(), self._lock:
                    view = self._caught_up(connection, state, wanted)
            except ViewOutdated:
                return None
        return view

    def _caught_up(
        self, connection: Connection, state: IndexState, wanted: tuple[str, ...]
    ) -> View | None:
        known = view = self._view
        if view is not None and not _can_follow(view.state, state):
            view = None
        if view is None:
            view = parts.empty(connection, state, self._second_space)
        elif view.state.sequence > state.sequence:
            return None
        elif view.state.sequence < state.sequence:
            entries = changes.since(connection, view.state.sequence)
            view = parts.followed(connection, view, entries, state, self._holding)
        lacking = parts.missing(view, wanted)
        if lacking:
            view = parts.with_parts(connection, view, lacking, self._holding)
        self._view = view
        if known is not None and view is not known and not parts.is_settled(view):
            # After the swap: the merge would look at the view of before.
            self._merge_beside()
        return self._view

    def _merge_beside(self) -> None:
        if self._merging.acquire(blocking=False):
            threading.Thread(target=self._merge, name="index-merge", daemon=True).start()

    def _merge(self) -> None:
        try:
            merges = 0
            while self._merge_once():
                merges += 1
            if merges and self._view is not None:
                held_vectors.save(self._view, self._holding, only_if_grown=True)
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

    def close(self) -> None:
        """Leave snapshots of large indexes for the next process; call it on a clean stop.

        A check that still runs is waited for a little: its connection would stay open.
        """
        end = time.monotonic() + CHECK_SECONDS
        for check in self._checks:
            check.join(max(end - time.monotonic(), 0.0))
        if self._view is not None:
            held_vectors.save(self._view, self._holding)
        if self._holding.shared is not None:
            self._holding.shared.close()

    def _check_beside(self, part: str, kept: Snapshot) -> None:
        check = threading.Thread(
            target=self._check, args=(part, kept), name="index-check", daemon=True
        )
        check.start()
        self._checks = [*(each for each in self._checks if each.is_alive()), check]

    def _check(self, part: str, kept: Snapshot) -> None:
        try:
            self._mend(part, kept)
        except DatabaseUnavailable as error:
            _log.warning("the snapshot of %s is not checked: %s", part, error.message)

    def _mend(self, part: str, kept: Snapshot) -> None:
        """Compare a mapped index with its checksums and with the rows; mend what is not right."""
        damaged = kept.damaged()
        if len(damaged):
            _log.warning(
                "%d damaged vectors in a snapshot of %s are read again", len(damaged), part
            )
            self._replace(
                part, lambda connection, view: parts.reread(connection, view, part, damaged)
            )
        with self.open((part,)) as (connection, view):
            is_foreign = held_vectors.differs(connection, view, part)
        if is_foreign:
            _log.warning("the snapshot of %s is not of this database; it is built anew", part)
        if is_foreign or len(damaged):
            kept.path.unlink(missing_ok=True)
        if is_foreign:
            self._replace(part, lambda connection, view: parts.without(view, part))

    def _replace(self, part: str, change: Callable[[Connection, View], View]) -> None:
        """Put another view in the place of the newest one."""
        for _ in range(MAXIMUM_REOPENS):
            with self._database.read() as connection, self._lock:
                view = self._caught_up(connection, changes.state(connection), (part,))
                if view is not None:
                    self._view = change(connection, view)
                    return


def _can_follow(known: IndexState, state: IndexState) -> bool:
    return known.epoch == state.epoch and known.sequence >= state.trimmed_to
