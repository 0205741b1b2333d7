"""Long scans are shared with threads that no other search has."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

import pytest

from app.index import scans
from app.index.scans import SCAN_THREADS, at_work, side_by_side

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
    assert side_by_side(all_must_meet(SCAN_THREADS), threaded=True) == list(range(SCAN_THREADS))
    many = [partial(int, number) for number in range(50)]
    assert side_by_side(many, threaded=True) == list(range(50))


def test_short_ones_stay_in_their_thread() -> None:
    names = side_by_side([name_of_thread] * 5, threaded=False)
    assert names == [name_of_thread()] * 5


def test_who_is_at_work_is_not_taken_as_a_helper() -> None:
    with ExitStack() as others:
        for _ in range(SCAN_THREADS):
            others.enter_context(at_work())
        assert side_by_side([name_of_thread] * 5, threaded=True) == [name_of_thread()] * 5
        # One more than there are may be at work too.
        with at_work():
            pass
    assert side_by_side(all_must_meet(SCAN_THREADS), threaded=True) == list(range(SCAN_THREADS))


def test_a_search_alone_has_all_threads_but_its_own() -> None:
    with at_work():
        assert side_by_side(all_must_meet(SCAN_THREADS), threaded=True) == list(range(SCAN_THREADS))


@pytest.mark.parametrize("threaded", [True, False])
def test_a_fault_gives_threads_back(threaded: bool) -> None:
    def fail() -> int:
        raise ZeroDivisionError

    for _ in range(2 * SCAN_THREADS):
        with pytest.raises(ZeroDivisionError):
            side_by_side([fail] * SCAN_THREADS, threaded=threaded)
    assert scans._take(SCAN_THREADS) == SCAN_THREADS
    for _ in range(SCAN_THREADS):
        scans._FREE.release()
