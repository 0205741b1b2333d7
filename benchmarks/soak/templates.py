"""Data folders that trials begin with, and what databases hold.

Owns how they are made; each is made once in a run and copied.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
from alembic import command
from alembic.script import ScriptDirectory

from app.db import migrate, spaces
from app.db.engine import Database
from app.domain.chunks import KIND_CHUNK
from app.domain.notes import STATUS_DONE
from app.factory import build as opened
from app.settings.store import load
from app.sync.transaction import transaction
from benchmarks.generate import generate
from benchmarks.peer_ours import MOMENT, add_notes
from benchmarks.scan import generated
from benchmarks.soak.processes import Place
from fixtures.conversations import build
from fixtures.conversations.story import every
from tests.support.provider import DIMENSION

VAULT = Path(__file__).parents[2] / "fixtures" / "vault"
NOTES = 60
STORIES = 12
LARGE_NOTES = 50
CHUNKS_EACH = 404
"""Together more vectors than an index has that is written to a snapshot."""

Rows = Counter[tuple[object, ...]]


def essence(database: Path) -> Rows:
    """Return what a database holds, without numbers and times."""
    statements = (
        "SELECT 'note', title, summary, body, path, embedding_status FROM notes",
        "SELECT 'conversation', source, slug, status, message_count FROM conversations"
        " WHERE id NOT LIKE 'note:%'",
        "SELECT 'message', conversation_id, role, content FROM messages"
        " WHERE conversation_id NOT LIKE 'note:%'",
        "SELECT 'chunk', n.title, e.kind, e.chunk_index, e.chunk_text"
        " FROM embeddings e JOIN notes n ON n.id = e.note_id WHERE e.kind = 'chunk'",
        "SELECT 'link', n.title, l.target, l.kind, t.title FROM note_links l"
        " JOIN notes n ON n.id = l.source_note_id LEFT JOIN notes t ON t.id = l.target_note_id",
        "SELECT 'tag', n.title, t.name FROM note_tags x"
        " JOIN notes n ON n.id = x.note_id JOIN tags t ON t.id = x.tag_id",
    )
    with closing(sqlite3.connect(database)) as connection:
        return Counter(row for each in statements for row in connection.execute(each))


def chatcrystal(folder: Path) -> Path:
    """Make a data folder of the original."""
    generate(folder, NOTES, DIMENSION)
    return folder


def sessions(home: Path) -> Path:
    """Make a home folder in which tools have left sessions."""
    build.build(home, every()[:STORIES])
    return home


def old_database(folder: Path) -> Rows:
    """Make a database of the first revision, with notes; return what it holds."""
    folder.mkdir(mode=0o700)
    (folder / "crystal.db").touch(mode=0o600)
    database = Database(f"sqlite:///{folder / 'crystal.db'}")
    scripts = ScriptDirectory.from_config(migrate._config())
    with database.write_schema() as connection:
        command.upgrade(migrate._config(connection), scripts.get_bases()[0])
        for number in range(NOTES):
            connection.exec_driver_sql(
                "INSERT INTO conversations (id, project_dir, project_name, first_message_at,"
                " last_message_at, file_path, created_at, updated_at)"
                f" VALUES ('c{number}', '', 'p', '', '', '', '', '')"
            )
            connection.exec_driver_sql(
                "INSERT INTO notes (conversation_id, title, summary, body, created_at) VALUES (?,"
                " ?, ?, ?, '2026-01-01 00:00:00')",
                (f"c{number}", f"old {number}", f"索引 {number}", f"see [[old {number + 1}]]"),
            )
    database.close()
    return kept(folder / "crystal.db")


def kept(database: Path) -> Rows:
    """Return what people wrote of the notes of a database of any revision."""
    with closing(sqlite3.connect(database)) as connection:
        return Counter(connection.execute("SELECT id, title, summary, body FROM notes"))


def large_database(place: Place) -> Rows:
    """Make a library whose index is large enough for a snapshot; return what it holds."""
    application = opened(load(environment=place.environment))
    space_id = application.active.current.space_id
    random = np.random.default_rng(0)
    note_ids = range(1, LARGE_NOTES + 1)
    with transaction(application.database) as unit:
        spaces.set_dimension(unit.connection, space_id, DIMENSION)
        unit.changed_space(space_id)
        add_notes(unit.connection, note_ids)
        spaces.set_status(unit.connection, space_id, note_ids, STATUS_DONE)
        for note_id in note_ids:
            rows = [
                {"note_id": note_id, "space_id": space_id, "kind": KIND_CHUNK, "chunk_index": index,
                 "chunk_text": f"索引 {index}", "has_han": 1, "content_hash": "",
                 "created_at": MOMENT, "vector": vector.tobytes()}
                for index, vector in enumerate(generated(CHUNKS_EACH, DIMENSION, random))
            ]  # fmt: skip
            unit.add_vectors(rows)
        unit.reworded(note_ids)
    application.companions.fill()
    application.close()
    return kept(place.database)
