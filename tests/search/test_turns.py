"""Searches take turns where they would take the interpreter from one another, nowhere else."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from app.factory import Application
from app.index.faiss_flat import FlatIndex
from app.index.work import at_work
from app.search import turns
from tests.support.application import ask, found_ids, opened, plant, stub_values
from tests.support.held import PATIENCE, Held
from tests.support.provider import Asked, Reply, StubProvider, VectorFunction, fine

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


@pytest.fixture
def roomy(provider: StubProvider, tmp_path: Path) -> Iterator[Application]:
    """As many searches at once as usual."""
    with opened(tmp_path, stub_values(provider)) as built:
        plant(built, [0.95], "walrus")
        yield built


def search(application: Application, query: str, **more: Any) -> list[int]:
    return found_ids(ask(application, query, **more))


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


@contextmanager
def held_back(application: Application, table: str) -> Iterator[Held]:
    """Hold statements about a table back."""
    held = Held()

    def wait(_: Any, __: Any, statement: str, *___: Any) -> None:
        if table in statement:
            held.wait()

    event.listen(application.database.engine, "before_cursor_execute", wait)
    try:
        yield held
    finally:
        held.may_go_on.set()
        event.remove(application.database.engine, "before_cursor_execute", wait)


def test_who_waits_for_the_provider_keeps_nobody_from_it(
    application: Application, provider: StubProvider
) -> None:
    found, held = search(application, "walrus"), Held()

    def answer_late(asked: Asked, vector: VectorFunction) -> Reply:
        held.wait()
        return fine(asked, vector)

    provider.behave(answer_late)
    # The vector of the one beside is remembered.
    slow = partial(search, application, "another")
    assert held.beside(slow, partial(search, application, "walrus")) == (found, found)


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("ranker", "table"), [("fusion", "lexical_documents"), ("finder", "note_relations")]
)
def test_who_loads_an_index_or_reads_relations_keeps_nobody_from_searching(
    roomy: Application, ranker: str, table: str
) -> None:
    found = search(roomy, "walrus")
    if table == "note_relations":
        # Its parts are loaded, so that only relations are waited for.
        assert search(roomy, "walrus", ranker=ranker) == found
    with held_back(roomy, table) as held:
        slow = partial(search, roomy, "walrus", ranker=ranker)
        assert held.beside(slow, partial(search, roomy, "walrus")) == (found, found)


@pytest.mark.sqlite
def test_who_follows_what_was_committed_has_no_turn(roomy: Application) -> None:
    """The searches that are under way go on; new ones would have to follow as well."""
    search(roomy, "walrus")
    plant(roomy, [0.9], "walrus")

    def compute() -> None:
        with at_work():
            pass

    with held_back(roomy, "FROM index_changes") as held:
        assert held.beside(partial(search, roomy, "walrus"), compute) == ([1, 2], None)


def test_who_waits_for_a_scan_has_no_turn(
    roomy: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, held = search(roomy, "walrus"), Held()
    assert search(roomy, "walrus", ranker="fusion") == found
    original = FlatIndex.search

    def scan(self: FlatIndex, *arguments: Any) -> Any:
        # As the threads beside a search are called.
        if threading.current_thread().name.startswith("scan"):
            held.wait()
        return original(self, *arguments)

    monkeypatch.setattr(FlatIndex, "search", scan)
    slow = partial(search, roomy, "walrus", ranker="fusion")
    assert held.beside(slow, partial(search, roomy, "walrus")) == (found, found)


@pytest.mark.sqlite
def test_those_who_wait_for_one_load_hold_no_connections(application: Application) -> None:
    found = search(application, "walrus")
    with (
        ThreadPoolExecutor(CALLERS) as pool,
        held_back(application, "lexical_documents") as held,
    ):
        waiting = [pool.submit(ask, application, "walrus", ranker="fusion") for _ in range(CALLERS)]
        assert held.is_held.wait(PATIENCE)
        # The others come as far as they can.
        time.sleep(0.2)
        connections = application.database.engine.pool.checkedout()  # type: ignore[attr-defined]
        held.may_go_on.set()
        assert [found_ids(each.result()) for each in waiting] == [found] * CALLERS
    assert connections == 1


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
