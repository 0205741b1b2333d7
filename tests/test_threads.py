"""A thread begins once, and whoever ends it early has it never begin; threads share heaps."""

from __future__ import annotations

import platform
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from app.factory.memory import HEAPS, YOUNG_OBJECTS
from app.threads import LastingThread

PATIENCE = 20.0
HEAPS_OF_MANY_THREADS = """
import ctypes, sys, threading
from app.factory.memory import tune_memory

if sys.argv[1] == "shared":
    tune_memory()
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
all_have = threading.Barrier(12)

def work():
    library.malloc(1000)
    all_have.wait(20)

threads = [threading.Thread(target=work) for _ in range(12)]
for thread in threads: thread.start()
for thread in threads: thread.join()
library.fdopen.restype = ctypes.c_void_p
library.malloc_info(0, ctypes.c_void_p(library.fdopen(1, b"w")))
library.fflush(None)
"""
"""Prints what glibc tells of its heaps."""


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


def test_cycles_are_looked_for_seldom() -> None:
    threshold = "import gc; from app.factory.memory import tune_memory; tune_memory(); "
    threshold += "print(gc.get_threshold()[0], gc.isenabled())"
    command = [sys.executable, "-c", threshold]
    root = Path(__file__).parents[1]
    told = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    assert told.split() == [str(YOUNG_OBJECTS), "True"]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have one heap")
@pytest.mark.parametrize(("way", "is_shared"), [("shared", True), ("alone", False)])
def test_many_threads_share_a_few_heaps(way: str, is_shared: bool) -> None:
    command = [sys.executable, "-c", HEAPS_OF_MANY_THREADS, way]
    root = Path(__file__).parents[1]
    told = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    assert (told.count("<heap nr=") <= HEAPS) is is_shared
