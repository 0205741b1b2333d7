"""The check-up: what is broken is named and nothing else, what is derived is mended."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from alembic import command
from sqlalchemy import text

from app.db import checkup, migrate
from app.db.engine import Database
from app.errors import CrystalError, DatabaseUnavailable
from app.factory import Application
from app.maintenance.doctor import configuration, structure, words
from app.maintenance.doctor.checks import Patient, Report
from app.maintenance.doctor.examination import examine, opened, repair
from app.settings import store
from app.settings.values import parse
from tests.support.application import (
    ask,
    found_ids,
    make_settings,
    plant,
    planted_vector,
    stub_values,
)
from tests.support.application import opened as opened_application
from tests.support.provider import Behaviour, StubProvider, of_dimension, status
from tests.sync.conftest import rows, statuses

# Damage is done to a file past its constraints; what holds over any database is in
# test_doctor_anywhere.py.
pytestmark = pytest.mark.sqlite

COSINES = (0.9, 0.8, 0.7)
NAMES = [
    "configuration",
    "permissions",
    "integrity",
    "schema",
    "references",
    "change_feed",
    "spaces",
    "statuses",
    "chunks_missing",
    "vectors",
    "chunks_unused",
    "scales",
    "documents_missing",
    "documents_stale",
    "documents_orphaned",
    "chunk_documents",
    "mentions",
    "entities_unused",
    "links",
    "index",
    "snapshots",
]


def silent(done: int, total: int) -> None:
    """Show no progress."""


@pytest.fixture(scope="module")
def filled_folder(empty_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with three embedded notes, to be copied."""
    folder = tmp_path_factory.mktemp("filled")
    shutil.copytree(empty_folder, folder, dirs_exist_ok=True)
    with (
        StubProvider(vector=planted_vector) as stub,
        opened_application(folder, stub_values(stub)) as application,
    ):
        plant(application, COSINES)
    return folder


@pytest.fixture
def folder(filled_folder: Path, tmp_path: Path) -> Path:
    """A copy of the test's own."""
    return shutil.copytree(filled_folder, tmp_path / "data")


@pytest.fixture
def patient(folder: Path) -> Iterator[Patient]:
    """Its database, opened for a check-up."""
    with opened(f"sqlite:///{path_of(folder)}", folder) as found:
        yield found


@pytest.fixture
def notes(folder: Path, provider: StubProvider) -> Iterator[Application]:
    """An application over it whose indexes are in memory."""
    with opened_application(folder, stub_values(provider)) as application:
        assert answers(application) == [[1, 2, 3]] * 2
        yield application


def answers(application: Application) -> list[list[int]]:
    """What is found by meaning, and by words and meaning."""
    return [
        found_ids(ask(application, "note", ranker=ranker)) for ranker in ("chatcrystal", "fusion")
    ]


def path_of(folder: Path) -> Path:
    return folder / "crystal.db"


def dump(folder: Path) -> list[str]:
    """Every row of every table, as statements that would restore it."""
    with closing(sqlite3.connect(path_of(folder))) as connection:
        return list(connection.iterdump())


def content_of(folder: Path) -> list[str]:
    """The notes and messages of a dump."""
    kept = ('INSERT INTO "notes"', 'INSERT INTO "messages"')
    return [statement for statement in dump(folder) if statement.startswith(kept)]


def breaking(folder: Path, *statements: str) -> None:
    """Change the database as another program would, which minds no references."""
    with closing(sqlite3.connect(path_of(folder))) as connection, connection:
        for statement in statements:
            assert connection.execute(statement).rowcount != 0, "the statement breaks nothing"


def wrong(report: Report) -> dict[str, int]:
    """What a report calls wrong, with the counts."""
    return {check.name: check.count for check in report.checks if not check.ok}


def test_a_sound_database_passes_every_check(patient: Patient) -> None:
    steps: list[tuple[int, int]] = []
    report = examine(patient, lambda done, total: steps.append((done, total)))
    assert [check.name for check in report.checks] == NAMES
    assert {(check.ok, check.count, check.message) for check in report.checks} == {(True, 0, "")}
    assert (report.repaired, report.wrong) == ({}, 0)
    assert steps[-1] == (6, 6)
    assert steps == sorted(steps)


def test_an_empty_database_passes_every_check(empty_folder: Path) -> None:
    with opened(f"sqlite:///{path_of(empty_folder)}", empty_folder) as patient:
        assert wrong(examine(patient, silent)) == {}


def vector(*numbers: float) -> str:
    """A vector as SQL: these numbers, then zeros, as in 1, 0, 0, …"""
    padded = [*numbers, *[0.0] * (8 - len(numbers))]
    return f"x'{np.array(padded, dtype=np.float32).tobytes().hex()}'"


def set_vector(value: str) -> str:
    return f"UPDATE embeddings SET vector = {value} WHERE note_id = 1"


# Statements that break the data, what is called wrong then, what a repair mends.
BREAKS: dict[str, tuple[tuple[str, ...], dict[str, int], dict[str, int]]] = {
    "opening-of-no-note": (
        ("INSERT INTO note_opens (note_id, opened_at) VALUES (99, '')",),
        {"references": 1},
        {"references": 1},
    ),
    "state-in-no-space": (
        ("INSERT INTO note_spaces (note_id, space_id, status) VALUES (1, 99, 'done')",),
        {"references": 1},
        {"references": 1},
    ),
    "vector-of-no-note": (
        ("UPDATE embeddings SET note_id = 99 WHERE note_id = 1",),
        {"references": 1, "chunks_missing": 1},
        {"references": 1, "chunks_missing": 1},
    ),
    "document-of-no-note": (
        ("UPDATE lexical_documents SET note_id = 99 WHERE note_id = 1 AND kind = 'root'",),
        {"references": 1, "documents_missing": 1, "documents_orphaned": 1},
        {"references": 1, "documents_missing": 1},
    ),
    "feed-ahead": (
        ("UPDATE index_state SET sequence = sequence + 5",),
        {"change_feed": 1},
        {"change_feed": 1},
    ),
    "feed-behind": (
        ("UPDATE index_state SET sequence = 1",),
        {"change_feed": 1},
        {"change_feed": 1},
    ),
    "feed-trimmed-ahead": (
        ("UPDATE index_state SET trimmed_to = 99",),
        {"change_feed": 1},
        {"change_feed": 1},
    ),
    "feed-without-entries": (
        ("DELETE FROM index_changes",),
        {"change_feed": 1},
        {"change_feed": 1},
    ),
    "feed-without-state": (("DELETE FROM index_state",), {"change_feed": 1}, {"change_feed": 1}),
    "status-of-the-note": (
        ("UPDATE notes SET embedding_status = 'failed' WHERE id < 3",),
        {"statuses": 2},
        {"statuses": 2},
    ),
    "status-in-the-space": (
        ("UPDATE note_spaces SET status = 'failed' WHERE note_id = 1",),
        {"statuses": 1},
        {"statuses": 1},
    ),
    "no-status-in-the-space": (
        ("DELETE FROM note_spaces WHERE note_id = 1",),
        {"statuses": 1},
        {"statuses": 1},
    ),
    "no-chunks": (
        ("DELETE FROM embeddings WHERE note_id = 1",),
        {"references": 1, "chunks_missing": 1},
        {"references": 1, "chunks_missing": 1},
    ),
    "one-fault-behind-another": (
        (
            "DELETE FROM embeddings WHERE note_id = 1",
            "UPDATE notes SET embedding_status = 'pending' WHERE id = 1",
        ),
        {"references": 1, "statuses": 1},
        {"references": 1, "statuses": 1, "chunks_missing": 1},
    ),
    "short-vector": ((set_vector("x'0000803f'"),), {"vectors": 1}, {"vectors": 1}),
    "text-for-a-vector": ((set_vector("'abc'"),), {"vectors": 1}, {"vectors": 1}),
    "vector-of-zeros": ((set_vector("zeroblob(32)"),), {"vectors": 1}, {"vectors": 1}),
    "long-vector": ((set_vector(vector(1.002)),), {"vectors": 1}, {"vectors": 1}),
    "nan": ((set_vector(vector(float("nan"))),), {"vectors": 1}, {"vectors": 1}),
    "infinite": ((set_vector(vector(float("-inf"))),), {"vectors": 1}, {"vectors": 1}),
    "huge": ((set_vector(vector(3e38, 3e38)),), {"vectors": 1}, {"vectors": 1}),
    "other-dimension": (
        ("UPDATE embedding_spaces SET dimension = 9",),
        {"spaces": 1, "vectors": 3},
        {"spaces": 1},
    ),
    "no-dimension": (
        ("UPDATE embedding_spaces SET dimension = NULL",),
        {"spaces": 1, "vectors": 3},
        {"spaces": 1},
    ),
    "no-document": (
        ("DELETE FROM lexical_documents WHERE note_id = 1 AND kind = 'root'",),
        {"documents_missing": 1},
        {"documents_missing": 1},
    ),
    "emptied-document": (
        (
            "UPDATE lexical_documents SET postings = '[[],[],[]]' WHERE note_id < 3"
            " AND kind = 'root'",
        ),
        {"documents_stale": 2},
        {"documents_stale": 2},
    ),
    "document-of-another-text": (
        ("UPDATE notes SET title = 'written past the server' WHERE id = 1",),
        {"documents_stale": 1, "links": 1},
        {"documents_stale": 1},
    ),
    "link-of-no-text": (
        (
            "INSERT INTO note_links (source_note_id, target_note_id, target, kind, position,"
            " name_key) VALUES (1, 2, 'note 1', 'wiki', 0, 'note 1')",
        ),
        {"links": 1},
        {"links": 1},
    ),
    "document-twice": (
        (
            "INSERT INTO lexical_documents (kind, note_id, postings)"
            " SELECT kind, note_id, postings FROM lexical_documents WHERE note_id = 1"
            " AND kind = 'root'",
        ),
        {"documents_stale": 1},
        {"documents_stale": 1},
    ),
}


@pytest.mark.parametrize("case", BREAKS.values(), ids=BREAKS)
def test_what_is_broken_is_named_and_mended(
    notes: Application,
    patient: Patient,
    provider: StubProvider,
    case: tuple[tuple[str, ...], dict[str, int], dict[str, int]],
) -> None:
    statements, named, mended = case
    breaking(patient.folder, *statements)
    found = examine(patient, silent)
    assert wrong(found) == named
    assert all(check.message and check.remedy for check in found.checks if not check.ok)

    after = repair(patient, silent)
    assert (wrong(after), after.repaired) == ({}, mended)
    assert wrong(examine(patient, silent)) == {}
    assert repair(patient, silent).repaired == {}

    # The process that ran all the while follows: it answers as one that starts now.
    with opened_application(notes.settings.data_dir, stub_values(provider)) as fresh:
        assert answers(notes) == answers(fresh)
    report = notes.batches.embed_many(notes.batches.unembedded())
    assert not report.reasons
    assert statuses(notes) == ["done"] * 3
    assert [set(found) for found in answers(notes)] == [{1, 2, 3}] * 2


@pytest.mark.parametrize("statements", [each[0] for each in BREAKS.values()], ids=BREAKS)
def test_without_repair_nothing_changes(patient: Patient, statements: tuple[str, ...]) -> None:
    breaking(patient.folder, *statements)
    before = dump(patient.folder)
    examine(patient, silent)
    assert dump(patient.folder) == before


@pytest.mark.parametrize(
    ("statements", "count"),
    [
        ((set_vector(vector(1.0005)),), 0),
        (("DELETE FROM index_changes", "UPDATE index_state SET trimmed_to = sequence"), 0),
        (
            (
                "UPDATE notes SET embedding_status = 'pending' WHERE id = 1",
                "UPDATE note_spaces SET status = 'pending' WHERE note_id = 1",
            ),
            1,
        ),
    ],
    ids=["rounded-vector", "trimmed-feed", "unused-chunks"],
)
def test_what_is_harmless_is_in_order(
    patient: Patient, statements: tuple[str, ...], count: int
) -> None:
    breaking(patient.folder, *statements)
    report = examine(patient, silent)
    assert wrong(report) == {}
    assert sum(check.count for check in report.checks) == count
    (unused,) = (check for check in report.checks if check.name == "chunks_unused")
    assert ("harmless" in unused.message) is (count == 1)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM conversations WHERE id = (SELECT conversation_id FROM notes WHERE id = 1)",
        "INSERT INTO messages (id, conversation_id, type, content, timestamp, sort_order)"
        " VALUES ('m', 'gone', 'user', 'kept', '', 0)",
    ],
    ids=["note", "message"],
)
def test_what_people_wrote_is_left_alone(patient: Patient, statement: str) -> None:
    breaking(patient.folder, statement)
    before = content_of(patient.folder)
    report = repair(patient, silent)
    assert (wrong(report), report.repaired) == ({"references": 1}, {})
    (check,) = (check for check in report.checks if not check.ok)
    assert "left for you to decide on" in check.message
    assert content_of(patient.folder) == before


def test_a_vector_of_a_space_in_reserve_is_mended_there(
    notes: Application, patient: Patient
) -> None:
    notes.reconfigurer.change({"embedding.model": "another"}, is_confirmed=True)
    notes.batches.embed_many(notes.batches.unembedded())
    breaking(patient.folder, f"{set_vector('zeroblob(32)')} AND space_id = 1")
    report = repair(patient, silent)
    assert (wrong(report), report.repaired) == ({}, {"vectors": 1})
    states = "SELECT space_id, status FROM note_spaces WHERE note_id = 1 ORDER BY space_id"
    assert rows(notes, states) == [(1, "pending"), (2, "done")]
    assert statuses(notes) == ["done"] * 3
    assert answers(notes) == [[1, 2, 3]] * 2


def test_companions_go_with_a_damaged_vector(notes: Application, patient: Patient) -> None:
    notes.companions.fill()
    breaking(patient.folder, f"{set_vector('zeroblob(32)')} AND kind = 'whole'")
    report = repair(patient, silent)
    assert (wrong(report), report.repaired) == ({}, {"vectors": 1})
    assert rows(notes, "SELECT id FROM embeddings WHERE note_id = 1") == []
    notes.batches.embed_many(notes.batches.unembedded())
    assert notes.companions.fill() == 1
    assert wrong(examine(patient, silent)) == {}


def test_everything_is_looked_at_and_mended_group_by_group(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (structure, words):
        monkeypatch.setattr(module, "BATCH", 2)
    monkeypatch.setattr(checkup, "VECTOR_BATCH", 2)
    breaking(
        patient.folder,
        "UPDATE embeddings SET vector = zeroblob(32)",
        "UPDATE lexical_documents SET note_id = note_id + 90 WHERE kind = 'root'",
    )
    steps: list[tuple[int, int]] = []
    report = repair(patient, lambda done, total: steps.append((done, total)))
    assert wrong(report) == {}
    assert report.repaired == {"references": 3, "vectors": 3, "documents_missing": 3}
    assert steps[:4] == [(2, 6), (3, 6), (5, 6), (6, 6)]


def overwrite_a_page(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'embeddings'"
        ).fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


def overwrite_all(path: Path) -> None:
    path.write_bytes(b"no database at all" * 1000)


@pytest.mark.parametrize("damage", [overwrite_a_page, overwrite_all], ids=["page", "file"])
def test_a_damaged_file_is_named_and_not_looked_into(
    empty_folder: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = tmp_path / "crystal.db"
    path.touch(mode=0o600)
    path.write_bytes((empty_folder / "crystal.db").read_bytes())
    damage(path)
    with opened(f"sqlite:///{path}", tmp_path) as patient:
        report = repair(patient, silent)
    assert [check.name for check in report.checks] == ["configuration", "permissions", "integrity"]
    assert report.repaired == {}
    assert report.checks[2].count > 0
    assert "restore a backup" in report.checks[2].message
    assert report.checks[2].remedy == "crystal restore BACKUP --force"


def test_an_older_schema_is_named_and_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "crystal.db"
    path.touch(mode=0o600)
    older = Database(f"sqlite:///{path}")
    with older.write() as connection:
        command.upgrade(migrate._config(connection), "0001")
        for statement in (
            "INSERT INTO index_state (id, sequence, epoch, trimmed_to) VALUES (1, 0, 'e', 0)",
            "INSERT INTO conversations (id, source, project_dir, project_name, file_path,"
            " first_message_at, last_message_at, created_at, updated_at)"
            " VALUES ('c', 'x', '', '', '', '', '', '', '')",
            "INSERT INTO notes (conversation_id, title, summary, created_at)"
            " VALUES ('c', 'older', '', '')",
        ):
            connection.execute(text(statement))
    older.close()
    with opened(f"sqlite:///{path}", tmp_path) as patient:
        found = examine(patient, silent)
        assert [check.name for check in found.checks] == NAMES[:4]
        assert wrong(found) == {"schema": 1}
        assert migrate.revision(patient.database) == "0001"
        after = repair(patient, silent)
        assert [check.name for check in after.checks] == NAMES
        assert (wrong(after), after.repaired) == ({}, {"schema": 1, "documents_missing": 1})
    assert list(tmp_path.glob("*.bak"))


def test_a_newer_schema_is_named_and_left_alone(patient: Patient) -> None:
    breaking(patient.folder, "UPDATE alembic_version SET version_num = 'later'")
    before = dump(patient.folder)
    report = repair(patient, silent)
    assert (wrong(report), report.repaired) == ({"schema": 1}, {})
    assert "newer version" in report.checks[-1].message
    assert dump(patient.folder) == before


def test_a_database_that_is_missing_is_not_made(tmp_path: Path) -> None:
    with (
        pytest.raises(DatabaseUnavailable, match="There is no database at"),
        opened(f"sqlite:///{tmp_path / 'crystal.db'}", tmp_path),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_settings_file_that_others_can_read_is_closed(patient: Patient) -> None:
    store.write(patient.folder, {"search.ranker": "vector"})
    path = patient.folder / store.FILE_NAME
    path.chmod(0o644)
    assert wrong(examine(patient, silent)) == {"configuration": 1}
    assert path.stat().st_mode & 0o777 == 0o644
    report = repair(patient, silent)
    assert (wrong(report), report.repaired) == ({}, {"configuration": 1})
    assert path.stat().st_mode & 0o777 == 0o600
    assert store.read(patient.folder) == {"search.ranker": "vector"}


@pytest.mark.parametrize(
    "content",
    ["{", "[]", '{"nonsense": 1}', '{"server": {"port": "high"}}'],
    ids=["no-json", "no-object", "unknown", "no-number"],
)
def test_a_settings_file_that_cannot_be_read_is_named_and_kept(
    patient: Patient, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    path = patient.folder / store.FILE_NAME
    path.write_text(content, encoding="utf-8")
    path.chmod(0o600)
    report = repair(patient, silent)
    assert (wrong(report), report.repaired) == ({"configuration": 1}, {})
    assert path.read_text(encoding="utf-8") == content
    monkeypatch.setenv("CRYSTAL_DATA_DIR", str(patient.folder))
    assert configuration.settings_of_this_machine() == parse({"data_dir": str(patient.folder)}, {})


def test_the_settings_are_those_of_the_file_where_it_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRYSTAL_DATA_DIR", str(tmp_path))
    (tmp_path / store.FILE_NAME).write_text(json.dumps({"database_url": "sqlite:////x"}))
    assert configuration.settings_of_this_machine().database_url == "sqlite:////x"
    monkeypatch.setenv("CRYSTAL_PORT", "high")
    with pytest.raises(CrystalError, match=r"server\.port"):
        configuration.settings_of_this_machine()


def test_what_others_can_read_is_closed_to_them(patient: Patient) -> None:
    path_of(patient.folder).chmod(0o644)
    patient.folder.chmod(0o755)
    assert wrong(examine(patient, silent)) == {"permissions": 2}
    # Beside the database SQLite makes files of the same mode meanwhile.
    assert list(repair(patient, silent).repaired) == ["permissions"]
    assert wrong(examine(patient, silent)) == {}
    assert path_of(patient.folder).stat().st_mode & 0o777 == 0o600
    assert patient.folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        pytest.param(status(401), "embedding.api_key", id="a-key-refused"),
        pytest.param(
            of_dimension(9), "9 dimensions, the stored vectors have 8", id="another-model"
        ),
    ],
)
def test_a_provider_that_cannot_be_used_is_told_with_what_to_do(
    patient: Patient, provider: StubProvider, behaviour: Behaviour, message: str
) -> None:
    settings = make_settings(patient.folder, stub_values(provider)).embedding
    assert wrong(examine(patient, silent, settings)) == {}
    provider.behave(behaviour)
    (check,) = (each for each in examine(patient, silent, settings).checks if not each.ok)
    assert (check.name, message in check.message) == ("provider", True)
    assert "crystal config" in check.remedy
    assert wrong(repair(patient, silent, settings)) == {"provider": 1}
