"""Backups: made while servers write, read back, restored with what was there kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from app.domain.notes import NoteDraft
from app.errors import Conflict, DatabaseUnavailable
from app.factory import Application, database_url
from app.maintenance.backup import back_up, restore
from tests.support.application import ask, found_ids, opened, plant, planted_vector, stub_values
from tests.support.provider import StubProvider
from tests.sync.conftest import dump


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Application]:
    """An application with two notes, over a file whatever the database of the run is."""
    file = {"database_url": f"sqlite:///{tmp_path}/data/crystal.db"}
    with (
        StubProvider(vector=planted_vector) as provider,
        opened(tmp_path / "data", stub_values(provider) | file) as application,
    ):
        plant(application, [0.9, 0.8])
        yield application


def epoch(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return str(connection.execute("SELECT epoch FROM index_state").fetchone()[0])


def titles(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("SELECT title FROM notes ORDER BY id")]


def test_a_backup_is_one_private_file_with_everything(filled: Application, tmp_path: Path) -> None:
    target = tmp_path / "notes.backup"
    made = back_up(database_url(filled.settings), target)
    assert made.rows["notes"] == 2
    assert titles(target) == ["note 0", "note 1"]
    assert target.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "notes.backup"]


def test_nothing_is_overwritten_by_a_backup(filled: Application, tmp_path: Path) -> None:
    target = tmp_path / "notes.backup"
    target.write_text("mine")
    with pytest.raises(Conflict, match="exists already"):
        back_up(database_url(filled.settings), target)
    assert target.read_text() == "mine"


def test_a_backup_beside_a_writer_is_one_moment(filled: Application, tmp_path: Path) -> None:
    def write() -> None:
        for number in range(30):
            filled.writer.create_note(NoteDraft(f"more {number}", "cos=0.5"))

    writer = Thread(target=write)
    writer.start()
    made = [back_up(database_url(filled.settings), tmp_path / f"{number}") for number in range(3)]
    writer.join()
    for number, each in enumerate(made):
        written = titles(tmp_path / f"{number}")
        assert len(written) == each.rows["notes"]
        assert written == ["note 0", "note 1", *(f"more {at}" for at in range(len(written) - 2))]


def test_a_running_process_serves_what_was_restored(filled: Application, tmp_path: Path) -> None:
    url, target = database_url(filled.settings), tmp_path / "notes.backup"
    before = dump(filled)
    back_up(url, target)
    filled.writer.create_note(NoteDraft("later", "cos=0.95"))
    assert found_ids(ask(filled)) == [3, 1, 2]
    made = restore(target, url, is_forced=True)
    assert found_ids(ask(filled)) == [1, 2]
    assert epoch(filled.settings.data_dir / "crystal.db") != epoch(target)
    changed = [row for row in dump(filled) if row not in before]
    assert [row.split(":")[0] for row in changed] == ["index_state"]
    assert made.kept is not None
    assert titles(Path(made.kept)) == ["note 0", "note 1", "later"]
    assert Path(made.kept).stat().st_mode & 0o777 == 0o600
    filled.writer.create_note(NoteDraft("after", "cos=0.99"))
    assert found_ids(ask(filled, "again"))[0] == 3


def test_a_database_is_not_replaced_without_being_told(filled: Application, tmp_path: Path) -> None:
    url, target = database_url(filled.settings), tmp_path / "notes.backup"
    back_up(url, target)
    before = dump(filled)
    with pytest.raises(Conflict, match="--force"):
        restore(target, url, is_forced=False)
    assert dump(filled) == before


def test_into_an_empty_folder(filled: Application, tmp_path: Path) -> None:
    target, fresh = tmp_path / "notes.backup", tmp_path / "fresh" / "crystal.db"
    back_up(database_url(filled.settings), target)
    made = restore(target, f"sqlite:///{fresh}", is_forced=False)
    assert made.kept is None
    assert titles(fresh) == ["note 0", "note 1"]
    assert fresh.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in fresh.parent.iterdir()] == ["crystal.db"]


@pytest.mark.parametrize("damage", ["truncated", "text", "other tables"])
def test_what_is_no_backup_changes_nothing(
    filled: Application, tmp_path: Path, damage: str
) -> None:
    url, target = database_url(filled.settings), tmp_path / "notes.backup"
    if damage == "text":
        target.write_text("no database at all" * 100)
    elif damage == "other tables":
        with closing(sqlite3.connect(target)) as connection:
            connection.execute("CREATE TABLE other (id)")
    else:
        back_up(url, target)
        target.write_bytes(target.read_bytes()[:20_000])
    before = dump(filled)
    with pytest.raises(DatabaseUnavailable, match=r"notes\.backup"):
        restore(target, url, is_forced=True)
    assert dump(filled) == before


def test_a_damaged_database_is_replaced_and_kept_as_it_is(
    filled: Application, tmp_path: Path
) -> None:
    target, broken = tmp_path / "notes.backup", tmp_path / "broken.db"
    back_up(database_url(filled.settings), target)
    broken.write_bytes(b"rubbish" * 1000)
    made = restore(target, f"sqlite:///{broken}", is_forced=True)
    assert titles(broken) == ["note 0", "note 1"]
    assert made.kept is not None
    assert Path(made.kept).read_bytes() == b"rubbish" * 1000


def test_an_absent_database_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="There is no database at"):
        back_up(f"sqlite:///{tmp_path}/none.db", tmp_path / "notes.backup")
    assert list(tmp_path.iterdir()) == []
