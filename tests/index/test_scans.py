"""Long scans are shared with threads that no other search has."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from app.index.scans import side_by_side
from app.index.work import PROCESSORS, aside, at_work, processors

PATIENCE = 9.0


def all_must_meet(count: int) -> list[Callable[[], int]]:
    """Scans that end only when so many run at once; each gives its number."""
    barrier = threading.Barrier(count)

    def scan(number: int) -> int:
        barrier.wait(PATIENCE)
        return number

    return [partial(scan, number) for number in range(count)]


def name_of_thread() -> str:
    return threading.current_thread().name


def test_long_scans_run_at_once_and_keep_their_order() -> None:
    assert side_by_side(all_must_meet(PROCESSORS), threaded=True) == list(range(PROCESSORS))
    many = [partial(int, number) for number in range(50)]
    assert side_by_side(many, threaded=True) == list(range(50))


def test_short_ones_stay_in_their_thread() -> None:
    names = side_by_side([name_of_thread] * 5, threaded=False)
    assert names == [name_of_thread()] * 5


def at_work_until(is_over: threading.Event, is_begun: threading.Semaphore) -> None:
    with at_work(), aside():
        is_begun.release()
        is_over.wait(PATIENCE)


def test_who_is_at_work_is_not_taken_as_a_helper() -> None:
    is_over, is_begun = threading.Event(), threading.Semaphore(0)
    # One more than there are processors may be at work too.
    count = PROCESSORS + 1
    with ThreadPoolExecutor(count) as pool:
        others = [pool.submit(at_work_until, is_over, is_begun) for _ in range(count)]
        for _ in others:
            assert is_begun.acquire(timeout=PATIENCE)
        names = side_by_side([name_of_thread] * 5, threaded=True)
        is_over.set()
    assert names == [name_of_thread()] * 5
    assert side_by_side(all_must_meet(PROCESSORS), threaded=True) == list(range(PROCESSORS))


def test_of_those_at_work_one_computes_at_a_time() -> None:
    computing, most = [0], [0]

    def work(_: int) -> None:
        for _ in range(20):
            with at_work():
                computing[0] += 1
                most[0] = max(most[0], computing[0])
                time.sleep(0.0002)
                computing[0] -= 1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert most == [1]


def test_others_at_work_compute_while_one_scans() -> None:
    """Two scans that wait for each other end only when both run at once."""
    meet = threading.Barrier(2)

    def search() -> list[int]:
        with at_work():
            return side_by_side([lambda: meet.wait(PATIENCE)], threaded=False)

    with ThreadPoolExecutor(2) as pool:
        searches = [pool.submit(search) for _ in range(2)]
        assert sorted(place for each in searches for place in each.result()) == [0, 1]


def test_a_turn_that_was_given_away_is_taken_back() -> None:
    """After a scan that failed, too, nobody else computes until this thread is done."""
    is_computing = threading.Event()

    def compute() -> None:
        with at_work():
            is_computing.set()

    def fail() -> int:
        raise ZeroDivisionError

    with ThreadPoolExecutor(1) as pool:
        with at_work():
            with pytest.raises(ZeroDivisionError):
                side_by_side([fail], threaded=False)
            pool.submit(compute)
            assert not is_computing.wait(0.05)
        assert is_computing.wait(PATIENCE)


def test_who_stepped_aside_takes_back_one_turn() -> None:
    others: list[int] = []

    def compute() -> None:
        with at_work():
            others.append(1)

    with ThreadPoolExecutor(1) as pool:
        with at_work():
            with aside():
                with aside():
                    pool.submit(compute).result(PATIENCE)
                pool.submit(compute).result(PATIENCE)
            later = pool.submit(compute)
            time.sleep(0.02)
            assert len(others) == 2
        later.result(PATIENCE)


def test_a_thread_that_is_not_at_work_steps_aside_for_nobody() -> None:
    with aside(), aside():
        pass


def test_a_search_alone_has_all_threads_but_its_own() -> None:
    with at_work():
        assert side_by_side(all_must_meet(PROCESSORS), threaded=True) == list(range(PROCESSORS))


@pytest.mark.parametrize("threaded", [True, False])
def test_a_fault_gives_threads_back(threaded: bool) -> None:
    def fail() -> int:
        raise ZeroDivisionError

    for _ in range(2 * PROCESSORS):
        with pytest.raises(ZeroDivisionError):
            side_by_side([fail] * PROCESSORS, threaded=threaded)
    with processors(2 * PROCESSORS) as free:
        assert free == PROCESSORS
