"""The benchmark of vaults measures what it says."""

from __future__ import annotations

from pathlib import Path

from benchmarks.vault import measure, write_vault


def test_the_same_vault_is_written_at_every_run(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    assert write_vault(tmp_path / "one", 5) == write_vault(tmp_path / "two", 5) > 0
    texts = [
        sorted(file.read_text() for file in (tmp_path / name).rglob("*.md"))
        for name in ("one", "two")
    ]
    assert texts[0] == texts[1]


def test_a_vault_is_imported_twice() -> None:
    figures = measure(6)
    assert (figures["first"]["new"], figures["first"]["unchanged"]) == (6, 0)
    assert (figures["first"]["links"], figures["first"]["unresolved"]) == (48, 0)
    assert figures["second"]["new"] == 0
