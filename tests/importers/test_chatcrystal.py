"""The directory and the rows of its database: what is read, mended, left out and refused."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from app.errors import ImportFailed
from app.importers import chatcrystal_rows
from app.importers.chatcrystal import opened, origin
from tests.importers.directories import edit, one, state_of, write_config
from tests.support.damage import add_noise


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "does not exist"),
        (lambda path: path.write_text("x"), "is no folder"),
        (lambda path: path.mkdir(), "has no chatcrystal.db"),
        (lambda path: (path / "chatcrystal.db").mkdir(parents=True), "has no chatcrystal.db"),
    ],
    ids=["missing", "file", "empty", "folder-for-file"],
)
def test_what_is_no_data_directory_is_refused(
    tmp_path: Path, make: Callable[[Path], object], words: str
) -> None:
    folder = tmp_path / "there"
    make(folder)
    with pytest.raises(ImportFailed, match=words), opened(folder):
        pass


def damage_header(path: Path) -> None:
    path.write_bytes(b"no database at all" * 400)


def damage_pages(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 12] = b"\xa5" * 4096 * 9
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:60_000])


def damage_schema(path: Path) -> None:
    add_noise(path, b"CREATE TABLE notes")


@pytest.mark.parametrize("damage", [damage_header, damage_pages, damage_schema, cut])
def test_a_damaged_database_is_one_clear_line(source: Path, damage: Callable[[Path], None]) -> None:
    damage(source / "chatcrystal.db")
    with pytest.raises(ImportFailed) as failure, opened(source):
        pass
    assert "chatcrystal.db is damaged" in failure.value.message
    assert "\n" not in failure.value.message


def test_another_program_s_database_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "chatcrystal.db")) as database:
        database.execute("CREATE TABLE conversations (id TEXT)")
    with pytest.raises(ImportFailed, match="no database of ChatCrystal"), opened(tmp_path):
        pass


def test_the_directory_is_only_read(source: Path) -> None:
    before = state_of(source)
    with opened(source) as directory:
        assert len(list(chatcrystal_rows.notes(directory))) == 44
        assert state_of(source) == before
    assert state_of(source) == before


def test_a_read_only_directory_is_read(source: Path) -> None:
    for path in (source / "chatcrystal.db", source):
        path.chmod(0o555)
    try:
        with opened(source) as directory:
            assert chatcrystal_rows.count(directory, "notes") == 45
    finally:
        source.chmod(0o755)


def test_rows_stay_as_they_were_on_opening(source: Path, tmp_path: Path) -> None:
    with opened(source) as directory:
        shutil.copyfile(source / "vectra-index" / "index.json", source / "chatcrystal.db")
        assert len(list(chatcrystal_rows.messages(directory))) == 12


def test_a_log_beside_the_database_is_not_read(source: Path) -> None:
    """ChatCrystal itself never reads one: what is in it, its users have never seen."""
    with closing(sqlite3.connect(source / "chatcrystal.db")) as database:
        database.execute("UPDATE notes SET title = 'from the log'")
        database.commit()
        assert (source / "chatcrystal.db-wal").stat().st_size > 0
        before = state_of(source)
        with opened(source) as directory:
            titles = {str(note.columns["title"]) for note in chatcrystal_rows.notes(directory)}
        assert "from the log" not in titles
        assert state_of(source) == before


def test_a_database_of_an_older_version_is_completed(source: Path) -> None:
    edit(
        source,
        "DROP TABLE note_relations",
        "DROP INDEX idx_notes_project_key",
        "ALTER TABLE notes DROP COLUMN project_key",
        "ALTER TABLE notes DROP COLUMN scope",
        "ALTER TABLE conversations DROP COLUMN experience_score",
    )
    with opened(source) as directory:
        found = list(chatcrystal_rows.notes(directory))
        assert {note.columns["project_key"] for note in found} == {None}
        assert {note.columns["scope"] for note in found} == {"project"}
        assert list(chatcrystal_rows.relations(directory)) == []
        assert len(list(chatcrystal_rows.conversations(directory))) == 49
        assert set(chatcrystal_rows.left_out(directory).values()) == {0, 1}


def test_cells_of_another_type_are_read_for_what_they_are(source: Path) -> None:
    edit(
        source,
        "UPDATE conversations SET message_count = 'many', file_size = 12.9, git_branch = X'C3A9FF',"
        " experience_score = 'high', slug = 7 WHERE id = 'conv-001'",
        "UPDATE conversations SET created_at = NULL, status = NULL WHERE id = 'conv-002'",
        "UPDATE notes SET title = CAST(X'61FF00E280A862' AS TEXT), is_edited = 2 WHERE id = 1",
        "UPDATE note_relations SET confidence = 'sure' WHERE id = 1",
    )
    with opened(source) as directory:
        first, second = list(chatcrystal_rows.conversations(directory))[:2]
        note = next(chatcrystal_rows.notes(directory))
        relation = next(chatcrystal_rows.relations(directory))
    wanted = {
        "message_count": 0,
        "file_size": 12,
        "git_branch": "é\ufffd",
        "experience_score": None,
        "slug": "7",
    }
    assert wanted.items() <= first.columns.items()
    assert second.columns["created_at"] == second.columns["first_message_at"]
    assert second.columns["status"] == "imported"
    assert note.columns["title"] == "a\ufffd\u2028b"
    assert note.columns["is_edited"] == 1
    assert relation.columns["confidence"] is None


@pytest.mark.parametrize(
    ("cell", "is_valid"),
    [
        ("NULL", True),
        ("''", True),
        ("'[]'", True),
        ('\'{"an": "object"}\'', True),
        ("'[1e999]'", True),
        ("'[1, 2'", False),
        ("'[NaN]'", False),
        ("'not json'", False),
        (f"'{'[' * 100_000}'", False),
    ],
    ids=["null", "empty", "list", "object", "huge", "cut", "nan", "text", "deep"],
)
def test_a_json_column_that_is_none_becomes_an_empty_list(
    source: Path, cell: str, is_valid: bool
) -> None:
    edit(source, f"UPDATE notes SET files_touched = {cell} WHERE id = 2")
    kept = one(source, "SELECT files_touched FROM notes WHERE id = 2")
    with opened(source) as directory:
        note = list(chatcrystal_rows.notes(directory))[1]
    assert note.invalid == (() if is_valid else ("files_touched",))
    assert note.columns["files_touched"] == (kept if is_valid else "[]")


def test_chunks_come_in_the_order_of_their_rows(source: Path) -> None:
    edit(
        source,
        "UPDATE embeddings SET id = id + 1000 WHERE note_id = 1",
        "UPDATE embeddings SET vectra_id = NULL WHERE note_id = 2",
    )
    with opened(source) as directory:
        order = [note.note_id for note in chatcrystal_rows.chunked_notes(directory)]
        wanted = chatcrystal_rows.wanted_vectors(directory)
    assert order[0] == 2
    assert order[-5:] == [1, 36, 37, 38, 39]
    assert list(wanted.by_place) == [(2, 0)]
    assert wanted.count == 53


@pytest.mark.parametrize(
    ("embedding", "provider", "model"),
    [
        ({"provider": "Ollama", "model": "nomic-embed-text "}, "ollama", "nomic-embed-text"),
        ({"provider": "custom", "model": "m"}, "openai", "m"),
        ({"provider": "voyage", "model": "v-3"}, "voyage", "v-3"),
        ({"model": "m"}, None, "m"),
        ({}, None, None),
    ],
    ids=["ollama", "custom", "unknown", "model-only", "nothing"],
)
def test_config_says_who_made_the_vectors(
    source: Path, embedding: dict[str, str], provider: str | None, model: str | None
) -> None:
    write_config(source, **embedding)
    found = origin(source)
    assert (found.provider, found.model) == (provider, model)


def test_a_key_does_not_show_itself(source: Path) -> None:
    write_config(source, provider="openai", model="m", apiKey="sk-hush", baseURL="http://x")
    found = origin(source)
    assert found.api_key.reveal() == "sk-hush"
    assert "hush" not in repr(found)


@pytest.mark.parametrize("content", ["{", "\x00"], ids=["cut", "nul"])
def test_a_damaged_config_is_refused(source: Path, content: str) -> None:
    (source / "config.json").write_text(content)
    with pytest.raises(ImportFailed, match=r"config\.json cannot be read"):
        origin(source)


@pytest.mark.parametrize("content", ["[]", "null", '{"embedding": 3}'])
def test_a_config_without_embedding_says_nothing(source: Path, content: str) -> None:
    (source / "config.json").write_text(content)
    assert origin(source).provider is None
