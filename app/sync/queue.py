"""The work queue of a server process: one worker thread, groups of tasks, progress.

Owns what is waiting and what became of it. Must not know how any work is done.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice

from app.errors import CrystalError

EMBEDDING = "embedding"

QUEUED = "queued"
RUNNING = "running"
COMPLETED = "completed"
FAILED = "failed"
CANCELLED = "cancelled"

_OPEN = (QUEUED, RUNNING)

_log = logging.getLogger(__name__)

Key = tuple[str, str]
"""Kind of work and what it is done to: the id of a note or of a conversation."""


@dataclass(frozen=True, slots=True)
class Work:
    """A kind of work: how many tasks are taken at once, and what does them.

    ``run`` takes ids and returns why some of them failed.
    """

    group: int
    run: Callable[[Sequence[str]], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work, waiting or done with; times are ISO 8601, UTC."""

    kind: str
    id: str
    title: str
    status: str
    added_at: str
    started_at: str | None = None
    finished_at: str | None = None
    error: str | None = None

    @property
    def key(self) -> Key:
        """What tells it from other tasks."""
        return self.kind, self.id


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the queue is; ``version`` grows with every change."""

    version: int
    tasks: tuple[Task, ...]

    def count(self, *statuses: str) -> int:
        """Count the tasks in one of these statuses."""
        return sum(task.status in statuses for task in self.tasks)


class WorkQueue:
    """Works in the background, task by task in their order; safe among threads."""

    def __init__(self, kinds: Mapping[str, Work]) -> None:
        self._kinds = dict(kinds)
        self._tasks: OrderedDict[Key, Task] = OrderedDict()
        self._version = 0
        self._changed = threading.Condition()
        self._worker: threading.Thread | None = None
        self._is_closed = False

    def submit(self, titles: Mapping[int, str] | Mapping[str, str], kind: str = EMBEDDING) -> int:
        """Queue work by id that is not queued yet; return how many tasks were added.

        When nothing is at work, the record of finished tasks starts anew.
        """
        wanted = {(kind, str(id_)): title for id_, title in titles.items()}
        with self._changed:
            if not self._has_open():
                self._tasks.clear()
            fresh = [
                key
                for key in wanted
                if key not in self._tasks or self._tasks[key].status not in _OPEN
            ]
            for key in fresh:
                self._tasks[key] = Task(*key, wanted[key], QUEUED, _now())
                self._tasks.move_to_end(key)
            self._announce()
            if fresh and self._worker is None:
                self._worker = threading.Thread(target=self._work, name="queue", daemon=True)
                self._worker.start()
            return len(fresh)

    def cancel(self) -> int:
        """Drop what is waiting; return how many. The group at work is finished."""
        with self._changed:
            waiting = [task.key for task in self._tasks.values() if task.status == QUEUED]
            self._settle(waiting, CANCELLED)
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

    def stop(self) -> None:
        """Drop what is waiting; the group at work is the last one."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self.cancel()

    def close(self, seconds: float = 30.0) -> bool:
        """Stop, and wait for the group at work; tell whether it ended in time."""
        with self._changed:
            worker = self._worker
        self.stop()
        if worker is None:
            return True
        worker.join(seconds)
        return not worker.is_alive()

    def _has_open(self) -> bool:
        return any(task.status in _OPEN for task in self._tasks.values())

    def _announce(self) -> None:
        self._version += 1
        self._changed.notify_all()

    def _settle(
        self, keys: Iterable[Key], status: str, reasons: Mapping[str, str] | None = None
    ) -> None:
        moment = _now()
        for key in keys:
            task = self._tasks[key]
            error = (reasons or {}).get(task.id)
            self._tasks[key] = replace(
                task,
                status=FAILED if error else status,
                started_at=moment if status == RUNNING else task.started_at,
                finished_at=None if status == RUNNING else moment,
                error=error,
            )
        self._announce()

    def _next_group(self) -> list[Key]:
        """Return the next tasks, all of one kind, and mark them as running."""
        with self._changed:
            waiting = [task.key for task in self._tasks.values() if task.status == QUEUED]
            if waiting and not self._is_closed:
                kind = waiting[0][0]
                same = (key for key in waiting if key[0] == kind)
                group = list(islice(same, self._kinds[kind].group))
                self._settle(group, RUNNING)
                return group
            self._worker = None
            return []

    def _work(self) -> None:
        while group := self._next_group():
            kind, ids = group[0][0], [id_ for _, id_ in group]
            try:
                reasons = self._kinds[kind].run(ids)
            except CrystalError as error:
                reasons = dict.fromkeys(ids, error.message)
            except Exception:  # edge: a dying worker would leave its tasks running for ever
                _log.exception("%s failed", kind)
                reasons = dict.fromkeys(ids, "an unexpected fault; see the server's log")
            with self._changed:
                self._settle(group, COMPLETED, reasons)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
