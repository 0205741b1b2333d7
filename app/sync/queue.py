"""The embedding queue of a server process: one worker thread, groups of notes, progress.

Owns what is waiting and what became of it. Must not know how notes are embedded.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from app.errors import CrystalError
from app.sync.batches import GROUP, BatchEmbedder

QUEUED = "queued"
RUNNING = "running"
COMPLETED = "completed"
FAILED = "failed"
CANCELLED = "cancelled"

_OPEN = (QUEUED, RUNNING)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Task:
    """One note waiting to be embedded, or done with; times are ISO 8601, UTC."""

    note_id: int
    title: str
    status: str
    added_at: str
    started_at: str | None = None
    finished_at: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the queue is; ``version`` grows with every change."""

    version: int
    tasks: tuple[Task, ...]

    def count(self, *statuses: str) -> int:
        """Count the tasks in one of these statuses."""
        return sum(task.status in statuses for task in self.tasks)


class EmbeddingQueue:
    """Embeds notes in the background; safe among threads."""

    def __init__(self, batches: BatchEmbedder) -> None:
        self._batches = batches
        self._tasks: OrderedDict[int, Task] = OrderedDict()
        self._version = 0
        self._changed = threading.Condition()
        self._worker: threading.Thread | None = None
        self._is_closed = False

    def submit(self, titles: Mapping[int, str]) -> int:
        """Queue notes by id that are not queued yet; return how many were added.

        When nothing is at work, the record of finished tasks starts anew.
        """
        with self._changed:
            if not self._has_open():
                self._tasks.clear()
            fresh = [
                note_id
                for note_id in titles
                if note_id not in self._tasks or self._tasks[note_id].status not in _OPEN
            ]
            for note_id in fresh:
                self._tasks[note_id] = Task(note_id, titles[note_id], QUEUED, _now())
                self._tasks.move_to_end(note_id)
            self._announce()
            if fresh and self._worker is None:
                self._worker = threading.Thread(target=self._work, name="embedding", daemon=True)
                self._worker.start()
            return len(fresh)

    def cancel(self) -> int:
        """Drop what is waiting; return how many. The group at work is finished."""
        with self._changed:
            waiting = [task for task in self._tasks.values() if task.status == QUEUED]
            self._settle((task.note_id for task in waiting), CANCELLED)
            return len(waiting)

    def progress(self) -> Progress:
        """Return the state of every task."""
        with self._changed:
            return Progress(self._version, tuple(self._tasks.values()))

    def wait(self, seen: int, timeout: float) -> Progress:
        """Wait until the state is newer than a version, at most ``timeout`` seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._version > seen or self._is_closed, timeout)
            return Progress(self._version, tuple(self._tasks.values()))

    @property
    def is_closed(self) -> bool:
        """Tell whether nothing will change any more."""
        return self._is_closed

    def close(self) -> None:
        """Drop what is waiting and let the worker finish its group."""
        with self._changed:
            self._is_closed = True
            worker = self._worker
            self._changed.notify_all()
        self.cancel()
        if worker is not None:
            worker.join(timeout=30)

    def _has_open(self) -> bool:
        return any(task.status in _OPEN for task in self._tasks.values())

    def _announce(self) -> None:
        self._version += 1
        self._changed.notify_all()

    def _settle(
        self, note_ids: Iterable[int], status: str, reasons: Mapping[int, str] | None = None
    ) -> None:
        moment = _now()
        for note_id in note_ids:
            task = self._tasks[note_id]
            error = (reasons or {}).get(note_id)
            self._tasks[note_id] = replace(
                task,
                status=FAILED if error else status,
                started_at=moment if status == RUNNING else task.started_at,
                finished_at=None if status == RUNNING else moment,
                error=error,
            )
        self._announce()

    def _next_group(self) -> list[int]:
        with self._changed:
            waiting = [task.note_id for task in self._tasks.values() if task.status == QUEUED]
            group = waiting[:GROUP]
            if group and not self._is_closed:
                self._settle(group, RUNNING)
                return group
            self._worker = None
            return []

    def _work(self) -> None:
        while group := self._next_group():
            try:
                report = self._batches.embed_many(group)
                reasons = report.reasons
            except CrystalError as error:
                reasons = dict.fromkeys(group, error.message)
            except Exception:  # edge: a dying worker would leave its notes running for ever
                _log.exception("embedding failed")
                reasons = dict.fromkeys(group, "an unexpected fault; see the server's log")
            with self._changed:
                self._settle(group, COMPLETED, reasons)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
