"""What a write transaction knows without reading it, held against what is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from sqlalchemy import Connection, text

from app.db import chunks, conversations, notes, spaces
from app.domain.notes import STATUS_PENDING, Note, NoteDraft, Origin, Snippet
from app.domain.spaces import SpaceSpec
from app.errors import SpaceMismatch
from app.factory import Application
from app.sync.columns import note_columns, own_conversation
from app.sync.spaces import ensure, settle_dimension
from app.sync.transaction import Transaction, transaction
from tests.support.application import PLANTED_DIMENSION
from tests.support.provider import StubProvider
from tests.sync.conftest import meanwhile, note_of, rows, statuses

FULL = NoteDraft(
    "第一 first", "A summary of 内存泄漏 in a/b.py.", body="See [[Second|that]], ![[第一]].",
    key_conclusions=("one", "二"), code_snippets=(Snippet("python", "x = 1", "sets x"),),
    tags=("z", "a", "中"), aliases=("one", "壹"), project="p", raw_llm_response="{}",
    source_type="writeback", source_agent="agent", scope="global", task_kind="fix",
    outcome_type="done", error_signatures=("E: 1",), files_touched=("a/b.py",), path="x/y 页.md",
    external_id="e", created_at="2026-01-01 00:00:00",
)  # fmt: skip
THEIRS = Origin("theirs", "codex", "their project", "/their/folder")

DERIVED = (
    "SELECT note_id, chunk_id, entity_id, postings FROM lexical_documents ORDER BY 1, 2, 3",
    "SELECT note_id, name_key FROM note_names ORDER BY 1, 2",
    "SELECT source_note_id, target_note_id, target, kind, label FROM note_links ORDER BY 1, 3",
    "SELECT note_id, entity_id FROM note_entities ORDER BY 1, 2",
    "SELECT chunk_id, entity_id FROM chunk_entities ORDER BY 1, 2",
)


def derived(application: Application) -> list[list[tuple[object, ...]]]:
    """All that is made of notes."""
    return [rows(application, statement) for statement in DERIVED]


def add_conversation(connection: Connection, origin: Origin) -> None:
    conversations.add(connection, [own_conversation(origin, FULL)])


def add_note(unit: Transaction, origin: Origin) -> Note:
    """Store a note of a conversation of its own, not embedded."""
    add_conversation(unit.connection, origin)
    note = notes.create(unit.connection, note_columns(FULL, STATUS_PENDING), origin, ())
    unit.created([note])
    return note


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Note]:
    """The notes that transactions were told of as they are stored."""
    found: list[Note] = []
    created = Transaction.created

    def keep(unit: Transaction, stored: Iterable[Note]) -> None:
        listed = list(stored)
        found.extend(listed)
        created(unit, listed)

    monkeypatch.setattr(Transaction, "created", keep)
    return found


def test_a_new_note_is_known_as_it_is_read(application: Application, told: list[Note]) -> None:
    with transaction(application.database) as unit:
        add_conversation(unit.connection, THEIRS)
    for draft in (
        NoteDraft("Second", "", tags=("中", "z")),
        FULL,
        replace(FULL, conversation_id=THEIRS.conversation_id, path=None, external_id=None),
    ):
        application.writer.create_note(draft)
    assert told == [note_of(application, note.id) for note in told]
    assert [note.tags for note in told] == [("中", "z"), ("中", "z", "a"), ("中", "z", "a")]
    assert (told[2].source, told[2].project_dir) == (THEIRS.source, THEIRS.project_dir)


def test_a_note_whose_tags_got_other_ids_meanwhile_is_known_too(
    application: Application, provider: StubProvider, told: list[Note]
) -> None:
    provider.behave(
        meanwhile(lambda: application.writer.create_note(NoteDraft("first", "", tags=("a",))))
    )
    note_id = application.writer.create_note(NoteDraft("second", "", tags=("z", "a")))
    assert told[1] == note_of(application, note_id)
    assert (told[1].tags, told[1].embedding_status) == (("a", "z"), STATUS_PENDING)


def test_what_is_made_of_a_new_note_is_what_its_rows_say(application: Application) -> None:
    application.writer.create_note(NoteDraft("Second", "", tags=("中", "z")))
    note_id = application.writer.create_note(FULL)
    before = derived(application)
    assert all(before)
    chunk_ids = [int(str(row[0])) for row in rows(application, "SELECT id FROM embeddings")]
    with transaction(application.database) as unit:
        unit.connection.execute(text("DELETE FROM chunk_entities"))
        unit.connection.execute(text("DELETE FROM lexical_documents WHERE kind = 'chunk'"))
        unit.unworded(chunk_ids)
        unit.reworded([note_id])
    assert derived(application) == before


def test_a_new_note_that_is_changed_afterwards_is_read(application: Application) -> None:
    with transaction(application.database) as unit:
        note = add_note(unit, THEIRS)
        notes.change(unit.connection, note.id, {"title": "changed"})
        unit.reworded([note.id])
    names = [row[0] for row in rows(application, "SELECT name_key FROM note_names")]
    assert "changed" in names
    assert "第一 first" not in names


def test_chunks_that_go_before_the_end_get_no_documents(application: Application) -> None:
    with transaction(application.database) as unit:
        note = add_note(unit, THEIRS)
        row = {"note_id": note.id, "space_id": application.active.current.space_id,
               "kind": "chunk", "chunk_index": 0, "chunk_text": "gone", "has_han": 0,
               "content_hash": "", "created_at": "", "vector": b""}  # fmt: skip
        unit.add_vectors([row])
        unit.removed_vectors(chunks.remove_of_notes(unit.connection, [note.id]))
    assert rows(application, "SELECT kind FROM lexical_documents WHERE kind <> 'entity'") == [
        ("root",)
    ]


def test_a_space_has_the_dimension_that_the_transaction_gave_it(application: Application) -> None:
    with pytest.raises(SpaceMismatch), transaction(application.database) as unit:
        space_id = ensure(unit, SpaceSpec("another", "model", None, 2_000))
        settle_dimension(unit, space_id, 8)
        settle_dimension(unit, space_id, 16)


def test_a_note_is_not_done_when_another_space_became_active_meanwhile(
    application: Application, provider: StubProvider
) -> None:
    def make_another_active() -> None:
        with transaction(application.database) as unit:
            spec = SpaceSpec("another", "model", PLANTED_DIMENSION, 2_000)
            space_id = ensure(unit, spec)
            spaces.activate(unit.connection, space_id)
            unit.changed_space(space_id)

    provider.behave(meanwhile(make_another_active))
    application.writer.create_note(FULL)
    assert rows(application, "SELECT status FROM note_spaces") == [("done",)]
    assert statuses(application) == ["pending"]
