"""A data directory that ChatCrystal opens: its database, its file of vectors, its settings.

Owns what becomes of columns and providers that it does not know. ``chatcrystal.sql`` is its
schema, word for word.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from app.db import whole_tables
from app.db.columns import read_json
from app.db.whole_tables import Row
from app.domain.spaces import Space
from app.errors import ExportFailed
from app.maintenance.export.source import Source, Tally
from app.maintenance.export.vectra import LONGEST_TEXT, vector_id, write_index
from app.settings.values import EmbeddingSettings

DATABASE = "chatcrystal.db"
INDEX = "vectra-index/index.json"
CONFIG = "config.json"

_SCHEMA = Path(__file__).with_name("chatcrystal.sql")
_JSON_COLUMNS = ("key_conclusions", "code_snippets", "error_signatures", "files_touched")
_EMPTY_LIST = "[]"
_PROVIDERS = ("ollama", "openai", "google", "azure", "custom")
"""Those of ChatCrystal that embed."""


def write_directory(source: Source, folder: Path, tally: Tally) -> tuple[str, ...]:
    """Write everything into an empty folder; return what ChatCrystal will make less of.

    Raises:
        ExportFailed: the database cannot be written.
    """
    try:
        with closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as target:
            _fill(source, target, tally)
    except sqlite3.Error as error:
        raise ExportFailed(f"{DATABASE} cannot be written: {error}") from error
    index = folder / INDEX
    index.parent.mkdir()
    with index.open("wb") as stream:
        write_index(stream, tally.counting("chunks", _chunks(source, with_vectors=True)))
    if source.space is not None:
        content = json.dumps(_config(source.space, source.embedding), indent=2)
        (folder / CONFIG).write_text(content + "\n", encoding="utf-8")
    return tuple(_warnings(source, index.stat().st_size))


def _fill(source: Source, target: sqlite3.Connection, tally: Tally) -> None:
    target.execute("PRAGMA synchronous=OFF")
    target.executescript(_SCHEMA.read_text(encoding="utf-8"))
    target.execute("BEGIN")
    for table, (kind, rows) in _ROWS.items():
        _insert(target, table, tally.counting(kind, rows(source.connection)))
    chunks = _chunks(source, with_vectors=False)
    _insert(target, "embeddings", ({**row, "vectra_id": vector_id(row)} for row in chunks))
    target.execute("COMMIT")


def _notes(connection: Connection) -> Iterator[Row]:
    for row in whole_tables.all_notes(connection):
        yield {**row, **{name: _valid_json(row[name]) for name in _JSON_COLUMNS}}


def _insert(target: sqlite3.Connection, table: str, rows: Iterable[Row]) -> None:
    names = [column[1] for column in target.execute(f"PRAGMA table_info({table})")]
    places = ", ".join("?" * len(names))
    target.executemany(
        f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})",
        (tuple(row[name] for name in names) for row in rows),
    )


def _chunks(source: Source, *, with_vectors: bool) -> Iterator[Row]:
    if source.space is None:
        return iter(())
    return whole_tables.all_chunks(source.connection, source.space.id, with_vectors=with_vectors)


def _valid_json(column: str | None) -> str | None:
    """Return a JSON column; one row of another kind would fail all of ChatCrystal's lists."""
    if not column:
        return column
    return _EMPTY_LIST if read_json(column) == [] else column


def _config(space: Space, configured: EmbeddingSettings | None) -> dict[str, Any]:
    embedding = {"provider": space.spec.provider, "model": space.spec.model}
    if configured is not None and configured.provider == space.spec.provider:
        address = _address(configured)
        if address:
            embedding["baseURL"] = address
    return {"embedding": embedding}


def _address(configured: EmbeddingSettings) -> str:
    """Return the provider's address as ChatCrystal has it; none where it may hold a password."""
    address = configured.base_url.rstrip("/")
    if "@" in address:
        return ""
    return address.removesuffix("/v1") if configured.provider == "ollama" else address


def _warnings(source: Source, index_bytes: int) -> Iterator[str]:
    space = source.space
    if space is not None and space.spec.provider not in _PROVIDERS:
        yield (
            f"ChatCrystal has no provider {space.spec.provider}: it searches only once another one "
            "is configured and every note embedded again"
        )
    if index_bytes > LONGEST_TEXT:
        yield (
            f"ChatCrystal cannot read more than {LONGEST_TEXT} characters of vectors: "
            f"{INDEX} has {index_bytes} bytes"
        )
    bodies = whole_tables.count_bodies(source.connection)
    if bodies:
        yield f"ChatCrystal has no place for Markdown bodies; left out: {bodies}"


_ROWS: Mapping[str, tuple[str, Callable[[Connection], Iterator[Row]]]] = {
    "tags": ("tags", whole_tables.all_tags),
    "conversations": ("conversations", whole_tables.all_conversations),
    "messages": ("messages", whole_tables.all_messages),
    "notes": ("notes", _notes),
    "note_tags": ("note_tags", whole_tables.all_note_tags),
    "note_relations": ("relations", whole_tables.all_relations),
}
"""By table of ChatCrystal: the kind and the rows of it."""
