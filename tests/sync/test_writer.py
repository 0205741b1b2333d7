"""Single writes: what commits together, what is embedded again, what a failing provider leaves."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy.exc import IntegrityError

from app.db import notes as note_queries
from app.domain.notes import NoteDraft, NotePatch, NoteQuery, Snippet
from app.domain.relations import RelationDraft
from app.errors import (
    ConversationNotFound,
    DuplicateRelation,
    EditConflict,
    InvalidRelation,
    NoteNotFound,
    ProviderRejected,
    RelationNotFound,
)
from app.factory import Application
from app.sync.writer import EDIT_ATTEMPTS
from tests.support.application import (
    ask,
    found_ids,
    opened,
    plant,
    planted_vector,
    recorded_statements,
    stub_values,
)
from tests.support.provider import StubProvider, of_dimension, status
from tests.sync.conftest import (
    chunk_texts,
    dump,
    meanwhile,
    note_of,
    refuse_changes,
    rows,
    statuses,
)

ROOT = Path(__file__).parents[2]
PARAGRAPHS = [
    f"cos=0.{number} {letter * 400}" for number, letter in ((61, "a"), (72, "b"), (83, "c"))
]
SUMMARY = "\n\n".join(PARAGRAPHS)

WRITES: dict[str, Callable[[Application], object]] = {
    "create": lambda application: application.writer.create_note(
        NoteDraft("new", SUMMARY, tags=("new",))
    ),
    "edit": lambda application: application.writer.edit_note(
        1, NotePatch({"summary": "cos=0.7", "tags": ("x", "y")})
    ),
    "delete": lambda application: application.writer.delete_note(1),
    "delete conversation": lambda application: application.writer.delete_conversation(
        note_of(application, 1).conversation_id
    ),
    "embed": lambda application: application.batches.embed_one(1),
    "embed many": lambda application: application.batches.embed_many([1, 2]),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a note in several chunks with tags, two more, and a relation."""
    folder = tmp_path_factory.mktemp("template")
    with StubProvider(vector=planted_vector) as stub, opened(folder, stub_values(stub)) as filled:
        filled.writer.create_note(NoteDraft("first", SUMMARY, tags=("x", "z")))
        plant(filled, [0.9, 0.8])
        filled.writer.create_relation(RelationDraft(1, 2, "EXTENDS"))
    return folder


@pytest.fixture
def filled(template: Path, provider: StubProvider, tmp_path: Path) -> Iterator[Application]:
    """An application over a copy of that folder."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    with opened(tmp_path, stub_values(provider)) as application:
        yield application


@pytest.fixture
def other(filled: Application, provider: StubProvider, tmp_path: Path) -> Iterator[Application]:
    """Another application over the same folder."""
    with opened(tmp_path, stub_values(provider)) as application:
        yield application


@pytest.mark.parametrize("name", WRITES)
def test_a_write_that_fails_at_its_end_leaves_nothing(filled: Application, name: str) -> None:
    answer = ask(filled)
    refuse_changes(filled)
    before = dump(filled)
    with pytest.raises(IntegrityError, match="refused by a trigger"):
        WRITES[name](filled)
    assert dump(filled) == before
    assert ask(filled) == answer


KILLED = """
import json, os, signal, sys
from pathlib import Path
from sqlalchemy import event
from app.domain.notes import NoteDraft
from tests.support.application import opened

with opened(Path(sys.argv[1]), json.loads(sys.argv[2])) as application:
    def kill(connection, cursor, statement, *rest):
        if "INSERT INTO index_changes" in statement:
            os.kill(os.getpid(), signal.SIGKILL)
    event.listen(application.database.engine, "before_cursor_execute", kill)
    application.writer.create_note(NoteDraft("lost", "cos=0.95", tags=("lost",)))
"""


def test_a_process_killed_in_the_middle_leaves_nothing(
    filled: Application, provider: StubProvider, tmp_path: Path
) -> None:
    before = dump(filled)
    values = json.dumps(stub_values(provider))
    killed = subprocess.run([sys.executable, "-c", KILLED, tmp_path, values], cwd=ROOT, check=False)
    assert killed.returncode == -9
    assert dump(filled) == before
    assert filled.writer.create_note(NoteDraft("kept", "cos=0.95")) == 4
    assert found_ids(ask(filled)) == [4, 2, 1, 3]


def test_a_new_note_deletes_nothing_and_takes_few_statements(filled: Application) -> None:
    draft = NoteDraft(
        "new", SUMMARY, tags=("old", "new"), body="See [[cos]].", files_touched=("f",)
    )
    with recorded_statements(filled.database) as statements:
        filled.writer.create_note(NoteDraft("plain", "cos=0.5"))
        plain = len(statements)
        filled.writer.create_note(NoteDraft("long", SUMMARY))
        long = len(statements) - plain
        filled.writer.create_note(draft)
    assert not [each for each in statements if each.startswith("DELETE")]
    assert plain == long == 10


@pytest.mark.parametrize("name", WRITES)
def test_a_write_takes_one_number_of_the_feed(filled: Application, name: str) -> None:
    (before,) = rows(filled, "SELECT sequence FROM index_state")
    WRITES[name](filled)
    (after,) = rows(filled, "SELECT sequence FROM index_state")
    assert after == (int(str(before[0])) + 1,)
    numbers = [row[0] for row in rows(filled, "SELECT sequence FROM index_changes ORDER BY id")]
    assert numbers == sorted(numbers, key=lambda number: int(str(number)))
    assert numbers[-1] == after[0]


def test_a_created_note_is_done_with_its_chunks(filled: Application) -> None:
    assert statuses(filled) == ["done"] * 3
    assert chunk_texts(filled, 1) == [f"first\n\n{PARAGRAPHS[0]}", PARAGRAPHS[1],
                                      f"{PARAGRAPHS[2]}\n\nx z"]  # fmt: skip
    assert rows(filled, "SELECT status, error FROM note_spaces WHERE note_id = 1") == [
        ("done", None)
    ]
    assert (
        rows(filled, "SELECT length(vector), has_han, kind FROM embeddings WHERE note_id = 1")
        == [(8 * 4, 0, "chunk")] * 3
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"project": "other"},
        {"summary": SUMMARY},
        {"title": "first", "tags": ("z", "x")},
        {"aliases": ("also", "known")},
        {"code_snippets": (Snippet("py", "print()", ""),)},
    ],
    ids=["project", "same-summary", "same-tags", "aliases", "code"],
)
def test_text_that_did_not_change_is_not_embedded_again(
    filled: Application, provider: StubProvider, changes: dict[str, object]
) -> None:
    asked, chunks = len(provider.requests), rows(filled, "SELECT id, note_id FROM embeddings")
    filled.writer.edit_note(1, NotePatch(changes))
    assert len(provider.requests) == asked
    assert rows(filled, "SELECT id, note_id FROM embeddings") == chunks
    assert statuses(filled) == ["done"] * 3
    assert note_of(filled, 1).is_edited


def test_only_the_chunks_that_changed_are_embedded(
    filled: Application, provider: StubProvider
) -> None:
    asked = len(provider.requests)
    fresh = PARAGRAPHS[1].replace("0.72", "0.95")
    edited = "\n\n".join([PARAGRAPHS[0], fresh, PARAGRAPHS[2]])
    filled.writer.edit_note(1, NotePatch({"summary": edited}))
    assert [request.texts for request in provider.requests[asked:]] == [[fresh]]
    assert chunk_texts(filled, 1)[1] == fresh
    assert found_ids(ask(filled)) == [1, 2, 3]


def test_a_title_that_changed_reaches_chunks_and_answer(filled: Application) -> None:
    filled.writer.edit_note(2, NotePatch({"title": "renamed"}))
    assert chunk_texts(filled, 2) == ["renamed\n\ncos=0.9"]
    assert ask(filled).found[0].title == "renamed"


def test_equal_paragraphs_are_embedded_once(
    application: Application, provider: StubProvider
) -> None:
    paragraph = "cos=0.9 " + "d" * 480
    application.writer.create_note(NoteDraft("t", "\n\n".join(["s" * 490, paragraph, paragraph])))
    assert [request.texts.count(paragraph) for request in provider.requests] == [1]
    assert chunk_texts(application, 1).count(paragraph) == 2


def test_a_failing_provider_does_not_lose_the_note(
    filled: Application, provider: StubProvider
) -> None:
    provider.behave(status(500, words="out of order"))
    note_id = filled.writer.create_note(NoteDraft("found by its words", "cos=0.99", tags=("n",)))
    note = note_of(filled, note_id)
    assert note.embedding_status == "failed"
    assert note.embedding_error is not None
    assert "500" in note.embedding_error
    with filled.database.read() as connection:
        page = note_queries.page(connection, NoteQuery(pattern="its words"))
    assert [found.id for found in page.items] == [note_id]
    assert chunk_texts(filled, note_id) == []
    provider.behave(meanwhile(lambda: None))
    assert found_ids(ask(filled)) == [2, 1, 3]
    assert filled.batches.embed_one(note_id) == 1
    assert note_of(filled, note_id).embedding_error is None
    assert found_ids(ask(filled)) == [note_id, 2, 1, 3]


def test_a_provider_that_changed_its_dimension_is_refused(
    filled: Application, provider: StubProvider
) -> None:
    provider.behave(of_dimension(16))
    note_id = filled.writer.create_note(NoteDraft("other", "size"))
    assert note_of(filled, note_id).embedding_status == "failed"
    assert "16 dimensions" in str(note_of(filled, note_id).embedding_error)
    assert rows(filled, "SELECT DISTINCT length(vector) FROM embeddings") == [(8 * 4,)]


def test_a_note_without_text_fails_and_says_so(application: Application) -> None:
    note_id = application.writer.create_note(NoteDraft(" ", "\n"))
    assert note_of(application, note_id).embedding_error == "the note has no text to embed"


def test_a_text_edited_while_the_provider_is_down_is_not_found_by_its_old_vectors(
    filled: Application, provider: StubProvider
) -> None:
    ask(filled)
    provider.behave(status(500))
    filled.writer.edit_note(1, NotePatch({"summary": "something else"}))
    assert note_of(filled, 1).embedding_status == "failed"
    assert chunk_texts(filled, 1) == []
    assert found_ids(ask(filled)) == [2, 3]


def test_a_done_note_keeps_its_vectors_when_it_cannot_be_embedded_again(
    filled: Application, provider: StubProvider
) -> None:
    answer = ask(filled)
    before = dump(filled)
    provider.behave(status(500))
    with pytest.raises(ProviderRejected):
        filled.batches.embed_one(1)
    report = filled.batches.embed_many([1, 2, 3])
    assert sorted(report.reasons) == [1, 2, 3]
    assert dump(filled) == before
    assert ask(filled) == answer


def test_an_edit_that_met_another_is_done_again(
    filled: Application, other: Application, provider: StubProvider
) -> None:
    asked = len(provider.requests)
    provider.behave(
        meanwhile(
            lambda: other.writer.edit_note(2, NotePatch({"project": "theirs", "aliases": ("b",)}))
        )
    )
    filled.writer.edit_note(2, NotePatch({"summary": "cos=0.99"}))
    note = note_of(filled, 2)
    assert (note.summary, note.project_name) == ("cos=0.99", "theirs")
    assert note.aliases == ("b",)
    assert len(provider.requests) == asked + 2
    assert chunk_texts(filled, 2) == ["note 0\n\ncos=0.99"]
    assert found_ids(ask(other)) == [2, 1, 3]


def test_an_edit_of_the_same_field_wins_when_it_commits_last(
    filled: Application, other: Application, provider: StubProvider
) -> None:
    provider.behave(
        meanwhile(lambda: other.writer.edit_note(2, NotePatch({"summary": "cos=0.1 theirs"})))
    )
    filled.writer.edit_note(2, NotePatch({"summary": "cos=0.99 ours"}))
    assert note_of(filled, 2).summary == "cos=0.99 ours"
    assert chunk_texts(filled, 2) == ["note 0\n\ncos=0.99 ours"]
    assert statuses(filled) == ["done"] * 3


def test_an_edit_that_never_gets_through_changes_nothing(
    filled: Application, other: Application, provider: StubProvider
) -> None:
    numbers = iter(range(9))
    provider.behave(
        meanwhile(
            lambda: other.writer.edit_note(2, NotePatch({"project": f"theirs {next(numbers)}"})),
            times=EDIT_ATTEMPTS,
        )
    )
    with pytest.raises(EditConflict, match="Note 2 is being changed by others"):
        filled.writer.edit_note(2, NotePatch({"summary": "ours", "tags": ("ours",)}))
    note = note_of(filled, 2)
    assert (note.summary, note.tags) == ("cos=0.9", ())
    assert note.project_name == f"theirs {EDIT_ATTEMPTS - 1}"
    assert rows(filled, "SELECT id FROM tags WHERE name = 'ours'") == []


def test_an_edit_of_a_note_that_goes_meanwhile_finds_none(
    filled: Application, other: Application, provider: StubProvider
) -> None:
    provider.behave(meanwhile(lambda: other.writer.delete_note(2)))
    with pytest.raises(NoteNotFound):
        filled.writer.edit_note(2, NotePatch({"summary": "too late"}))
    assert rows(filled, "SELECT id FROM notes ORDER BY id") == [(1,), (3,)]


def test_a_tag_that_came_meanwhile_leaves_no_vector_of_another_text(
    filled: Application, other: Application, provider: StubProvider
) -> None:
    """Tags are embedded in the order of their ids, which another writer just decided."""
    provider.behave(meanwhile(lambda: other.writer.create_note(NoteDraft("t", "s", tags=("a",)))))
    note_id = filled.writer.create_note(NoteDraft("two tags", "cos=0.7", tags=("b", "a")))
    assert note_of(filled, note_id).tags == ("a", "b")
    assert note_of(filled, note_id).embedding_status == "pending"
    assert chunk_texts(filled, note_id) == []
    filled.batches.embed_one(note_id)
    assert chunk_texts(filled, note_id) == ["two tags\n\ncos=0.7\n\na b"]


def test_threads_may_create_at_once(application: Application, provider: StubProvider) -> None:
    created: list[list[int]] = [[], [], []]

    def create(number: int) -> None:
        created[number] += plant(application, [0.6 + number / 10] * 8, words=f"thread {number}")

    threads = [threading.Thread(target=create, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everyone = sorted(note_id for ids in created for note_id in ids)
    assert everyone == list(range(1, 25))
    assert [sorted(found_ids(ask(application, limit=50))[start : start + 8])
            for start in (16, 8, 0)] == created  # fmt: skip
    numbers = rows(application, "SELECT DISTINCT sequence FROM index_changes ORDER BY sequence")
    (last,) = rows(application, "SELECT sequence FROM index_state")
    assert numbers[-1] == last
    assert len(numbers) >= 24


CHILDREN = ("embeddings", "note_tags", "note_spaces")


@pytest.mark.parametrize("name", ["delete", "delete conversation"])
def test_deleting_takes_all_that_hangs_on_the_note_and_says_so(
    filled: Application, name: str
) -> None:
    chunk_ids = rows(filled, "SELECT id FROM embeddings WHERE note_id = 1 ORDER BY id")
    assert len(chunk_ids) == 3
    WRITES[name](filled)
    for table in CHILDREN:
        assert rows(filled, f"SELECT * FROM {table} WHERE note_id = 1") == []
    assert rows(filled, "SELECT * FROM note_relations") == []
    assert rows(filled, "SELECT id FROM notes ORDER BY id") == [(2,), (3,)]
    assert len(rows(filled, "SELECT id FROM conversations")) == 2
    told = rows(
        filled,
        "SELECT target_id FROM index_changes WHERE operation = 'remove' AND what = 'vector'"
        " AND sequence = (SELECT sequence FROM index_state) ORDER BY target_id",
    )
    assert told == chunk_ids
    assert found_ids(ask(filled)) == [2, 3]


def take_conversation_in(application: Application) -> int:
    report = application.importer.import_records(
        [
            {"type": "conversation", "external_id": "talk"},
            {"type": "message", "external_id": "m", "conversation": "talk", "content": "hello"},
            {"type": "note", "external_id": "n", "conversation": "talk", "title": "cos=0.99"},
        ]
    )
    assert not report.refused
    (note_id,) = application.batches.unembedded()
    application.batches.embed_one(note_id)
    return note_id


def test_a_conversation_goes_with_messages_and_note(filled: Application) -> None:
    note_id = take_conversation_in(filled)
    assert found_ids(ask(filled))[0] == note_id
    filled.writer.delete_conversation("talk")
    assert rows(filled, "SELECT id FROM messages") == []
    assert rows(filled, f"SELECT id FROM notes WHERE id = {note_id}") == []
    assert note_id not in found_ids(ask(filled))
    with pytest.raises(ConversationNotFound):
        filled.writer.delete_conversation("talk")


def test_a_real_conversation_outlives_its_note(filled: Application) -> None:
    note_id = take_conversation_in(filled)
    filled.writer.delete_note(note_id)
    assert rows(filled, "SELECT id FROM messages") == [("m",)]
    assert rows(filled, "SELECT id FROM conversations WHERE id = 'talk'") == [("talk",)]


def test_ids_of_notes_and_chunks_are_never_given_twice(filled: Application) -> None:
    assert found_ids(ask(filled, limit=1)) == [2]
    (newest,) = rows(filled, "SELECT max(id) FROM embeddings")
    filled.writer.delete_note(3)
    assert filled.writer.create_note(NoteDraft("low", "cos=0.1")) == 4
    assert rows(filled, "SELECT id FROM embeddings WHERE note_id = 4") == [
        (int(str(newest[0])) + 1,)
    ]
    assert found_ids(ask(filled)) == [2, 1]


@pytest.mark.parametrize(
    ("draft", "error", "message"),
    [
        (RelationDraft(1, 1, "EXTENDS"), InvalidRelation, "to self"),
        (RelationDraft(1, 2, "LIKES"), InvalidRelation, "Invalid relation type: LIKES"),
        (RelationDraft(1, 99, "EXTENDS"), InvalidRelation, "notes not found"),
        (RelationDraft(1, 2, "EXTENDS"), DuplicateRelation, "already joined"),
    ],
    ids=["self", "type", "missing", "duplicate"],
)
def test_a_relation_that_cannot_be_is_refused(
    filled: Application, draft: RelationDraft, error: type[Exception], message: str
) -> None:
    before = dump(filled)
    with pytest.raises(error, match=message):
        filled.writer.create_relation(draft)
    assert dump(filled) == before


def test_relations_come_and_go(filled: Application) -> None:
    relation = filled.writer.create_relation(RelationDraft(2, 1, "EXTENDS", 0.5, "why"))
    assert (relation.source_title, relation.target_title) == ("note 0", "first")
    filled.writer.delete_relation(relation.id)
    with pytest.raises(RelationNotFound):
        filled.writer.delete_relation(relation.id)
    assert filled.writer.create_relation(RelationDraft(2, 1, "EXTENDS")).id == relation.id + 1


def test_a_conversation_has_one_note(filled: Application) -> None:
    conversation_id = note_of(filled, 1).conversation_id
    before = dump(filled)
    with pytest.raises(EditConflict, match="has a note already"):
        filled.writer.create_note(NoteDraft("second", "s", conversation_id=conversation_id))
    with pytest.raises(ConversationNotFound):
        filled.writer.create_note(NoteDraft("second", "s", conversation_id="unknown"))
    assert dump(filled) == before


@pytest.mark.parametrize("write", ["edit_note", "delete_note"])
def test_an_unknown_note_is_not_found(filled: Application, write: str) -> None:
    arguments = (99, NotePatch({"title": "t"})) if write == "edit_note" else (99,)
    with pytest.raises(NoteNotFound):
        getattr(filled.writer, write)(*arguments)
