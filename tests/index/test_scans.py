"""Long scans are shared with threads that no other search has."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import pytest

from app.index import scans
from app.index.scans import SCAN_THREADS, side_by_side

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


def test_a_search_beside_another_one_takes_no_thread_from_it() -> None:
    begun, may_end = threading.Barrier(SCAN_THREADS + 1), threading.Event()

    def held() -> str:
        begun.wait(PATIENCE)
        may_end.wait(PATIENCE)
        return name_of_thread()

    first: list[str] = []
    search = threading.Thread(
        target=lambda: first.extend(side_by_side([held] * SCAN_THREADS, threaded=True))
    )
    search.start()
    begun.wait(PATIENCE)
    beside = side_by_side([name_of_thread] * 5, threaded=True)
    may_end.set()
    search.join()
    assert beside == [name_of_thread()] * 5
    assert len(set(first)) == SCAN_THREADS
    # All of its threads are free again.
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
