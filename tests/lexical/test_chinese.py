"""Where the dictionary is kept, and how quietly it is loaded."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
import tempfile
import threading
from importlib.metadata import version
from pathlib import Path

import pytest

from app.lexical.chinese import Dictionary

ROOT = Path(__file__).parent.parent.parent


def test_the_cache_lies_in_the_given_folder_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, own = tmp_path / "shared", tmp_path / "own"
    shared.mkdir()
    own.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    dictionary = Dictionary()
    dictionary.configure(own)
    dictionary.warm()
    [cache] = own.iterdir()
    assert cache.name.startswith("jieba-")
    assert stat.S_IMODE(cache.stat().st_mode) == 0o600
    assert not list(shared.iterdir())
    again = Dictionary()
    again.configure(own)
    assert again.long_words("数据库") == dictionary.long_words("数据库") == [(0, 3)]


def test_without_a_folder_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dictionary = Dictionary()
    assert dictionary.long_words("连数据库") == [(1, 4)]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("damage", ["missing folder", "damaged cache"])
def test_a_cache_that_cannot_be_used_only_costs_time(
    damage: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "folder"
    if damage == "damaged cache":
        folder.mkdir()
        (folder / f"jieba-{version('jieba')}.cache").write_bytes(b"no dictionary")
    dictionary = Dictionary()
    dictionary.configure(folder)
    with caplog.at_level(logging.DEBUG):
        assert dictionary.begins_word("数据")
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


def test_threads_that_come_first_together_load_one_dictionary() -> None:
    dictionary = Dictionary()
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.append(dictionary.long_words("数据库")))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[(0, 3)]] * 3


def test_loading_warns_of_nothing_and_prints_nothing() -> None:
    """In a process of its own, where jieba is compiled anew and every warning is an error."""
    code = "from app.lexical.segmentation import tokens; assert '数据库' in tokens('数据库')"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-B", "-X", "pycache_prefix=/nonexistent", "-c", code],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
