"""The schema that migrations lead to, from wherever a database stands, and what they keep safe."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, inspect, text
from sqlalchemy.exc import DatabaseError, IntegrityError

from app.db import changes, checkup, migrate
from app.db.engine import Database
from app.db.models import metadata
from app.errors import DatabaseUnavailable
from tests.support.databases import DATABASES

REVISIONS = [
    script.revision
    for script in ScriptDirectory.from_config(migrate._config()).walk_revisions("base", "heads")
]

CONVERSATION = (
    "INSERT INTO conversations (id, project_dir, project_name, first_message_at, last_message_at,"
    " file_path, created_at, updated_at) VALUES ('c', '', 'p', '', '', '', '', '')"
)
NOTE = (
    "INSERT INTO notes (id, conversation_id, title, summary, created_at)"
    " VALUES (7, 'c', 'kept', 'as it was', '2026-01-01 00:00:00')"
)
LATER_REVISION = """
from alembic import op
import sqlalchemy as sa

revision = "{revision}"
down_revision = "{down}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table("later", sa.Column("id", sa.Integer(), primary_key=True))
    with op.batch_alter_table("notes") as batch:
        batch.add_column(sa.Column("mood", sa.Text(), server_default="calm", nullable=False))
    {then}
"""


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A database whose file does not exist yet."""
    opened = Database(DATABASES.empty(tmp_path / "deep"))
    yield opened
    opened.close()


def path_of(database: Database) -> Path:
    assert database.path is not None
    return database.path


def shape(engine: Engine) -> dict[str, Any]:
    """Everything that can be read of a schema: columns, keys, constraints, indexes, counters."""
    found = inspect(engine)
    created: dict[str, str] = {}
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            rows = connection.execute(text("SELECT name, sql FROM sqlite_master"))
            created = {name: sql or "" for name, sql in rows}
    return {
        table: {
            "columns": sorted(
                repr({**column, "type": repr(column["type"])})
                for column in found.get_columns(table)
            ),
            "primary": found.get_pk_constraint(table),
            "foreign": sorted(map(repr, found.get_foreign_keys(table))),
            "unique": sorted(map(repr, found.get_unique_constraints(table))),
            "checks": sorted(map(repr, found.get_check_constraints(table))),
            "indexes": sorted(map(repr, found.get_indexes(table))),
            "counter": "AUTOINCREMENT" in created.get(table, ""),
        }
        for table in found.get_table_names()
        if table != "alembic_version"
    }


def test_migrations_lead_to_the_models(database: Database, tmp_path: Path) -> None:
    migrate.upgrade(database)
    with closing(Database(DATABASES.empty(tmp_path, "made"))) as made:
        metadata.create_all(made.engine)
        assert shape(database.engine) == shape(made.engine)


def test_alembic_finds_nothing_to_migrate(database: Database) -> None:
    migrate.upgrade(database)
    with database.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE embedding_spaces SET border = 1.0",
        "UPDATE embedding_spaces SET border = 0",
        "INSERT INTO index_state (id, sequence, epoch, trimmed_to) VALUES (2, 0, 'e', 0)",
        "UPDATE index_state SET id = 3",
    ],
    ids=["border 1", "border 0", "second state", "other state"],
)
def test_the_migrated_schema_refuses(database: Database, statement: str) -> None:
    migrate.upgrade(database)
    with database.write() as connection:
        connection.execute(
            text(
                "INSERT INTO embedding_spaces (provider, model, border, max_chars, created_at)"
                " VALUES ('p', 'm', 0.5, 9, '')"
            )
        )
    with pytest.raises(IntegrityError, match=r"(?i)check"), database.write() as connection:
        connection.execute(text(statement))


def test_an_empty_database_is_created_with_a_history_of_its_own(tmp_path: Path) -> None:
    epochs = set()
    for name in ("one", "two"):
        database = Database(DATABASES.empty(tmp_path, name))
        assert migrate.upgrade(database) is None
        assert migrate.revision(database) == REVISIONS[0]
        with database.read() as connection:
            state = changes.state(connection)
        assert (state.sequence, state.trimmed_to) == (0, 0)
        epochs.add(state.epoch)
        database.close()
    assert len(epochs) == 2
    assert not list(tmp_path.glob("*.bak"))


def upgrade_to(database: Database, revision: str) -> None:
    if database.path is not None:
        database.path.parent.mkdir(parents=True, exist_ok=True)
    with database.write() as connection:
        command.upgrade(migrate._config(connection), revision)
        connection.execute(text(CONVERSATION))
        connection.execute(text(NOTE))


@pytest.mark.parametrize("revision", REVISIONS)
def test_rows_of_every_revision_are_kept(database: Database, revision: str) -> None:
    upgrade_to(database, revision)
    assert migrate.upgrade(database) == revision
    assert migrate.revision(database) == REVISIONS[0]
    with database.read() as connection:
        assert connection.execute(text("SELECT id, title, summary FROM notes")).all() == [
            (7, "kept", "as it was")
        ]
        assert checkup.damage(connection, 9) == []
        assert checkup.dangling(connection) == {}


@pytest.fixture
def later_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A later version of the program, with one revision more; returns that revision's file."""
    folder = tmp_path / "migrations"
    shutil.copytree(migrate._CHECKOUT, folder)
    monkeypatch.setattr(migrate, "_CHECKOUT", folder)
    return folder / "versions" / "later.py"


def write_revision(path: Path, then: str = "pass") -> str:
    revision = "later"
    path.write_text(LATER_REVISION.format(revision=revision, down=REVISIONS[0], then=then), "utf-8")
    return revision


@pytest.mark.sqlite
def test_a_table_that_is_written_anew_keeps_what_hangs_on_it(
    database: Database, later_version: Path
) -> None:
    """SQLite changes many things only by copying a table and dropping the old one."""
    upgrade_to(database, REVISIONS[0])
    with database.write() as connection:
        connection.execute(text("INSERT INTO tags (id, name) VALUES (1, 't')"))
        connection.execute(text("INSERT INTO note_tags (note_id, tag_id) VALUES (7, 1)"))
    write_revision(
        later_version,
        then='with op.batch_alter_table("notes", recreate="always") as batch:'
        ' batch.alter_column("summary", nullable=True)',
    )
    migrate.upgrade(database)
    with database.read() as connection:
        assert connection.execute(text("SELECT note_id, tag_id FROM note_tags")).all() == [(7, 1)]
        assert checkup.dangling(connection) == {}
    with database.write() as connection:
        connection.execute(text("DELETE FROM conversations"))
    with database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM note_tags")).scalar() == 0


def backups_of(database: Database) -> list[Path]:
    path = path_of(database)
    return sorted(path.parent.glob(f"{path.name}.*"))


@pytest.mark.sqlite
def test_an_upgrade_copies_the_file_first(database: Database, later_version: Path) -> None:
    upgrade_to(database, REVISIONS[0])
    # Open elsewhere, so that the last commit is in the write-ahead log alone.
    with closing(sqlite3.connect(path_of(database))) as elsewhere:
        elsewhere.execute("UPDATE notes SET summary = 'in the log'")
        elsewhere.commit()
        path_of(database).chmod(0o640)
        revision = write_revision(later_version)
        assert migrate.upgrade(database) == REVISIONS[0]
    assert migrate.revision(database) == revision
    (backup,) = [path for path in backups_of(database) if path.suffix == ".bak"]
    assert backup.stat().st_mode & 0o777 == 0o640
    with closing(sqlite3.connect(backup)) as copy:
        assert copy.execute("SELECT version_num FROM alembic_version").fetchall() == [
            (REVISIONS[0],)
        ]
        assert copy.execute("SELECT summary FROM notes").fetchall() == [("in the log",)]
    with database.read() as connection:
        assert connection.execute(text("SELECT summary, mood FROM notes")).all() == [
            ("in the log", "calm")
        ]
    migrate.upgrade(database)
    assert [path for path in backups_of(database) if path.suffix == ".bak"] == [backup]


def test_an_upgrade_that_fails_changes_nothing(database: Database, later_version: Path) -> None:
    upgrade_to(database, REVISIONS[0])
    before = shape(database.engine)
    write_revision(later_version, then='op.execute("INSERT INTO later (id) VALUES (1), (1)")')
    with pytest.raises(DatabaseError):
        migrate.upgrade(database)
    assert shape(database.engine) == before
    assert migrate.revision(database) == REVISIONS[0]
    with database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM notes")).scalar() == 1


@pytest.mark.sqlite
def test_a_newer_database_is_refused_and_left_alone(database: Database) -> None:
    migrate.upgrade(database)
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    database.close()
    content = path_of(database).read_bytes()
    with pytest.raises(DatabaseUnavailable) as caught:
        migrate.upgrade(database)
    assert caught.value.message == (
        "The database is at revision 9999, which this version does not know; "
        "upgrade chatcrystal-search or use another data folder"
    )
    database.close()
    assert path_of(database).read_bytes() == content
    assert not [path for path in backups_of(database) if path.suffix == ".bak"]


@pytest.mark.sqlite
def test_tables_of_another_program_are_left_alone(database: Database) -> None:
    path = path_of(database)
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as theirs:
        theirs.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, words TEXT)")
        theirs.commit()
    with pytest.raises(DatabaseUnavailable, match="table notes that is not ours"):
        migrate.upgrade(database)
    with closing(sqlite3.connect(path)) as theirs:
        assert theirs.execute("SELECT name FROM sqlite_master").fetchall() == [("notes",)]
    assert not [path for path in backups_of(database) if path.suffix == ".bak"]


@pytest.mark.sqlite
def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    database = Database(f"sqlite:///{tmp_path / 'file' / 'crystal.db'}")
    with pytest.raises(DatabaseUnavailable, match=re.escape(str(tmp_path / "file"))):
        migrate.upgrade(database)
    database.close()


@pytest.mark.sqlite
def test_a_new_database_and_its_folder_are_for_their_owner_only(database: Database) -> None:
    migrate.upgrade(database)
    path = path_of(database)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    with database.write() as connection:
        connection.execute(text(CONVERSATION))
        assert Path(f"{path}-wal").stat().st_mode & 0o777 == 0o600


@pytest.mark.sqlite
def test_a_copy_that_is_not_finished_is_nobody_elses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(source: Path, target: Path) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "crystal.db"
    with closing(Database(f"sqlite:///{path}")) as database:
        migrate.upgrade(database)
    monkeypatch.setattr(shutil, "copymode", stop)
    before = os.umask(0)
    try:
        with pytest.raises(KeyboardInterrupt):
            migrate.back_up(path)
    finally:
        os.umask(before)
    (left,) = tmp_path.glob("*.part")
    assert stat.S_IMODE(left.stat().st_mode) == 0o600
