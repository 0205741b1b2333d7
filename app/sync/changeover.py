"""The change from one model to another: the old space answers until the new one is complete.

Owns when searches move over, and that every process of a database follows. Must not decide what
the configured model is.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, replace
from typing import Any

from app.db import changeover, notes, spaces
from app.db.engine import Database
from app.domain.notes import STATUS_DONE, STATUS_FAILED
from app.domain.spaces import Space
from app.embedding import former, registry
from app.embedding.active import Active, ActiveEmbedder, Searching
from app.errors import ConfigurationError, CrystalError
from app.settings import addresses, store
from app.settings.environment import current as current_environment
from app.settings.table import BY_NAME
from app.settings.values import EmbeddingSettings, Settings, parse_one
from app.sync.batches import UNEMBEDDED, BatchEmbedder
from app.sync.queue import WorkQueue
from app.sync.transaction import transaction
from app.threads import LastingThread

LOOK_SECONDS = 2.0
"""How often a process looks whether another one changed the model."""

RETRY_SECONDS = 60.0
"""How often notes that the new model failed at are tried again, and the old model if it failed."""

_GROUP = "embedding."

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a change is: notes that the old space holds, and how many of them the new one has."""

    searching: Space
    filling: Space
    notes: int
    done: int
    failed: int


class Changeover:
    """Moves searches of one process from space to space; safe among threads."""

    def __init__(self, database: Database, active: ActiveEmbedder) -> None:
        self._database = database
        self._active = active
        self._lock = threading.Lock()
        self._behind = BatchEmbedder(database, Searching(active))
        self._rests_until = 0.0
        self._thread = LastingThread("changeover")

    def progress(self) -> Progress | None:
        """Tell how far the change at hand is; None without one."""
        with self._database.read() as connection:
            searching, filling = spaces.searching(connection), spaces.active(connection)
            if searching is None or filling is None or searching.id == filling.id:
                return None
            lacking = changeover.done_only_in(connection, searching.id, filling.id)
            total = spaces.count_with_status(connection, searching.id, STATUS_DONE)
            failed = spaces.count_with_status(connection, filling.id, STATUS_FAILED)
        return Progress(searching, filling, total, total - len(lacking), failed)

    def advance(self) -> None:
        """Do what is due after notes were written.

        The old space gets what it does not know yet, so that it is found at once; when the new
        one is complete, searches move over.
        """
        if self._active.searching is self._active.current:
            return
        self._catch_up()
        with self._database.read() as connection:
            is_complete = _is_complete(spaces.searching(connection), spaces.active(connection),
                                       connection)  # fmt: skip
        if is_complete:
            self._switch()

    def follow(self) -> None:
        """Bring this process in step with the database, which another one may have changed."""
        with self._lock:
            with self._database.read() as connection:
                filling, searching = spaces.active(connection), spaces.searching(connection)
            if filling is None or searching is None:
                return
            if filling.id != self._active.current.space_id:
                self._adopt(filling, searching)
            if searching.id != self._active.searching.space_id:
                self._active.search_with(self._reader_of(searching))

    def start(self, queue: WorkQueue) -> None:
        """Follow, and have a change at hand worked off by the queue, unless closed already."""
        self._thread.start(lambda: self._work(queue))

    def stop(self) -> None:
        """Begin nothing more; what is not embedded yet goes on with the next start."""
        self._thread.stop()

    def close(self, seconds: float = 30.0) -> bool:
        """Stop, and wait for what is at hand; tell whether it ended in time."""
        return self._thread.close(seconds)

    def _work(self, queue: WorkQueue) -> None:
        due, known = 0.0, self._active.current
        while not self._thread.is_ending:
            try:
                self.follow()
                if self._active.current is not known:
                    due, known = 0.0, self._active.current
                if time.monotonic() >= due and self.progress() is not None:
                    self._fill(queue)
                    due = time.monotonic() + RETRY_SECONDS
                self.advance()
            except CrystalError as error:
                _log.warning("the change of model waits: %s", error.message)
            except Exception:  # edge: the thread outlives a fault, which is logged
                _log.exception("the change of model waits")
            self._thread.rest(LOOK_SECONDS)

    def _fill(self, queue: WorkQueue) -> None:
        with self._database.read() as connection:
            titles = notes.titles_with_status(connection, UNEMBEDDED)
        queue.submit(titles)

    def _catch_up(self) -> None:
        """Embed into the old space what was written meanwhile; leave it alone while it fails."""
        if time.monotonic() < self._rests_until:
            return
        active, searching = self._active.current, self._active.searching
        with self._database.read() as connection:
            behind = changeover.behind(connection, active.space_id, searching.space_id)
        if not behind:
            return
        report = self._behind.embed_many(behind)
        if report.reasons:
            self._rests_until = time.monotonic() + RETRY_SECONDS
            _log.warning("new notes are not in the old space: %s", next(iter(
                report.reasons.values())))  # fmt: skip

    def _switch(self) -> None:
        with transaction(self._database) as unit:
            searching, filling = spaces.searching(unit.connection), spaces.active(unit.connection)
            if filling is not None and _is_complete(searching, filling, unit.connection):
                changeover.end(unit.connection)
                unit.changed_space(filling.id)
                _log.info("searches use the new model", extra={"model": filling.spec.model})
        self.follow()

    def _adopt(self, filling: Space, searching: Space) -> None:
        """Embed with the model that another process configured, if this one may."""
        now = self._active.current
        try:
            embedding = _stored(now.settings)
            embedder = registry.create(embedding, filling.spec.dimension)
        except ConfigurationError as error:
            _log.warning("the model that is configured now cannot be used: %s", error.message)
            return
        if (embedder.spec.provider, embedder.spec.model) != _name(filling):
            embedder.close()
            return
        settings = replace(now.settings, embedding=embedding)
        self._active.replace(Active(settings, embedder, filling.id), searching.id)

    def _reader_of(self, space: Space) -> Active:
        """Return what queries of a space are embedded with."""
        active = self._active.current
        if space.id == active.space_id:
            return active
        folder, spec = active.settings.data_dir, space.spec
        address = addresses.known(folder, spec.provider, spec.model, spec.variant)
        embedder = former.create(active.settings.embedding, spec, address)
        return Active(active.settings, embedder, space.id)


def _is_complete(searching: Space | None, filling: Space | None, connection: Any) -> bool:
    """Tell whether searches may move over; not when they did already."""
    if searching is None or filling is None or searching.id == filling.id:
        return False
    return not changeover.done_only_in(connection, searching.id, filling.id)


def _name(space: Space) -> tuple[str, str]:
    return space.spec.provider, space.spec.model


def _stored(settings: Settings) -> EmbeddingSettings:
    """Return the settings of the provider as the file has them now, where it rules.

    Raises:
        ConfigurationError: the file or a value cannot be read.
    """
    variables = current_environment()
    stored = {
        name.removeprefix(_GROUP): parse_one(BY_NAME[name], text)
        for name, text in store.read(settings.data_dir).items()
        if name.startswith(_GROUP)
        and not any(variables.get(each) for each in BY_NAME[name].environment)
    }
    values: dict[str, Any] = stored
    return replace(settings.embedding, **values)
