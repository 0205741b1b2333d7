"""Entities and documents of chunks: in step with every write, told to every process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from app.db import entities, notes
from app.domain.fragments import ERROR, FILE, TAG
from app.domain.notes import NoteDraft, NotePatch
from app.factory import Application
from app.lexical.documents import CONTENT, TITLE, postings_of
from app.sync.entities import LONGEST_NAME, holds, mentions_of
from app.text import digest
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider, status
from tests.sync.conftest import dump, note_of, refuse_changes, rows

FULL = NoteDraft(
    "walrus",
    "The linter and src/walrus.py\n\n" + "long " * 120 + "\n\nWalrusError: gone",
    tags=("linter", "c++"),
    files_touched=("src/walrus.py", " "),
    error_signatures=("WalrusError: gone",),
)
Mention = tuple[int, str, str]


def entity_names(application: Application) -> list[tuple[object, ...]]:
    return rows(application, "SELECT kind, name FROM entities ORDER BY kind, name")


def mentions(application: Application) -> set[tuple[object, ...]]:
    """Which root (chunk None) or chunk, by its number, mentions what."""
    of_notes = rows(
        application,
        "SELECT note_id, NULL, name FROM note_entities JOIN entities ON id = entity_id",
    )
    of_chunks = rows(
        application,
        "SELECT note_id, chunk_index, name FROM chunk_entities"
        " JOIN embeddings ON embeddings.id = chunk_id"
        " JOIN entities ON entities.id = chunk_entities.entity_id",
    )
    return {*of_notes, *of_chunks}


def assert_in_step(application: Application) -> None:
    """Every chunk and entity has one document, of its text; notes have what they mention."""
    assert rows(application, "SELECT id FROM entities") == rows(
        application, "SELECT DISTINCT entity_id FROM note_entities ORDER BY entity_id"
    )
    stored = rows(
        application,
        "SELECT chunk_text, postings, lexical_documents.note_id, embeddings.note_id"
        " FROM embeddings LEFT JOIN lexical_documents ON chunk_id = embeddings.id"
        " WHERE embeddings.kind = 'chunk' ORDER BY embeddings.id",
    )
    for words, postings, document_note, note in stored:
        assert postings == postings_of({CONTENT: str(words)})
        assert document_note == note
    named = rows(
        application,
        "SELECT name, postings FROM entities LEFT JOIN lexical_documents"
        " ON entity_id = entities.id ORDER BY entities.id",
    )
    assert all(postings == postings_of({TITLE: str(name)}) for name, postings in named)
    counts = "SELECT count(*) FROM lexical_documents WHERE kind IN ('chunk', 'entity')"
    assert rows(application, counts) == [(len(stored) + len(named),)]
    with application.database.read() as connection:
        had = entities.of_notes(connection, notes.all_ids(connection))
        for note_ in notes.get_many(connection, notes.all_ids(connection)):
            own = {(each.kind, each.name) for each in had.get(note_.id, {}).values()}
            assert own == set(mentions_of(note_))


def test_a_note_has_an_entity_for_each_tag_file_and_error(application: Application) -> None:
    application.writer.create_note(FULL)
    assert entity_names(application) == [
        (ERROR, "WalrusError: gone"),
        (FILE, "src/walrus.py"),
        (TAG, "c++"),
        (TAG, "linter"),
    ]
    assert_in_step(application)


def test_chunks_mention_what_their_text_holds(application: Application) -> None:
    note_id = application.writer.create_note(FULL)
    found = mentions(application)
    names = ("linter", "c++", "src/walrus.py", "WalrusError: gone")
    assert {each for each in found if each[1] is None} == {(note_id, None, name) for name in names}
    by_chunk = {each[1:] for each in found if each[1] is not None}
    assert {(0, "linter"), (0, "src/walrus.py")} <= by_chunk
    assert (0, "WalrusError: gone") not in by_chunk
    assert (0, "c++") not in by_chunk
    assert {name for _, name in by_chunk} == set(names)


WRITES: dict[str, Callable[[Application], object]] = {
    "create": lambda application: application.writer.create_note(FULL),
    "edit text": lambda application: application.writer.edit_note(
        1, NotePatch({"summary": "nothing of it"})
    ),
    "edit tags": lambda application: application.writer.edit_note(
        1, NotePatch({"tags": ("linter", "new")})
    ),
    "edit aliases": lambda application: application.writer.edit_note(
        1, NotePatch({"aliases": ("other",)})
    ),
    "delete": lambda application: application.writer.delete_note(1),
    "delete conversation": lambda application: application.writer.delete_conversation(
        note_of(application, 1).conversation_id
    ),
    "embed again": lambda application: application.batches.embed_many([1, 2]),
    "import": lambda application: application.importer.import_records(
        [
            {"type": "conversation", "external_id": "c"},
            {
                "type": "note", "external_id": "n", "conversation": "c", "title": "imported",
                "tags": ["linter"], "files_touched": ["a.py"],
            },
        ]
    ),
}  # fmt: skip


@pytest.fixture
def filled(application: Application) -> Application:
    """Two notes that share a tag, embedded with all that is made behind."""
    application.writer.create_note(FULL)
    application.writer.create_note(NoteDraft("plain", "of linter", tags=("linter",)))
    application.companions.fill()
    assert application.entities.fill() == 4
    return application


@pytest.mark.parametrize("name", WRITES)
def test_every_write_keeps_fragments_in_step(
    filled: Application, provider: StubProvider, tmp_path: Path, name: str
) -> None:
    """In the tables, and in a process that follows the feed as in one that starts."""
    filled.mirror.warm(("fragments",))
    WRITES[name](filled)
    assert_in_step(filled)
    with opened(tmp_path, stub_values(provider)) as fresh:
        assert documents_held(filled) == documents_held(fresh)


def documents_held(application: Application) -> set[int]:
    with application.mirror.open(("fragments",)) as (_, view):
        assert view.fragments is not None
        return {
            int(document)
            for segment in view.fragments.segments
            for document in segment.living_documents().ids
        }


def test_an_entity_goes_with_its_last_note(filled: Application) -> None:
    filled.writer.delete_note(1)
    assert entity_names(filled) == [(TAG, "linter")]
    filled.writer.edit_note(2, NotePatch({"tags": ()}))
    assert entity_names(filled) == []
    assert rows(filled, "SELECT id FROM embeddings WHERE kind = 'entity'") == []
    assert rows(filled, "SELECT id FROM lexical_documents WHERE kind = 'entity'") == []
    removed = "SELECT count(*) FROM index_changes WHERE kind = 'entity' AND operation = 'remove'"
    # Document and vector of each of the four.
    assert rows(filled, removed) == [(8,)]


def test_a_write_that_fails_leaves_no_trace(filled: Application) -> None:
    refuse_changes(filled)
    before = dump(filled)
    with pytest.raises(Exception, match="refused by a trigger"):
        filled.writer.edit_note(1, NotePatch({"tags": ("other",), "summary": "other"}))
    assert dump(filled) == before


def test_names_are_embedded_once_behind(filled: Application, provider: StubProvider) -> None:
    stored = rows(filled, "SELECT chunk_text, note_id FROM embeddings WHERE kind = 'entity'")
    assert sorted(stored) == [
        (name, None) for name in ("WalrusError: gone", "c++", "linter", "src/walrus.py")
    ]
    asked = len(provider.requests)
    assert filled.entities.fill() == 0
    assert len(provider.requests) == asked
    filled.entities.clear()
    assert len(filled.entities.missing()) == 4
    assert filled.entities.fill() == 4


def test_a_provider_that_fails_leaves_names_for_later(
    application: Application, provider: StubProvider
) -> None:
    application.writer.create_note(FULL)
    provider.behave(status(500))
    with pytest.raises(Exception, match="500"):
        application.entities.fill()
    assert len(application.entities.missing()) == 4


def test_a_start_writes_what_an_older_database_lacks(
    filled: Application, provider: StubProvider, tmp_path: Path
) -> None:
    with filled.database.write() as connection:
        connection.execute(text("DELETE FROM entities"))
        connection.execute(text("DELETE FROM lexical_documents WHERE kind <> 'root'"))
        connection.execute(text("DELETE FROM index_changes WHERE kind IN ('chunk', 'entity')"))
    with opened(tmp_path, stub_values(provider)) as started:
        assert_in_step(started)
        assert mentions(started)
        before = dump(started)
    with opened(tmp_path, stub_values(provider)) as again:
        assert dump(again) == before


def test_a_name_is_cut_and_blank_ones_are_left_out(application: Application) -> None:
    trace = "x" * (LONGEST_NAME + 10)
    application.writer.create_note(NoteDraft("a", "b", error_signatures=(trace, trace + "y", " ")))
    assert entity_names(application) == [(ERROR, trace[:LONGEST_NAME])]


@pytest.mark.parametrize(
    ("words", "name", "is_held"),
    [
        ("the go tool", "go", True),
        ("a good tool", "go", False),
        ("cargo", "go", False),
        ("cargo and go", "go", True),
        ("c++ and c", "c++", True),
        ("用缓存池来做", "缓存", True),
        ("见src/a.py：", "src/a.py", True),
        ("", "go", False),
    ],
)
def test_a_text_holds_a_name_as_a_word_of_its_own(words: str, name: str, is_held: bool) -> None:
    assert holds(words, name) is is_held


def test_hashes_tell_texts_apart(filled: Application) -> None:
    """As of any vector: what a name's was made from is known."""
    found = rows(filled, "SELECT chunk_text, content_hash FROM embeddings WHERE kind = 'entity'")
    assert all(hashed == digest(str(name)) for name, hashed in found)
