"""A data directory for ChatCrystal: its schema, its files, and the way back."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.domain.adoption import AdoptionRequest
from app.factory import Application
from app.maintenance.export.places import MANIFEST
from tests.maintenance.export.library import Rows, export, rows_of, run
from tests.support.application import ask, opened, plant, stub_values
from tests.support.golden import COPY
from tests.support.provider import StubProvider, golden_vector

FILES = {"chatcrystal.db", "vectra-index/index.json", "config.json", MANIFEST}
ADDED = {
    "conversations": {"external_id"},
    "messages": set(),
    "notes": {"body", "aliases", "path", "slug", "content_digest", "external_id"},
    "tags": set(),
    "note_tags": set(),
    "note_relations": set(),
    "embeddings": {"start", "end", "heading_path"},
}
"""By table: the columns that ChatCrystal does not have."""


@pytest.fixture(scope="module")
def recorded(golden: Application, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recorded directory, imported and exported again; only read."""
    folder = tmp_path_factory.mktemp("recorded") / "datadir"
    export(golden, "chatcrystal", folder)
    return folder


@pytest.fixture(scope="module")
def by_hand(awkward: Application, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The awkward database as a directory; only read."""
    folder = tmp_path_factory.mktemp("awkward") / "datadir"
    export(awkward, "chatcrystal", folder)
    return folder


@pytest.fixture
def other(empty_folder: Path, tmp_path: Path) -> Iterator[Application]:
    """An empty application with the provider of the recorded vectors."""
    shutil.copytree(empty_folder, tmp_path / "other")
    with (
        StubProvider(vector=golden_vector) as stub,
        opened(tmp_path / "other", stub_values(stub)) as built,
    ):
        yield built


def query(folder: Path, statement: str) -> list[tuple[Any, ...]]:
    """The rows of a statement on the database of a directory."""
    with closing(sqlite3.connect(folder / "chatcrystal.db")) as connection:
        return connection.execute(statement).fetchall()


def items_of(folder: Path) -> list[dict[str, Any]]:
    """The vectors of a directory."""
    content = json.loads((folder / "vectra-index" / "index.json").read_bytes())
    items: list[dict[str, Any]] = content["items"]
    return items


def shared(application: Application, table: str) -> Rows:
    """The rows of a table without the columns that only this project has."""
    rows = rows_of(application, table)
    return [
        {name: value for name, value in row.items() if name not in ADDED[table]} for row in rows
    ]


def test_the_schema_is_that_of_the_original(recorded: Path) -> None:
    schema = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
    assert query(recorded, schema) == query(COPY / "chatcrystal" / "datadir", schema)


def test_the_database_is_one_file_without_a_log(recorded: Path) -> None:
    found = {path.relative_to(recorded).as_posix() for path in recorded.rglob("*")}
    header = (recorded / "chatcrystal.db").read_bytes()[:100]
    assert found == FILES | {"vectra-index"}
    # Read and write version: 2 would mean a write-ahead log.
    assert header[18:20] == b"\x01\x01"
    assert query(recorded, "PRAGMA user_version") == [(0,)]
    assert query(recorded, "PRAGMA integrity_check") == [("ok",)]
    assert query(recorded, "PRAGMA foreign_key_check") == []


def test_what_the_original_wrote_is_there_as_it_wrote_it(recorded: Path) -> None:
    original = COPY / "chatcrystal" / "datadir"
    kept = "conversation_id IN (SELECT id FROM conversations)"
    of_kept = f"note_id IN (SELECT id FROM notes WHERE {kept})"
    for statement in (
        "SELECT * FROM conversations ORDER BY id",
        "SELECT * FROM messages ORDER BY id",
        "SELECT * FROM tags ORDER BY id",
        f"SELECT * FROM note_tags WHERE {of_kept} ORDER BY note_id, tag_id",
        f"SELECT note_id, chunk_index, chunk_text, vectra_id, created_at FROM embeddings "
        f"WHERE {of_kept} ORDER BY note_id, chunk_index",
        "SELECT id, conversation_id, title, summary, key_conclusions, code_snippets, "
        "raw_llm_response, COALESCE(is_edited, 0), embedding_status, project_key, scope, "
        "source_type, source_agent, task_kind, error_signatures, files_touched, outcome_type, "
        f"created_at, updated_at FROM notes WHERE {kept} ORDER BY id",
    ):
        assert query(recorded, statement) == query(original, statement)


@pytest.mark.parametrize("table", ["conversations", "messages", "notes", "tags", "note_tags"])
def test_a_trip_keeps_every_row(
    golden: Application, recorded: Path, other: Application, table: str
) -> None:
    report = other.adopter.adopt(AdoptionRequest(recorded))
    assert set(report.left_out.values()) == {0}
    assert report.renumbered == {"notes": 0, "relations": 0, "tags": 0}
    assert report.space is not None
    assert not report.space.is_assumed
    assert shared(other, table) == shared(golden, table)


def test_a_trip_keeps_relations_chunks_vectors_and_answers(
    golden: Application, recorded: Path, other: Application
) -> None:
    other.adopter.adopt(AdoptionRequest(recorded))
    assert rows_of(other, "note_relations") == rows_of(golden, "note_relations")
    # Vectors to the last bit.
    assert shared(other, "embeddings") == shared(golden, "embeddings")
    for text in ("vector search", "数据库连接池", "postgres"):
        assert ask(other, text, expand=True) == ask(golden, text, expand=True)


def test_a_trip_of_notes_made_by_hand_keeps_what_the_original_has_a_place_for(
    awkward: Application, by_hand: Path, application: Application
) -> None:
    report = application.adopter.adopt(AdoptionRequest(by_hand))
    assert set(report.left_out.values()) == {0}
    for table in ("messages", "tags", "note_tags", "note_relations", "notes"):
        found, wanted = (shared(one, table) for one in (application, awkward))
        assert found == wanted
    found, wanted = (rows_of(one, "embeddings") for one in (application, awkward))
    for one, two in zip(found, wanted, strict=True):
        assert one["chunk_text"] == two["chunk_text"]
        assert one["vectra_id"]
        vectors = [np.frombuffer(row["vector"], dtype=np.float32) for row in (one, two)]
        np.testing.assert_allclose(vectors[0], vectors[1], rtol=1.2e-7)


def test_every_note_has_a_conversation(by_hand: Path) -> None:
    assert (
        query(by_hand, "SELECT source FROM conversations WHERE id LIKE 'note:%'")
        == [("manual",)] * 3
    )
    assert query(by_hand, "SELECT id FROM notes WHERE conversation_id NOT IN "
                 "(SELECT id FROM conversations)") == []  # fmt: skip


def test_columns_that_would_fail_the_original_are_empty_lists(
    application: Application, tmp_path: Path
) -> None:
    plant(application, [0.5])
    run(
        application,
        "UPDATE notes SET key_conclusions = '{broken', code_snippets = '[NaN]', "
        "files_touched = '', error_signatures = '{\"a\": []}'",
    )
    export(application, "chatcrystal", tmp_path / "out")
    columns = "key_conclusions, code_snippets, files_touched, error_signatures"
    assert query(tmp_path / "out", f"SELECT {columns} FROM notes") == [
        ("[]", "[]", "", '{"a": []}')
    ]


def test_the_file_of_vectors_has_the_form_of_the_original(
    golden: Application, recorded: Path
) -> None:
    text = (recorded / "vectra-index" / "index.json").read_text("utf-8")
    content = json.loads(text)
    original = items_of(COPY / "chatcrystal" / "datadir")[0]
    assert text == json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    assert list(content) == ["version", "metadata_config", "items"]
    assert (content["version"], content["metadata_config"]) == (1, {})
    rows = rows_of(golden, "embeddings")
    titles = {note["id"]: note["title"] for note in rows_of(golden, "notes")}
    for item, row in zip(content["items"], rows, strict=True):
        vector = np.frombuffer(row["vector"], dtype=np.float32)
        assert list(item) == list(original)
        assert list(item["metadata"]) == list(original["metadata"])
        assert item["id"] == row["vectra_id"]
        assert item["metadata"]["noteId"] == row["note_id"]
        assert item["metadata"]["chunkIndex"] == row["chunk_index"]
        assert item["metadata"]["title"] == titles[row["note_id"]]
        assert item["vector"] == vector.astype(np.float64).tolist()
        assert item["norm"] == pytest.approx(sum(x * x for x in item["vector"]) ** 0.5, abs=1e-15)


def test_vectors_made_here_get_ids_that_stay(
    awkward: Application, by_hand: Path, tmp_path: Path
) -> None:
    export(awkward, "chatcrystal", tmp_path / "again")
    ids = [item["id"] for item in items_of(by_hand)]
    assert ids == [item["id"] for item in items_of(tmp_path / "again")]
    assert ids == [row[0] for row in query(by_hand, "SELECT vectra_id FROM embeddings ORDER BY id")]
    assert len(set(ids)) == len(ids) == 4


def test_only_chunks_of_the_active_space_are_there(
    application: Application, tmp_path: Path
) -> None:
    plant(application, [0.5], "only")
    other_space = (
        "INSERT INTO embedding_spaces (provider, model, dimension, border, max_chars, created_at) "
        "VALUES ('ollama', 'm', 8, 0.5, 100, '2026-01-01')"
    )
    copied = (
        "INSERT INTO embeddings (note_id, space_id, kind, chunk_index, chunk_text, has_han, "
        "content_hash, created_at, vector) SELECT note_id, {}, '{}', chunk_index, 'other', 0, "
        "content_hash, created_at, vector FROM embeddings WHERE id = 1"
    )
    run(application, other_space, copied.format(2, "chunk"), copied.format(1, "whole"))
    report = export(application, "chatcrystal", tmp_path / "out")
    assert report.counts["chunks"] == len(items_of(tmp_path / "out")) == 1
    assert query(tmp_path / "out", "SELECT chunk_text FROM embeddings") == [("only 0\n\ncos=0.5",)]


@pytest.mark.parametrize(
    ("values", "embedding"),
    [
        (
            {"provider": "openai", "base_url": "http://gpu.local/v1/", "api_key": "secret"},
            {
                "provider": "openai",
                "model": "text-embedding-3-small",
                "baseURL": "http://gpu.local/v1",
            },
        ),
        (
            {"provider": "openai", "base_url": "http://me:secret@gpu.local/v1", "model": "m"},
            {"provider": "openai", "model": "m"},
        ),
        (
            {"provider": "ollama", "model": "m", "base_url": "http://gpu.local:11434/v1/"},
            {"provider": "ollama", "model": "m", "baseURL": "http://gpu.local:11434"},
        ),
        ({"provider": "builtin"}, None),
    ],
    ids=["address", "password", "ollama", "builtin"],
)
def test_the_settings_name_the_provider_and_no_secret(
    tmp_path: Path, values: dict[str, str], embedding: dict[str, str] | None
) -> None:
    settings = {f"embedding.{name}": value for name, value in values.items()}
    with opened(tmp_path / "own", settings) as application:
        report = export(application, "chatcrystal", tmp_path / "out")
    text = (tmp_path / "out" / "config.json").read_text("utf-8")
    assert "secret" not in text
    if embedding is None:
        assert json.loads(text)["embedding"]["provider"] == "builtin"
        assert "ChatCrystal has no provider builtin" in report.warnings[0]
    else:
        assert json.loads(text) == {"embedding": embedding}
        assert report.warnings == ()


def test_bodies_that_the_original_has_no_place_for_are_told(
    awkward: Application, tmp_path: Path
) -> None:
    report = export(awkward, "chatcrystal", tmp_path / "out")
    assert report.warnings == ("ChatCrystal has no place for Markdown bodies; left out: 1",)
    assert report.counts["chunks"] == 4
