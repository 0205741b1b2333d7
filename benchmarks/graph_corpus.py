"""A database that holds a graph of notes and nothing to search it by, the same at every run.

Owns its shape: ten relations a note, of every kind, each note with as many. Rows are stored in
bulk, past the code that writes notes: what is measured over it only reads the graph.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

import app  # noqa: F401 - limits native threads before numpy is imported
from app.db import migrate
from app.db.engine import Database
from app.domain.fragments import Fragment, chunk, root

RELATIONS_PER_NOTE = 10
TYPED = 3
LINKS = 2
TAGS = 3
"""Beside a chunk that the note contains, and a tag that the chunk mentions."""

NOTES_PER_TAG = 20
SEEDS = 60
SPACE_ID = 1

_MOMENT = "2026-01-01 00:00:00"
Row = tuple[object, ...]


def make(path: Path, notes: int) -> Database:
    """Make the database of so many notes; ten times as many relations join them."""
    database = Database(f"sqlite:///{path}")
    migrate.upgrade(database)
    random = np.random.default_rng(0)
    with closing(sqlite3.connect(path)) as connection, connection:
        _insert(connection, "embedding_spaces (id, provider, model, border, max_chars, active,"
                " created_at)", [(SPACE_ID, "p", "m", 0.5, 2000, 1, "")])  # fmt: skip
        _insert(connection, "conversations (id, project_dir, project_name, first_message_at,"
                " last_message_at, file_path, created_at, updated_at)",
                ((f"c{note}", "", "p", *[_MOMENT] * 2, "", *[_MOMENT] * 2)
                 for note in range(1, notes + 1)))  # fmt: skip
        _insert(connection, "notes (id, conversation_id, title, summary, created_at)",
                ((note, f"c{note}", f"note {note}", "", _MOMENT)
                 for note in range(1, notes + 1)))  # fmt: skip
        _insert(connection, "embeddings (id, note_id, space_id, kind, chunk_text, has_han,"
                " content_hash, created_at, vector)",
                ((note, note, SPACE_ID, "chunk", f"note {note}", 0, "", "", b"")
                 for note in range(1, notes + 1)))  # fmt: skip
        _insert(connection, "note_relations (source_note_id, target_note_id, relation_type,"
                " confidence, created_at)",
                ((note, other, kind, 0.9, _MOMENT)
                 for note, other, kind in _typed(notes, random)))  # fmt: skip
        _insert(connection, "note_links (source_note_id, target_note_id, target, kind, position,"
                " name_key)",
                ((note, other, "", "wiki", place, "")
                 for note, other, place in _links(notes, random)))  # fmt: skip
        _tag(connection, notes, random)
    return database


def with_hub(path: Path, copy: Path, notes: int) -> Database:
    """Copy a database and add a tag that half of the notes have, and their chunks with them."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copyfile(path, copy)
    with closing(sqlite3.connect(copy)) as connection, connection:
        hub = connection.execute(
            "INSERT INTO entities (kind, name) VALUES ('tag', 'hub')"
        ).lastrowid
        having = range(2, notes + 1, 2)
        _insert(connection, "note_entities (note_id, entity_id)", ((note, hub) for note in having))
        _insert(connection, "chunk_entities (chunk_id, entity_id, space_id)",
                ((note, hub, SPACE_ID) for note in having))  # fmt: skip
    return Database(f"sqlite:///{copy}")


def seeds(notes: int) -> list[Fragment]:
    """Return roots and chunks all over the graph, every second one with the hub if there is one."""
    ids = np.linspace(1, notes, SEEDS).astype(int).tolist()
    return [root(id_) if place % 3 else chunk(id_) for place, id_ in enumerate(ids)]


def _insert(connection: sqlite3.Connection, into: str, rows: Iterable[Row]) -> None:
    marks = ", ".join("?" * (into.count(",") + 1))
    connection.executemany(f"INSERT INTO {into} VALUES ({marks})", rows)


def _typed(notes: int, random: np.random.Generator) -> Iterator[tuple[int, int, str]]:
    for kind in ("SIMILAR_TO", "EXTENDS", "CAUSED_BY")[:TYPED]:
        others = random.permutation(notes) + 1
        for note, other in enumerate(others.tolist(), start=1):
            yield note, other, kind


def _links(notes: int, random: np.random.Generator) -> Iterator[tuple[int, int, int]]:
    for place in range(LINKS):
        others = random.permutation(notes) + 1
        for note, other in enumerate(others.tolist(), start=1):
            yield note, other, place


def _tag(connection: sqlite3.Connection, notes: int, random: np.random.Generator) -> None:
    tags = max(TAGS, TAGS * notes // NOTES_PER_TAG)
    _insert(connection, "entities (id, kind, name)",
            ((tag, "tag", f"tag {tag}") for tag in range(1, tags + 1)))  # fmt: skip
    pairs: set[tuple[int, int]] = set()
    for turn in range(TAGS):
        places = random.permutation(notes)
        pairs.update(
            (note, int(place * TAGS + turn) % tags + 1)
            for note, place in enumerate(places.tolist(), start=1)
        )
    ordered = sorted(pairs)
    _insert(connection, "note_entities (note_id, entity_id)", ordered)
    first = dict(reversed(ordered))
    _insert(connection, "chunk_entities (chunk_id, entity_id, space_id)",
            ((note, tag, SPACE_ID) for note, tag in sorted(first.items())))  # fmt: skip
