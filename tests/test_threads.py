"""A thread begins once, and whoever ends it early has it never begin."""

from __future__ import annotations

import threading

import pytest

from app.threads import LastingThread

PATIENCE = 20.0


def test_it_works_until_it_is_told_to_end() -> None:
    thread, rounds = LastingThread("work"), threading.Event()

    def work() -> None:
        while not thread.is_ending:
            rounds.set()
            thread.rest(PATIENCE)

    thread.start(work)
    assert rounds.wait(PATIENCE)
    assert not thread.is_ending
    assert thread.close(PATIENCE)
    assert thread.is_ending


def test_what_takes_longer_is_told() -> None:
    thread, gate = LastingThread("slow"), threading.Event()

    def work() -> None:
        gate.wait(PATIENCE)

    thread.start(work)
    assert not thread.close(0.0)
    gate.set()
    assert thread.close(PATIENCE)


@pytest.mark.parametrize("end", ["stop", "close"])
def test_what_was_told_to_end_does_not_begin(end: str) -> None:
    thread, begun = LastingThread("late"), threading.Event()
    if end == "stop":
        thread.stop()
    else:
        assert thread.close(0.0)
    thread.start(begun.set)
    assert thread.close(PATIENCE)
    assert not begun.is_set()


def test_an_end_while_it_begins_is_no_fault() -> None:
    """Whichever comes first, the end waits for what has begun."""
    for _ in range(200):
        thread, begun = LastingThread("both"), threading.Event()
        beginning = threading.Thread(target=thread.start, args=[begun.set])
        beginning.start()
        assert thread.close(PATIENCE)
        was_begun = begun.is_set()
        beginning.join()
        assert begun.is_set() is was_begun
