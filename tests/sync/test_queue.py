"""The embedding queue of a process: progress, cancelling, reasons, and faults it outlives."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.db import engine
from app.factory import Application
from app.sync.batches import GROUP
from app.sync.queue import CANCELLED, COMPLETED, FAILED, QUEUED, RUNNING, Progress
from tests.support.application import opened, stub_values
from tests.support.provider import Asked, Reply, StubProvider, VectorFunction, fine
from tests.sync.conftest import (
    POISON,
    allow_changes,
    refuse_changes,
    refusing_poison,
    statuses,
    take_in,
)

PATIENCE = 20


class Gate:
    """A provider that answers when it is opened, and tells when it is first asked."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.open = threading.Event()

    def __call__(self, asked: Asked, vector: VectorFunction) -> Reply:
        self.asked.set()
        assert self.open.wait(PATIENCE)
        return fine(asked, vector)


@pytest.fixture
def gate(provider: StubProvider) -> Iterator[Gate]:
    """A gate before the provider, opened in the end whatever happens."""
    gate = Gate()
    provider.behave(gate)
    yield gate
    gate.open.set()


def titles(ids: list[int]) -> dict[int, str]:
    return {note_id: f"title {note_id}" for note_id in ids}


def finished(application: Application) -> Progress:
    """Wait until nothing is queued or running."""
    progress = application.queue.progress()
    while progress.count(QUEUED, RUNNING):
        seen = progress.version
        progress = application.queue.wait(seen, PATIENCE)
        assert progress.version > seen, "the queue stands still"
    return progress


def states(progress: Progress) -> list[tuple[int, str]]:
    return [(int(task.id), task.status) for task in progress.tasks]


def test_every_note_is_embedded_and_told_of(application: Application) -> None:
    ids = take_in(application, [f"note {number}" for number in range(GROUP + 2)])
    seen = application.queue.progress().version
    assert application.queue.submit(titles(ids)) == GROUP + 2
    progress = finished(application)
    assert progress.version > seen
    assert states(progress) == [(note_id, COMPLETED) for note_id in ids]
    for task in progress.tasks:
        assert task.title == f"title {task.id}"
        assert task.error is None
        assert task.started_at is not None and task.finished_at is not None
        assert task.added_at <= task.started_at <= task.finished_at
    assert statuses(application) == ["done"] * (GROUP + 2)


def test_progress_shows_what_runs_and_what_waits(application: Application, gate: Gate) -> None:
    ids = take_in(application, [f"note {number}" for number in range(GROUP + 2)])
    application.queue.submit(titles(ids))
    assert gate.asked.wait(PATIENCE)
    progress = application.queue.progress()
    assert (progress.count(RUNNING), progress.count(QUEUED)) == (GROUP, 2)
    gate.open.set()
    assert finished(application).count(COMPLETED) == GROUP + 2


def test_cancelling_drops_what_waits_and_finishes_what_runs(
    application: Application, gate: Gate
) -> None:
    ids = take_in(application, [f"note {number}" for number in range(GROUP + 3)])
    application.queue.submit(titles(ids))
    assert gate.asked.wait(PATIENCE)
    assert application.queue.cancel() == 3
    assert application.queue.cancel() == 0
    gate.open.set()
    progress = finished(application)
    assert (progress.count(COMPLETED), progress.count(CANCELLED)) == (GROUP, 3)
    assert statuses(application) == ["done"] * GROUP + ["pending"] * 3
    assert application.queue.submit(titles(ids[GROUP:])) == 3
    assert states(finished(application)) == [(note_id, COMPLETED) for note_id in ids[GROUP:]]


def test_what_is_queued_is_not_queued_twice(application: Application, gate: Gate) -> None:
    ids = take_in(application, ["one", "two", "three"])
    assert application.queue.submit(titles(ids[:2])) == 2
    assert gate.asked.wait(PATIENCE)
    assert application.queue.submit(titles(ids)) == 1
    assert application.queue.submit(titles(ids)) == 0
    gate.open.set()
    assert states(finished(application)) == [(note_id, COMPLETED) for note_id in ids]


def test_a_submit_after_the_end_begins_a_new_record(application: Application) -> None:
    ids = take_in(application, ["one", "two"])
    application.queue.submit(titles(ids))
    finished(application)
    assert application.queue.submit(titles(ids[:1])) == 1
    assert states(finished(application)) == [(ids[0], COMPLETED)]


def test_a_failed_note_has_its_reason(application: Application, provider: StubProvider) -> None:
    provider.behave(refusing_poison)
    ids = take_in(application, ["fine", POISON])
    application.queue.submit(titles(ids))
    progress = finished(application)
    assert states(progress) == [(ids[0], COMPLETED), (ids[1], FAILED)]
    assert "answered with status 400" in str(progress.tasks[1].error)


def test_the_worker_outlives_an_unexpected_fault(
    application: Application, caplog: pytest.LogCaptureFixture
) -> None:
    ids = take_in(application, ["one", "two"])
    refuse_changes(application)
    application.queue.submit(titles(ids))
    progress = finished(application)
    assert [task.error for task in progress.tasks] == [
        "an unexpected fault; see the server's log"
    ] * 2
    assert progress.count(FAILED) == 2
    assert "embedding failed" in caplog.messages
    allow_changes(application)
    application.queue.submit(titles(ids))
    assert finished(application).count(COMPLETED) == 2


def test_a_locked_database_is_the_reason(
    provider: StubProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BUSY_TIMEOUT_SECONDS", 0.1)
    with (
        opened(tmp_path, stub_values(provider)) as application,
        opened(tmp_path, stub_values(provider)) as other,
    ):
        ids = take_in(application, ["one"])
        with other.database.write():
            application.queue.submit(titles(ids))
            progress = finished(application)
        assert "locked by another program" in str(progress.tasks[0].error)
        application.queue.submit(titles(ids))
        assert finished(application).count(COMPLETED) == 1


def test_closing_finishes_what_runs_and_drops_the_rest(
    application: Application, gate: Gate
) -> None:
    ids = take_in(application, [f"note {number}" for number in range(GROUP + 1)])
    application.queue.submit(titles(ids))
    assert gate.asked.wait(PATIENCE)
    closer = threading.Thread(target=application.queue.close)
    closer.start()
    application.queue.wait(application.queue.progress().version + 10**6, PATIENCE)
    gate.open.set()
    closer.join()
    progress = application.queue.progress()
    assert (progress.count(COMPLETED), progress.count(CANCELLED)) == (GROUP, 1)
    assert "embedding" not in [thread.name for thread in threading.enumerate()]


def test_waiting_ends_without_news(application: Application) -> None:
    progress = application.queue.progress()
    assert application.queue.wait(progress.version, 0.01) == progress
