"""The words of notes: written with the notes, told to every process, gone with the notes."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, text
from sqlalchemy.exc import IntegrityError

from app.db import notes as note_queries
from app.domain.adoption import AdoptionRequest
from app.domain.notes import Note, NoteDraft, NotePatch, Snippet
from app.factory import Application, build, rehearsal
from app.lexical.documents import FIELDS, decode
from app.sync import healing
from app.sync.transaction import transaction
from app.sync.words import texts_of
from tests.support.application import (
    ask,
    found_ids,
    make_settings,
    opened,
    planted_vector,
    stub_values,
)
from tests.support.golden import DATA_DIR
from tests.support.provider import StubProvider, golden_vector, status
from tests.support.words import assert_documents_fit, document_ids, documents, found_by_words
from tests.sync.conftest import dump, note_of, refuse_changes, rows, take_in

FULL = NoteDraft(
    title="walrus",
    summary="cos=0.9 pelican",
    body="marmoset",
    key_conclusions=("ocelot",),
    code_snippets=(Snippet("python", "gazelle()", "porcupine"),),
    tags=("flamingo",),
    aliases=("chinchilla",),
    project="hedgehog",
    error_signatures=("ArmadilloError",),
    files_touched=("src/kingfisher.py",),
)
"""A word of its own in each field; note 1 of the tests."""

EDITS: dict[str, tuple[Any, str]] = {
    "title": ("salamander", "walrus"),
    "summary": ("cos=0.8 salamander", "pelican"),
    "body": ("salamander", "marmoset"),
    "key_conclusions": (("salamander",), "ocelot"),
    "code_snippets": ((Snippet("python", "salamander()", "it"),), "gazelle"),
    "tags": (("salamander",), "flamingo"),
    "aliases": (("salamander",), "chinchilla"),
    "project": ("salamander", "hedgehog"),
}
"""By field: what it becomes, with a new word, and the word that goes."""

RECORDS = [
    {"type": "conversation", "external_id": "c", "project_name": "imported"},
    {"type": "note", "external_id": "n", "conversation": "c", "title": "salamander"},
]


def edit_of(name: str) -> Callable[[Application], object]:
    """The edit of a field of note 1."""
    return lambda application: application.writer.edit_note(1, NotePatch({name: EDITS[name][0]}))


WRITES: dict[str, Callable[[Application], object]] = {
    "create": lambda application: application.writer.create_note(NoteDraft("new", "cos=0.7")),
    "create without text": lambda application: application.writer.create_note(NoteDraft("", "")),
    "import": lambda application: application.importer.import_records(RECORDS),
    "delete": lambda application: application.writer.delete_note(1),
    "delete conversation": lambda application: application.writer.delete_conversation(
        note_of(application, 1).conversation_id
    ),
    **{f"edit {name}": edit_of(name) for name in EDITS},
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the full note and a plain one."""
    folder = tmp_path_factory.mktemp("template")
    with StubProvider(vector=planted_vector) as stub, opened(folder, stub_values(stub)) as filled:
        filled.writer.create_note(FULL)
        filled.writer.create_note(NoteDraft("plain", "cos=0.8"))
    return folder


@pytest.fixture
def filled(template: Path, provider: StubProvider, tmp_path: Path) -> Iterator[Application]:
    """An application over a copy of that folder."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    with opened(tmp_path, stub_values(provider)) as application:
        yield application


@pytest.fixture
def other(filled: Application, provider: StubProvider, tmp_path: Path) -> Iterator[Application]:
    """Another application over the same folder, which knows all words by now."""
    with opened(tmp_path, stub_values(provider)) as application:
        assert found_by_words(application, "walrus") == [1]
        yield application


def entries(application: Application, after: int) -> list[tuple[object, ...]]:
    """What the feed tells of documents of notes after a sequence number."""
    return rows(
        application,
        "SELECT operation, target_id FROM index_changes"
        f" WHERE what = 'document' AND kind = 'root' AND sequence > {after} ORDER BY id",
    )


def sequence(application: Application) -> int:
    return int(str(rows(application, "SELECT sequence FROM index_state")[0][0]))


@pytest.mark.parametrize("name", WRITES)
def test_every_write_leaves_one_document_a_note_and_tells_of_it(
    filled: Application, name: str
) -> None:
    before, start = document_ids(filled), sequence(filled)
    WRITES[name](filled)
    assert_documents_fit(filled)
    after = document_ids(filled)
    told = [("remove", gone) for gone in sorted(set(before.values()) - set(after.values()))]
    told += [("add", fresh) for fresh in sorted(set(after.values()) - set(before.values()))]
    assert entries(filled, start) == told != []
    assert sequence(filled) == start + 1


@pytest.mark.parametrize("name", WRITES)
def test_a_write_that_fails_at_its_end_leaves_the_words_as_they_were(
    filled: Application, other: Application, name: str
) -> None:
    refuse_changes(filled)
    before = dump(filled)
    with pytest.raises(IntegrityError, match="refused by a trigger"):
        WRITES[name](filled)
    assert dump(filled) == before
    for application in (filled, other):
        assert found_by_words(application, "walrus") == [1]
        assert found_by_words(application, "salamander") == []


@pytest.mark.parametrize("field", EDITS)
def test_every_process_finds_the_new_word_and_not_the_old_one(
    filled: Application, other: Application, field: str
) -> None:
    value, old = EDITS[field]
    assert found_by_words(other, old) == [1]
    assert found_by_words(other, "salamander") == []
    filled.writer.edit_note(1, NotePatch({field: value}))
    for application in (other, filled):
        assert found_by_words(application, "salamander") == [1]
        assert found_by_words(application, old) == []


OWN_WORDS = {
    "title": ["walrus"],
    "aliases": ["chinchilla"],
    "tags": ["flamingo"],
    "path": ["hedgehog"],
    "content": [
        "pelican", "ocelot", "porcupine", "gazelle", "marmoset", "armadilloerror", "kingfisher",
    ],
}  # fmt: skip


def test_each_word_stands_in_its_own_field(filled: Application) -> None:
    fields = decode(documents(filled)[0][2])
    every = {word for words in OWN_WORDS.values() for word in words}
    assert {field: every & set(counts) for field, counts in fields.items()} == {
        field: set(words) for field, words in OWN_WORDS.items()
    }


def test_a_note_with_a_path_is_placed_by_it(filled: Application) -> None:
    note_id = filled.writer.create_note(
        NoteDraft("placed", "cos=0.7", project="hedgehog", path="falcon/Night owl/wren.md")
    )
    assert texts_of(note_of(filled, note_id))["path"] == ["falcon", "Night owl", "wren.md"]
    assert [found_by_words(filled, word) for word in ("falcon", "owl", "wren")] == [[note_id]] * 3
    assert found_by_words(filled, "hedgehog") == [1]


def shaped(note: Note, value: Any) -> Note:
    """The note with a value of any shape in its JSON columns."""
    columns = ("key_conclusions", "code_snippets", "error_signatures", "files_touched")
    return note.__class__(**{name: getattr(note, name) for name in note.__slots__}
                          | dict.fromkeys(columns, value))  # fmt: skip


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("text", []),
        ({"description": "text"}, []),
        ([1, None, ["a"], {"code": 2}], []),
        ([{"code": "a()", "description": None, "language": "c"}], ["a()"]),
        (["one", {"description": "two"}], ["one", "two", "one", "one"]),
    ],
    ids=["text", "object", "no texts", "half a snippet", "mixed"],
)
def test_json_columns_of_any_shape_are_read(
    filled: Application, value: Any, words: list[str]
) -> None:
    """Imports bring whatever the original stored."""
    note = shaped(note_of(filled, 2), value)
    assert texts_of(note)["content"] == ["cos=0.8", *words, ""]


def test_words_are_written_though_the_provider_is_down(
    filled: Application, other: Application, provider: StubProvider
) -> None:
    provider.behave(status(500))
    note_id = filled.writer.create_note(NoteDraft("salamander", "s"))
    filled.writer.edit_note(2, NotePatch({"title": "axolotl"}))
    assert_documents_fit(filled)
    assert found_ids(ask(other, "salamander", ranker="fusion")) == [note_id]
    assert found_ids(ask(other, "axolotl", ranker="fusion")) == [2]


def test_embedding_anew_leaves_the_words_alone(filled: Application) -> None:
    take_in(filled, ["salamander"])
    before, start = document_ids(filled), sequence(filled)
    filled.batches.embed_many(filled.batches.everything())
    filled.batches.embed_one(1)
    assert document_ids(filled) == before
    assert entries(filled, start) == []


def test_records_that_are_known_change_no_words(filled: Application) -> None:
    filled.importer.import_records(RECORDS)
    before = dump(filled)
    report = filled.importer.import_records([*RECORDS, {**RECORDS[1], "title": "axolotl"}])
    assert report.unchanged["note"] == 2
    assert dump(filled) == before
    assert found_by_words(filled, "salamander") == [3]
    assert found_by_words(filled, "axolotl") == []


def test_a_tree_of_checkpoints_is_indexed_once_and_not_nine_times(filled: Application) -> None:
    """A saved conversation repeats its earlier messages at every checkpoint."""
    messages = [
        {
            "type": "message",
            "external_id": f"m{number}",
            "conversation": "c",
            "content": "salamander",
        }
        for number in range(9)
    ]
    for checkpoint in range(1, 10):
        filled.importer.import_records([*RECORDS, *messages[:checkpoint]])
    assert rows(filled, "SELECT count(*) FROM messages") == [(9,)]
    assert_documents_fit(filled)
    assert list(document_ids(filled)) == [1, 2, 3]
    assert found_by_words(filled, "salamander") == [3]


def test_a_batch_of_an_import_is_one_transaction(filled: Application, other: Application) -> None:
    start = sequence(filled)
    ids = take_in(filled, ["salamander one", "salamander two", "salamander three"])
    assert sequence(filled) == start + 1
    assert_documents_fit(filled)
    assert found_by_words(other, "salamander") == ids


def test_a_note_that_goes_in_the_transaction_that_rewrites_it_leaves_no_document(
    filled: Application,
) -> None:
    with transaction(filled.database) as unit:
        unit.reworded([1, 2])
        unit.removed_documents([1])
        note_queries.remove(unit.connection, 1)
    assert_documents_fit(filled)
    assert list(document_ids(filled)) == [2]


def test_a_directory_of_the_original_is_taken_over_with_its_words(tmp_path: Path) -> None:
    with StubProvider(vector=golden_vector) as stub:
        values = stub_values(stub, model="m")
        with opened(tmp_path, values) as target, opened(tmp_path, values) as other:
            assert found_by_words(other, "tenant") == []
            with rehearsal(make_settings(tmp_path, values)) as adopter:
                adopter.adopt(AdoptionRequest(DATA_DIR), is_dry_run=True)
            assert documents(target) == []
            target.adopter.adopt(AdoptionRequest(DATA_DIR))
            assert_documents_fit(target)
            assert len(documents(target)) == 44
            assert found_by_words(other, "tenant") == found_by_words(target, "tenant") != []
            before = dump(target)
            target.adopter.adopt(AdoptionRequest(DATA_DIR))
            assert dump(target) == before


@pytest.mark.parametrize("batch", [1, 2, 200])
def test_a_start_writes_the_documents_that_are_missing(
    filled: Application, other: Application, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    """A database of an older revision has notes and no documents."""
    monkeypatch.setattr(healing, "BATCH", batch)
    settings = filled.settings
    take_in(filled, ["salamander", "axolotl", "olm"])
    kept = document_ids(filled)[2]
    with filled.database.write() as connection:
        connection.execute(text("DELETE FROM lexical_documents WHERE note_id <> 2"))
    with closing(build(settings)) as started:
        assert_documents_fit(started)
        assert document_ids(started)[2] == kept
        assert found_by_words(started, "walrus") == [1]
        # Another process, which still holds the rows that were deleted, follows.
        assert found_by_words(other, "axolotl") == [4]
        before = dump(started)
        with closing(build(settings)):
            assert dump(started) == before


def test_two_starts_at_once_write_every_document_once(
    filled: Application, provider: StubProvider, tmp_path: Path
) -> None:
    """Each of them has read what is missing before it is written."""
    with filled.database.write() as connection:
        connection.execute(text("DELETE FROM lexical_documents"))
    values = stub_values(provider)
    overtaken = threading.Event()

    def overtake(*arguments: Any) -> None:
        if not overtaken.is_set() and "lexical_documents.note_id = notes.id" in arguments[2]:
            overtaken.set()
            with opened(tmp_path, values) as first:
                assert_documents_fit(first)

    event.listen(Engine, "after_cursor_execute", overtake)
    try:
        with opened(tmp_path, values) as second:
            assert overtaken.is_set()
            assert_documents_fit(second)
    finally:
        event.remove(Engine, "after_cursor_execute", overtake)


def test_what_was_deleted_is_never_found_again(
    filled: Application, other: Application, provider: StubProvider, tmp_path: Path
) -> None:
    """A cleared index never answers with what it held, and no id is used a second time."""
    old = document_ids(filled)
    for note_id in old:
        filled.writer.delete_note(note_id)
    assert documents(filled) == []
    fresh = [filled.writer.create_note(NoteDraft(title, "cos=0.7")) for title in ("axolotl", "olm")]
    assert set(fresh).isdisjoint(old)
    assert set(document_ids(filled).values()).isdisjoint(old.values())
    with opened(tmp_path, stub_values(provider)) as started:
        for application in (filled, other, started):
            assert found_by_words(application, "walrus pelican chinchilla plain") == []
            assert found_by_words(application, "axolotl") == fresh[:1]
            assert application.database.engine.url == filled.database.engine.url


def test_an_emptied_index_holds_nothing(filled: Application, other: Application) -> None:
    for note_id in (1, 2):
        filled.writer.delete_note(note_id)
    for application in (filled, other):
        with application.mirror.open(("words", "chunk")) as (_, view):
            assert view.words is not None
            assert (view.words.count(), view.words.search("walrus plain", 10)) == (0, [])
        for ranker in ("fusion", "hybrid"):
            assert ask(application, "walrus", ranker=ranker, cut=False).found == ()


def test_postings_are_stored_as_readable_text(filled: Application) -> None:
    """As arrays side by side (data.md), so that other programs can read them."""
    filled.writer.edit_note(2, NotePatch({"summary": "olm axolotl olm", "tags": ("olm",)}))
    assert json.loads(documents(filled)[1][2]) == [
        ["plain", "olm", "axolotl", "olm"],
        [FIELDS.index(field) for field in ("title", "tags", "content", "content")],
        [1, 1, 1, 2],
    ]
