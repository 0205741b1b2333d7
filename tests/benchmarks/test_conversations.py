"""The measurement of imports runs, and its made-up sessions are sessions."""

from __future__ import annotations

from pathlib import Path

from benchmarks.conversations import run_once, write
from tests.support.conversations import read_all


def test_made_up_sessions_are_read_without_a_loss(tmp_path: Path) -> None:
    written = write(tmp_path, 2, 1)
    assert written > 900_000
    found = read_all("claude-code", tmp_path / ".claude" / "projects")
    assert sorted(found) == ["00000000", "00000001"]
    assert all(message.tools[0].output for message in found["00000000"].messages if message.tools)


def test_the_same_seed_makes_the_same_sessions(tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path / name, 1, 1)
    first, second = ([path.read_bytes() for path in (tmp_path / name).rglob("*.jsonl")]
                     for name in "ab")  # fmt: skip
    assert first == second


def test_a_second_run_finds_nothing_new(tmp_path: Path) -> None:
    write(tmp_path / "home", 3, 1)
    first, second = (run_once(tmp_path / "data", tmp_path / "home") for _ in range(2))
    assert (first["new"], second["new"], second["unchanged"]) == (3, 0, 3)
