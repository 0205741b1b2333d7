"""The generated directory of the benchmarks is one of ChatCrystal, and always the same."""

from pathlib import Path

from app.domain.adoption import AdoptionRequest
from app.factory import Application
from benchmarks.generate import generate
from tests.importers.directories import contents_of, state_of

NOTES = 30
DIMENSION = 16


def test_the_same_arguments_give_the_same_directory(tmp_path: Path) -> None:
    count = generate(tmp_path / "one", NOTES, DIMENSION)
    generate(tmp_path / "other", NOTES, DIMENSION)
    one, other = state_of(tmp_path / "one"), state_of(tmp_path / "other")
    assert sorted(one) == ["chatcrystal.db", "config.json", "vectra-index/index.json"]
    assert [content for content, _ in one.values()] == [content for content, _ in other.values()]
    assert count == 3 * NOTES


def test_it_is_taken_over_whole(target: Application, tmp_path: Path) -> None:
    count = generate(tmp_path / "generated", NOTES, DIMENSION)
    report = target.adopter.adopt(AdoptionRequest(tmp_path / "generated"))
    assert (report.added["notes"], report.added["chunks"]) == (NOTES, count)
    assert set(report.left_out.values()) == {0}
    assert report.statuses == {"done": NOTES}
    # Its chunks are cut as ours are, so that no note is embedded again for nothing.
    assert all(row["text_hash"] for row in contents_of(target.database)["note_spaces"])
