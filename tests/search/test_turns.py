"""Searches take turns where they would take the interpreter from one another, nowhere else."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from sqlalchemy import event

from app.factory import Application
from app.search import turns
from tests.support.application import ask, found_ids, opened, plant, stub_values
from tests.support.provider import Asked, Reply, StubProvider, VectorFunction, fine

PATIENCE = 9.0
CALLERS = 4
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def application(
    provider: StubProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Application]:
    """One search at once; a note that is found by its word."""
    monkeypatch.setattr(turns, "AT_ONCE", 1)
    with opened(tmp_path, stub_values(provider)) as built:
        plant(built, [0.95], "walrus")
        yield built


def most_at_once(application: Application) -> int:
    """The most searches that were reading their rows at the same time."""
    reading: list[int] = []
    peak = [0]

    def begins(_: Any, __: Any, statement: str, *___: Any) -> None:
        if "chunk_text" in statement:
            reading.append(1)
            peak[0] = max(peak[0], len(reading))
            time.sleep(0.05)

    def ends(_: Any, __: Any, statement: str, *___: Any) -> None:
        if "chunk_text" in statement:
            reading.pop()

    engine = application.database.engine
    event.listen(engine, "before_cursor_execute", begins)
    event.listen(engine, "after_cursor_execute", ends)
    try:
        with ThreadPoolExecutor(CALLERS) as pool:
            list(pool.map(lambda _: ask(application, "walrus"), range(CALLERS)))
    finally:
        event.remove(engine, "before_cursor_execute", begins)
        event.remove(engine, "after_cursor_execute", ends)
    return peak[0]


@pytest.mark.sqlite
def test_no_more_are_ranked_at_once_than_may_be(application: Application) -> None:
    assert most_at_once(application) == 1


def test_who_waits_for_the_provider_keeps_nobody_from_it(
    application: Application, provider: StubProvider
) -> None:
    found = found_ids(ask(application, "walrus"))
    is_asked, may_answer = Event(), Event()

    def held_back(asked: Asked, vector: VectorFunction) -> Reply:
        is_asked.set()
        may_answer.wait(PATIENCE)
        return fine(asked, vector)

    provider.behave(held_back)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(ask, application, "another")
        assert is_asked.wait(PATIENCE)
        # Its vector is remembered.
        assert found_ids(ask(application, "walrus")) == found
        assert not slow.done()
        may_answer.set()
        assert found_ids(slow.result()) == found


@pytest.mark.sqlite
def test_who_waits_for_relations_keeps_nobody_from_searching(
    provider: StubProvider, tmp_path: Path
) -> None:
    with opened(tmp_path, stub_values(provider)) as roomy, ThreadPoolExecutor(1) as pool:
        plant(roomy, [0.95], "walrus")
        found = found_ids(ask(roomy, "walrus"))
        # The parts of both are loaded, so that only relations are waited for.
        assert found_ids(ask(roomy, "walrus", ranker="finder")) == found
        with held_back(roomy, "note_relations") as (is_waiting, may_go_on):
            slow = pool.submit(ask, roomy, "walrus", ranker="finder")
            assert is_waiting.wait(PATIENCE)
            assert found_ids(ask(roomy, "walrus")) == found
            assert not slow.done()
            may_go_on.set()
            assert found_ids(slow.result()) == found


@contextmanager
def held_back(application: Application, table: str) -> Iterator[tuple[Event, Event]]:
    """Hold statements about a table back; gives what tells of one, and what lets them go on."""
    is_held, may_go_on = Event(), Event()

    def wait(_: Any, __: Any, statement: str, *___: Any) -> None:
        if table in statement:
            is_held.set()
            may_go_on.wait(PATIENCE)

    event.listen(application.database.engine, "before_cursor_execute", wait)
    try:
        yield is_held, may_go_on
    finally:
        may_go_on.set()
        event.remove(application.database.engine, "before_cursor_execute", wait)


@pytest.mark.sqlite
def test_who_loads_an_index_keeps_nobody_from_searching(application: Application) -> None:
    found = found_ids(ask(application, "walrus"))
    with (
        ThreadPoolExecutor(1) as pool,
        held_back(application, "lexical_documents") as (is_loading, may_go_on),
    ):
        slow = pool.submit(ask, application, "walrus", ranker="fusion")
        assert is_loading.wait(PATIENCE)
        assert found_ids(ask(application, "walrus")) == found
        assert not slow.done()
        may_go_on.set()
        assert found_ids(slow.result()) == found


@pytest.mark.sqlite
def test_those_who_wait_for_one_load_hold_no_connections(application: Application) -> None:
    found = found_ids(ask(application, "walrus"))
    with (
        ThreadPoolExecutor(CALLERS) as pool,
        held_back(application, "lexical_documents") as (is_loading, may_go_on),
    ):
        waiting = [pool.submit(ask, application, "walrus", ranker="fusion") for _ in range(CALLERS)]
        assert is_loading.wait(PATIENCE)
        # The others come as far as they can.
        time.sleep(0.2)
        held = application.database.engine.pool.checkedout()  # type: ignore[attr-defined]
        may_go_on.set()
        assert [found_ids(each.result()) for each in waiting] == [found] * CALLERS
    assert held == 1


def test_those_at_work_leave_connections_to_others() -> None:
    """However many processors there are: who waits for its turn again has a connection."""
    program = (
        "import os; os.cpu_count = lambda: 512\n"
        "from app.db.engine import POOL_SIZE\n"
        "from app.search.turns import AT_ONCE\n"
        "assert AT_ONCE < POOL_SIZE, AT_ONCE"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_searches_that_wait_for_servers_take_no_turns() -> None:
    free = turns.turns(is_local=False)
    with free(), free():
        pass
