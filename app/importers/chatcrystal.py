"""A data directory of ChatCrystal: where its parts are, and what is checked before any is read.

Owns the form of the directory. The directory is only read: the database from a private copy,
because the original rewrites its file as a whole every half minute, under whoever reads it.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from app.errors import ImportFailed
from app.importers.settled import read_settled
from app.settings.values import Secret
from app.sqlite import readable_errors

DATABASE = "chatcrystal.db"
INDEX = Path("vectra-index", "index.json")
CONFIG = "config.json"

_PROVIDERS = {"custom": "openai"}
"""Names of the original that are called otherwise here."""

_COLUMNS = {
    "conversations": (
        "id source project_dir project_name first_message_at last_message_at file_path",
        "slug cwd git_branch message_count file_size file_mtime status experience_score "
        "experience_gate_reason experience_gate_details created_at updated_at",
    ),
    "messages": (
        "id conversation_id type content timestamp sort_order",
        "parent_uuid role has_tool_use has_code thinking",
    ),
    "notes": (
        "id conversation_id title summary",
        "key_conclusions code_snippets raw_llm_response is_edited embedding_status project_key "
        "scope source_type source_agent task_kind error_signatures files_touched outcome_type "
        "created_at updated_at",
    ),
    "tags": ("id name", ""),
    "note_tags": ("note_id tag_id", ""),
    "embeddings": ("id note_id chunk_index chunk_text", "vectra_id created_at"),
    "note_relations": (
        "id source_note_id target_note_id relation_type",
        "confidence description created_by created_at",
    ),
}
"""By table: columns that must be there, and columns that older versions do not have."""

_REQUIRED_TABLES = ("conversations", "notes")

NO_KEY = Secret("")


@dataclass(frozen=True, slots=True)
class Origin:
    """What the directory says of the provider that made its vectors."""

    provider: str | None = None
    model: str | None = None
    base_url: str = ""
    api_key: Secret = NO_KEY


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """An opened data directory; ``connection`` reads its database as it was on opening."""

    folder: Path
    connection: sqlite3.Connection

    @property
    def index(self) -> Path | None:
        """The file of the vectors, if there is one."""
        path = self.folder / INDEX
        return path if path.exists() else None


@contextmanager
def opened(folder: Path) -> Iterator[DataDirectory]:
    """Open a data directory, with its database checked.

    Raises:
        ImportFailed: it is none, or its database cannot be read or is damaged.
    """
    source = _database_of(folder)
    with TemporaryDirectory(prefix="crystal-import-") as workspace:
        copy = Path(workspace, DATABASE)
        read_settled(source, lambda: _copy(source, copy))
        with _connected(copy, source) as connection:
            for table, (required, optional) in _COLUMNS.items():
                _complete(connection, source, table, required.split(), optional.split())
            connection.row_factory = sqlite3.Row
            yield DataDirectory(folder, connection)


def origin(folder: Path) -> Origin:
    """Read what ``config.json`` says of the embedding provider; nothing when there is none.

    Raises:
        ImportFailed: the file is there and cannot be read as JSON.
    """
    path = folder / CONFIG
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return Origin()
    except (OSError, ValueError, RecursionError) as error:
        raise ImportFailed(f"{path} cannot be read as JSON") from error
    embedding = content.get("embedding") if isinstance(content, dict) else None
    if not isinstance(embedding, dict):
        return Origin()

    def said(key: str) -> str:
        value = embedding.get(key)
        return value.strip() if isinstance(value, str) else ""

    provider = said("provider").lower()
    return Origin(
        provider=_PROVIDERS.get(provider, provider) or None,
        model=said("model") or None,
        base_url=said("baseURL"),
        api_key=Secret(said("apiKey")),
    )


def _database_of(folder: Path) -> Path:
    if not folder.is_dir():
        problem = "is no folder" if folder.exists() else "does not exist"
        raise ImportFailed(f"{folder} {problem}: name the data folder of ChatCrystal")
    path = folder / DATABASE
    if not path.is_file():
        raise ImportFailed(f"{folder} has no {DATABASE}: name the data folder of ChatCrystal")
    return path


def _copy(source: Path, copy: Path) -> None:
    """Copy the database and check the copy."""
    shutil.copyfile(source, copy)
    if not copy.stat().st_size:
        # It is cut before it is written anew; SQLite would take it for one without tables.
        raise ImportFailed(f"{source} is empty: it is no database of ChatCrystal")
    with _connected(copy, source) as connection:
        problem = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    if problem != "ok":
        raise ImportFailed(f"{source} is damaged: {' '.join(problem.split())}")


@contextmanager
def _connected(copy: Path, source: Path) -> Iterator[sqlite3.Connection]:
    # The file is flagged for a write-ahead log: opened otherwise, SQLite would start one.
    address = f"{copy.as_uri()}?mode=ro&immutable=1"
    try:
        with readable_errors(), closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            yield connection
    except sqlite3.DatabaseError as error:
        raise ImportFailed(f"{source} is damaged: {error}") from error


def _complete(
    connection: sqlite3.Connection,
    source: Path,
    table: str,
    required: list[str],
    optional: list[str],
) -> None:
    """Put what an older version does not have yet, empty, before what is there."""
    present = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
    if not present and table not in _REQUIRED_TABLES:
        connection.execute(f"CREATE TEMP TABLE {table} ({', '.join(required + optional)})")
        return
    missing = [name for name in required if name not in present]
    if missing:
        what = f"no {table}.{missing[0]}" if present else f"no table {table}"
        raise ImportFailed(f"{source} has {what}: it is no database of ChatCrystal")
    absent = [f"NULL AS {name}" for name in optional if name not in present]
    if absent:
        connection.execute(
            f"CREATE TEMP VIEW {table} AS SELECT *, {', '.join(absent)} FROM main.{table}"
        )
