"""Processes that start from snapshots answer as those that read every row."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from app.db import chunks
from app.domain.notes import NotePatch
from app.factory import Application
from app.index import faiss_flat, snapshot
from app.maintenance.doctor import indexes, snapshots
from app.maintenance.doctor.checks import Patient
from app.mirror import held_vectors
from app.mirror.backends import SNAPSHOTS
from tests.support.application import ask, found_ids, opened, plant, stub_values
from tests.support.provider import StubProvider

FILE = "1-chunk.snapshot"
Restart = tuple[Path, dict[str, str]]


@pytest.fixture(autouse=True)
def small_snapshots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_vectors, "SNAPSHOT_ROWS", 1)


@pytest.fixture
def stopped(empty_folder: Path, provider: StubProvider, tmp_path: Path) -> Restart:
    """The folder and settings of a server that held three notes and stopped cleanly."""
    shutil.copytree(empty_folder, tmp_path, dirs_exist_ok=True)
    values = stub_values(provider)
    with opened(tmp_path, values) as application:
        plant(application, [0.7, 0.9, 0.8])
        assert found_ids(ask(application)) == [2, 3, 1]
    return tmp_path, values


def path_of(stopped: Restart) -> Path:
    return stopped[0] / SNAPSHOTS / FILE


def settled(application: Application) -> list[int]:
    """What is found once the snapshot was compared with the rows."""
    ask(application)
    for thread in threading.enumerate():
        if thread.name == "index-check":
            thread.join()
    return found_ids(ask(application))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ways by which rows of vectors were read for an index, filled as they are."""
    told: list[str] = []
    for name in ("all_vectors", "vectors"):
        original = getattr(chunks, name)

        def tell(*given: Any, _name: str = name, _original: Callable[..., Any] = original) -> Any:
            told.append(_name)
            return _original(*given)

        monkeypatch.setattr(chunks, name, tell)
    return told


def test_a_clean_stop_leaves_what_the_next_start_reads(stopped: Restart, read: list[str]) -> None:
    assert path_of(stopped).exists()
    with opened(*stopped) as application:
        assert settled(application) == [2, 3, 1]
    assert read == []


def test_what_was_written_after_the_snapshot_is_taken_from_the_feed(
    stopped: Restart, read: list[str]
) -> None:
    kept = path_of(stopped).read_bytes()
    with opened(*stopped) as application:
        application.writer.delete_note(2)
        application.writer.edit_note(1, NotePatch({"summary": "cos=0.95"}))
        plant(application, [0.85])
    # As if this server had been killed.
    path_of(stopped).write_bytes(kept)
    with opened(*stopped) as application:
        assert settled(application) == [1, 4, 3]
    assert "all_vectors" not in read


def test_each_clean_stop_writes_what_changed(stopped: Restart) -> None:
    before = snapshot.read_manifest(path_of(stopped))["sequence"]
    with opened(*stopped) as application:
        ask(application)
    assert snapshot.read_manifest(path_of(stopped))["sequence"] == before
    with opened(*stopped) as application:
        plant(application, [0.6])
        ask(application)
    assert snapshot.read_manifest(path_of(stopped))["sequence"] > before


def test_a_damaged_block_is_read_from_the_rows(
    stopped: Restart, read: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    path = path_of(stopped)
    place = snapshot.read_manifest(path)["segments"][0]["vectors"]
    content = bytearray(path.read_bytes())
    content[place : place + 64] = np.zeros(64, np.uint8).tobytes()
    path.write_bytes(content)
    with caplog.at_level(logging.WARNING), opened(*stopped) as application:
        assert settled(application) == [2, 3, 1]
    assert "3 damaged vectors" in caplog.text
    assert read == ["vectors"]
    # And the one that is left in its place is whole.
    with opened(*stopped) as application:
        assert settled(application) == [2, 3, 1]
    assert read == ["vectors"]


def replace_by_nothing(path: Path) -> None:
    path.write_bytes(b"")


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def remove(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("spoil", [replace_by_nothing, cut_off, remove])
def test_without_a_whole_snapshot_rows_are_read(
    spoil: Callable[[Path], None], stopped: Restart, read: list[str]
) -> None:
    spoil(path_of(stopped))
    with opened(*stopped) as application:
        assert settled(application) == [2, 3, 1]
    assert read == ["all_vectors"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE index_state SET epoch = 'another'",
        "UPDATE index_state SET sequence = 1",
        "UPDATE index_state SET sequence = sequence + 9, trimmed_to = sequence + 9",
    ],
    ids=["another-epoch", "an-older-database", "a-feed-that-was-trimmed"],
)
def test_a_snapshot_that_the_feed_does_not_reach_is_not_taken(
    statement: str, stopped: Restart, read: list[str]
) -> None:
    with opened(*stopped) as application, application.database.write() as connection:
        connection.execute(text(statement))
    with opened(*stopped) as application:
        assert settled(application) == [2, 3, 1]
    assert read == ["all_vectors"]


def test_rows_that_changed_behind_the_feed_are_found_out(
    stopped: Restart, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(*stopped) as application, application.database.write() as connection:
        connection.execute(text("DELETE FROM embeddings WHERE note_id = 3"))
    with caplog.at_level(logging.WARNING), opened(*stopped) as application:
        assert settled(application) == [2, 1]
        with application.mirror.open() as (_, view):
            assert view.index is not None
            assert view.index.count() == 2
    assert "not of this database" in caplog.text


def test_snapshots_can_be_switched_off(stopped: Restart, read: list[str]) -> None:
    folder, values = stopped
    shutil.rmtree(folder / SNAPSHOTS)
    with opened(folder, {**values, "index.snapshots": "false"}) as application:
        assert settled(application) == [2, 3, 1]
    assert read == ["all_vectors"]
    assert not (folder / SNAPSHOTS).exists()


def test_another_precision_begins_anew(stopped: Restart, read: list[str]) -> None:
    folder, values = stopped
    values = {**values, "index.precision": "float16"}
    for _ in range(2):
        with opened(folder, values) as application:
            assert settled(application) == [2, 3, 1]
    assert read == ["all_vectors"]


def test_a_folder_that_cannot_be_written_is_only_told(
    stopped: Restart, caplog: pytest.LogCaptureFixture
) -> None:
    folder, _ = stopped
    shutil.rmtree(folder / SNAPSHOTS)
    (folder / SNAPSHOTS).write_text("in the way")
    with caplog.at_level(logging.WARNING), opened(*stopped) as application:
        assert found_ids(ask(application)) == [2, 3, 1]
    assert "no snapshot of chunk is written" in caplog.text


def test_of_two_servers_the_later_state_stays(stopped: Restart) -> None:
    with opened(*stopped) as first:
        ask(first)
        with opened(*stopped) as second:
            plant(second, [0.6])
            ask(second)
        newest = snapshot.read_manifest(path_of(stopped))["sequence"]
    assert snapshot.read_manifest(path_of(stopped))["sequence"] == newest
    with opened(*stopped) as application:
        assert settled(application) == [2, 3, 1, 4]


def test_doctor_tells_damage_and_removes_it(stopped: Restart) -> None:
    folder, _ = stopped
    with opened(*stopped) as application:
        ask(application)
        patient = Patient(application.database, folder)
        assert [(each.name, each.ok) for each in snapshots.examine(folder)] == [("snapshots", True)]
        path = path_of(stopped)
        content = bytearray(path.read_bytes())
        content[snapshot.read_manifest(path)["segments"][0]["vectors"]] ^= 0xFF
        path.write_bytes(content)
        (folder / SNAPSHOTS / "2-chunk.snapshot").write_bytes(b"nothing")
        (check,) = snapshots.examine(folder)
        assert (check.ok, check.count) == (False, 2)
        assert snapshots.remove_spoilt(patient) == 2
        assert list((folder / SNAPSHOTS).iterdir()) == []


@pytest.mark.parametrize("precision", ["float32", "float16"])
@pytest.mark.parametrize(
    ("statement", "unlike"),
    [
        ("UPDATE embeddings SET has_han = has_han", 0),
        ("DELETE FROM embeddings WHERE note_id = 1", 1),
        (
            "UPDATE embeddings SET vector = (SELECT vector FROM embeddings WHERE note_id = 2"
            " AND kind = 'chunk') WHERE kind = 'chunk' AND note_id <> 2",
            1,
        ),
        ("UPDATE index_state SET epoch = 'another'", 0),
    ],
    ids=["as it was", "a row less", "another vector", "of another database"],
)
def test_doctor_compares_the_index_with_the_database(
    stopped: Restart, precision: str, statement: str, unlike: int
) -> None:
    folder, values = stopped
    path_of(stopped).unlink()
    with opened(folder, {**values, "index.precision": precision}) as application:
        ask(application)
    with opened(*stopped) as application:
        plant(application, [0.95])
        application.writer.edit_note(3, NotePatch({"summary": "cos=0.6"}))
        with application.database.write() as connection:
            connection.execute(text(statement))
        with application.database.read() as connection:
            check = indexes.examine(connection, folder)
        assert (check.ok, check.count) == (not unlike, unlike)
        assert indexes.remove_unlike(Patient(application.database, folder)) == bool(unlike)
        assert path_of(stopped).exists() == (not unlike)


def test_doctor_tells_how_exact_graphs_are(
    stopped: Restart, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faiss_flat, "GRAPH_ROWS", 2)
    folder, values = stopped
    with opened(folder, {**values, "index.backend": "hnsw"}) as application:
        assert settled(application) == [2, 3, 1]
        plant(application, [0.5, 0.4])
        ask(application)
        for thread in threading.enumerate():
            if thread.name == "index-merge":
                thread.join()
    checks = {check.name: check for check in snapshots.examine(folder)}
    assert checks["hnsw_recall"].message.endswith("graphs find: 1-chunk 1.000")
