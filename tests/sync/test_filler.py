"""The thread that makes companions: what wakes it, what it outlives, and how it ends."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from app.domain.notes import NoteDraft, NotePatch
from app.factory import Application
from app.search import warming
from app.sync import companions, filler
from tests.support.application import opened, plant, stub_values
from tests.support.companions import notes_with_companions
from tests.support.provider import (
    Asked,
    Reply,
    StubProvider,
    VectorFunction,
    fine,
    refused_address,
    status,
)
from tests.sync.conftest import allow_changes, refuse_changes, take_in

PATIENCE = 20


def eventually(condition: Callable[[], object]) -> None:
    """Wait until something is so; only a fault waits to the end."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.005)


def fill_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "companions"]


@pytest.fixture
def started(application: Application) -> Iterator[Application]:
    """An application whose filler is at work and has looked once."""
    before = len(fill_threads())
    application.filler.start()
    yield application
    application.filler.close()
    assert len(fill_threads()) == before


def filled(application: Application, ids: list[int]) -> None:
    """Wait until exactly these notes have companions."""
    eventually(lambda: notes_with_companions(application) == ids)


def test_a_start_makes_what_is_missing(application: Application) -> None:
    ids = plant(application, [0.9, 0.8])
    application.filler.start()
    filled(application, ids)


def test_the_server_starts_it_and_ends_it(application: Application) -> None:
    ids = plant(application, [0.9])
    application.warm()
    filled(application, ids)
    application.close()
    assert not fill_threads()


@pytest.mark.parametrize("ranker", ["chatcrystal", "hybrid"])
@pytest.mark.parametrize("most", [0, 20_000], ids=["many notes", "few notes"])
def test_a_warm_server_has_loaded_what_its_searches_read(
    provider: StubProvider,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ranker: str,
    most: int,
) -> None:
    """In the background: those of the default ranker, and of `hybrid` while they are little."""
    monkeypatch.setattr(warming, "WARMED_NOTES", most)
    with opened(tmp_path, stub_values(provider) | {"search.ranker": ranker}) as server:
        plant(server, [0.9])
        server.warm()
        eventually(lambda: "warm" not in {each.name for each in threading.enumerate()})
        view = server.mirror.latest
        assert view is not None
        wanted = {"chunk"} | ({"whole", "field"} if most or ranker == "hybrid" else set())
        assert (set(view.vectors), view.words is not None) == (wanted, wanted != {"chunk"})


def test_without_a_start_nothing_is_made(application: Application) -> None:
    ids = plant(application, [0.9])
    application.filler.wake()
    assert not fill_threads()
    assert application.companions.missing() == tuple(ids)
    application.filler.close()


WRITES: dict[str, Callable[[Application], object]] = {
    "create": lambda application: plant(application, [0.7]),
    "edit": lambda application: application.writer.edit_note(1, NotePatch({"title": "new"})),
    "embed": lambda application: application.batches.embed_one(1),
    "embed many": lambda application: application.batches.embed_many([1]),
    "queue": lambda application: application.queue.submit(
        dict.fromkeys(take_in(application, ["cos=0.6"]), "title")
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_every_embedding_wakes_it(started: Application, name: str) -> None:
    """It would look by itself after a minute, longer than the test is patient."""
    assert filler.LOOK_SECONDS > PATIENCE
    plant(started, [0.9])
    filled(started, [1])
    WRITES[name](started)
    eventually(lambda: not started.queue.progress().count("queued", "running"))
    with started.database.read() as connection:
        ids = [row[0] for row in connection.execute(text("SELECT id FROM notes ORDER BY id"))]
    filled(started, ids)
    assert started.companions.missing() == ()


def test_it_looks_by_itself_for_what_other_processes_wrote(
    application: Application,
    provider: StubProvider,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(filler, "LOOK_SECONDS", 0.02)
    application.filler.start()
    with opened(tmp_path, stub_values(provider)) as other:
        ids = plant(other, [0.9])
        filled(other, ids)
    application.filler.close()


@pytest.mark.parametrize("outage", ["status 500", "cannot be reached"])
def test_it_outlives_a_provider_that_is_away(
    application: Application,
    provider: StubProvider,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    outage: str,
) -> None:
    caplog.set_level(logging.WARNING, logger="app.sync.filler")
    ids = plant(application, [0.9, 0.8])
    with refused_address() as address:
        away = {"base_url": address} if outage == "cannot be reached" else {}
        provider.behave(status(500))
        with opened(tmp_path, stub_values(provider, **away)) as server:
            server.filler.start()
            eventually(lambda: any(outage in message for message in caplog.messages))
            assert all(record.exc_info is None for record in caplog.records)
            assert notes_with_companions(server) == []
            assert fill_threads()
            if not away:
                provider.behave(fine)
                server.filler.wake()
                filled(server, ids)


def test_it_outlives_a_fault_and_logs_it(
    started: Application,
    provider: StubProvider,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.ERROR, logger="app.sync.filler")
    plant(started, [0.9])
    filled(started, [1])
    with opened(tmp_path, stub_values(provider)) as other:
        plant(other, [0.8])
    refuse_changes(started)
    started.filler.wake()
    eventually(lambda: any(record.exc_info for record in caplog.records))
    allow_changes(started)
    started.filler.wake()
    filled(started, [1, 2])


class Gate:
    """A provider that answers when it is opened, and tells when it is asked."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.open = threading.Event()

    def __call__(self, asked: Asked, vector: VectorFunction) -> Reply:
        self.asked.set()
        assert self.open.wait(PATIENCE)
        return fine(asked, vector)


def test_closing_finishes_the_group_at_hand_and_begins_no_other(
    application: Application, provider: StubProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(companions, "GROUP", 1)
    ids = plant(application, [0.9, 0.8, 0.7])
    gate = Gate()
    provider.behave(gate)
    application.filler.start()
    assert gate.asked.wait(PATIENCE)
    closing = threading.Thread(target=application.filler.close)
    closing.start()
    eventually(lambda: application.filler._thread.is_ending)
    gate.open.set()
    closing.join(PATIENCE)
    assert not closing.is_alive()
    assert not fill_threads()
    assert notes_with_companions(application) == ids[:1]


def test_a_wake_during_the_work_is_not_forgotten(
    application: Application, provider: StubProvider
) -> None:
    (first,) = plant(application, [0.9])
    gate = Gate()
    provider.behave(fine, script=[gate])
    application.filler.start()
    assert gate.asked.wait(PATIENCE)
    second = application.writer.create_note(NoteDraft("second", "cos=0.8"))
    gate.open.set()
    filled(application, [first, second])
    application.filler.close()


def test_it_can_be_closed_twice(started: Application) -> None:
    started.filler.close()
    started.filler.close()
