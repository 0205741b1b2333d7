"""Data directories of ChatCrystal for tests: copies of the recorded one, changed as a test needs.

Owns the changing. Must not import.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import select

from app.db.engine import Database
from app.db.models import metadata
from tests.support.golden import COPY

RECORDED = COPY / "chatcrystal" / "datadir"

UNSTABLE_TABLES = ("index_changes", "index_state")
"""What tells how rows came in, not what they are."""

Contents = dict[str, list[dict[str, Any]]]


def edit(source: Path, *statements: str) -> None:
    """Run statements on the database of a directory."""
    with closing(sqlite3.connect(source / "chatcrystal.db")) as database, database:
        for statement in statements:
            database.execute(statement)


def one(source: Path, statement: str) -> Any:
    """The first value that a query on the database of a directory gives."""
    with closing(sqlite3.connect(source / "chatcrystal.db")) as database:
        return database.execute(statement).fetchone()[0]


def index_of(source: Path) -> Path:
    """The file of vectors of a directory."""
    return source / "vectra-index" / "index.json"


def items_of(source: Path) -> list[dict[str, Any]]:
    """The vectors of a directory with what is said of them."""
    items: list[dict[str, Any]] = json.loads(index_of(source).read_text("utf-8"))["items"]
    return items


def write_items(source: Path, items: list[dict[str, Any]]) -> None:
    """Replace the vectors of a directory."""
    content = {"version": 1, "metadata_config": {}, "items": items}
    index_of(source).write_text(json.dumps(content), "utf-8")


def write_config(source: Path, **embedding: str) -> None:
    """Let a directory say which provider made its vectors."""
    content = {"llm": {"provider": "ollama"}, "embedding": embedding, "enabledSources": ["codex"]}
    (source / "config.json").write_text(json.dumps(content), "utf-8")


def state_of(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Bytes and time of the last change of every file below a folder."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def contents_of(database: Database) -> Contents:
    """All rows of a database, by table, but those that tell how the rows came in."""
    with database.read() as connection:
        return {
            table.name: [
                {name: value for name, value in row.items() if name != "created_at"}
                for row in connection.execute(select(table).order_by(*table.primary_key)).mappings()
            ]
            for table in metadata.sorted_tables
            if table.name not in UNSTABLE_TABLES
        }


def feed_of(database: Database) -> list[dict[str, Any]]:
    """The state of the change feed and all its entries."""
    tables = [table for table in metadata.sorted_tables if table.name in UNSTABLE_TABLES]
    with database.read() as connection:
        return [
            dict(row) for table in tables for row in connection.execute(select(table)).mappings()
        ]
