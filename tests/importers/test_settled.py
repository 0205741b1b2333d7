"""Directories in use: ChatCrystal rewrites its files as a whole, under whoever reads them."""

import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from app.errors import ImportFailed
from app.importers import chatcrystal_rows, settled
from app.importers.chatcrystal import opened
from app.importers.settled import read_settled

REWRITES = 12


@pytest.fixture
def rewritten(source: Path) -> Iterator[Path]:
    """A data directory whose database is cut and written again, several times, then rests."""
    path = source / "chatcrystal.db"
    content = path.read_bytes()
    began = Event()

    def rewrite() -> None:
        for _ in range(REWRITES):
            with path.open("wb") as file:
                file.write(content[:70_000])
                file.flush()
                began.set()
                time.sleep(0.01)
                file.write(content[70_000:])
            time.sleep(0.005)

    writer = Thread(target=rewrite)
    writer.start()
    began.wait()
    yield source
    writer.join()


def test_a_database_that_is_being_written_is_read_whole(rewritten: Path) -> None:
    with opened(rewritten) as directory:
        assert len(list(chatcrystal_rows.notes(directory))) == 44
        assert len(list(chatcrystal_rows.messages(directory))) == 12


def test_a_database_that_is_cut_to_be_written_is_waited_for(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = source / "chatcrystal.db"
    content = path.read_bytes()
    path.write_bytes(b"")
    monkeypatch.setattr(time, "sleep", lambda _: path.write_bytes(content))
    with opened(source) as directory:
        assert len(list(chatcrystal_rows.notes(directory))) == 44


def test_an_empty_database_that_keeps_still_is_refused(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settled, "PAUSE_SECONDS", 0.001)
    (source / "chatcrystal.db").write_bytes(b"")
    with pytest.raises(ImportFailed, match="is empty: it is no database"), opened(source):
        pass


def test_what_was_read_of_a_file_that_changed_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    read: list[str] = []

    def once() -> str:
        read.append(path.read_text())
        if len(read) == 1:
            path.write_text("newer")
        return read[-1]

    assert read_settled(path, once) == "newer"


def test_a_file_that_looks_damaged_while_it_changes_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("ha")

    def once() -> str:
        content = path.read_text()
        if content == "ha":
            path.write_text("half and half")
            raise ImportFailed("damaged")
        return content

    assert read_settled(path, once) == "half and half"


def test_a_damaged_file_that_keeps_still_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("ha")

    def once() -> str:
        raise ImportFailed("damaged")

    with pytest.raises(ImportFailed, match="damaged"):
        read_settled(path, once)


def test_a_file_that_never_rests_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settled, "PAUSE_SECONDS", 0.001)
    path = tmp_path / "file"
    path.write_text("")

    def once() -> int:
        with path.open("a") as file:
            file.write(".")
        return path.stat().st_size

    with pytest.raises(ImportFailed, match="being written all the time"):
        read_settled(path, once)
    assert path.stat().st_size == settled.ATTEMPTS


def test_a_file_that_is_gone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match="cannot be read"):
        read_settled(tmp_path / "none", lambda: None)
