"""The view of one process follows the feed, whatever happens to the data and to the feed."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event, select, text

from app.db import changes
from app.db.models import embeddings
from app.domain.notes import NoteDraft, NotePatch
from app.errors import DatabaseUnavailable
from app.factory import Application
from app.index import faiss_flat
from app.mirror import mirror
from app.sync.transaction import transaction
from tests.support.application import (
    PLANTED_DIMENSION,
    ask,
    found_ids,
    opened,
    plant,
    planted_vector,
    recorded_statements,
    stub_values,
)
from tests.support.provider import Asked, Reply, StubProvider, VectorFunction, fine, status

QUERY = np.eye(1, PLANTED_DIMENSION, dtype=np.float32)[0]
DOWN = "DOWN"
LONG_TEXT = "\n\n".join(f"cos=0.{number} {'w' * 400}" for number in (61, 72, 83))


def fine_unless_down(asked: Asked, vector: VectorFunction) -> Reply:
    """The usual reply, unless a text tells of a provider that is down."""
    is_down = any(DOWN in each for each in asked.texts)
    return (status(500) if is_down else fine)(asked, vector)


def held_and_stored(application: Application) -> tuple[set[int], set[int]]:
    """The chunk ids that the view holds, and those that its snapshot has."""
    with application.mirror.open() as (connection, view):
        found = view.index.search(QUERY, 10_000) if view.index else []
        stored = connection.execute(select(embeddings.c.id)).scalars()
        return {candidate.chunk_id for candidate in found}, set(stored)


def assert_in_step(application: Application) -> None:
    held, stored = held_and_stored(application)
    assert held == stored


def create(application: Application) -> None:
    application.writer.create_note(NoteDraft("new", LONG_TEXT))


def edit_text(application: Application) -> None:
    application.writer.edit_note(1, NotePatch({"summary": LONG_TEXT.replace("0.72", "0.75")}))


def edit_project(application: Application) -> None:
    application.writer.edit_note(1, NotePatch({"project": "other"}))


def delete(application: Application) -> None:
    application.writer.delete_note(2)


def delete_conversation(application: Application) -> None:
    with application.database.read() as connection:
        conversation_id = connection.execute(
            text("SELECT conversation_id FROM notes WHERE id = 2")
        ).scalar_one()
    application.writer.delete_conversation(conversation_id)


def embed_again(application: Application) -> None:
    application.batches.embed_many(application.batches.everything())


def take_in(application: Application) -> None:
    application.importer.import_records(
        [
            {"type": "conversation", "external_id": "c"},
            {"type": "note", "external_id": "n", "conversation": "c", "title": "cos=0.9"},
        ]
    )
    application.batches.embed_many(application.batches.unembedded())


def fail(application: Application) -> None:
    """An edit while the provider is down leaves no chunks of the old text."""
    application.writer.edit_note(3, NotePatch({"summary": f"{DOWN} cos=0.9"}))


WRITES: list[Callable[[Application], None]] = [
    create, edit_text, edit_project, delete, delete_conversation, embed_again, take_in, fail,
]  # fmt: skip


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three notes, the first of them in several chunks."""
    folder = tmp_path_factory.mktemp("template")
    with StubProvider(vector=planted_vector) as stub, opened(folder, stub_values(stub)) as filled:
        filled.writer.create_note(NoteDraft("first", LONG_TEXT))
        plant(filled, [0.9, 0.8])
    return folder


@pytest.fixture
def filled(template: Path, provider: StubProvider, tmp_path: Path) -> Iterator[Application]:
    """An application over a copy of that folder, its mirror warm."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    provider.behave(fine_unless_down)
    with opened(tmp_path, stub_values(provider)) as application:
        assert_in_step(application)
        yield application


@pytest.mark.parametrize("write", WRITES, ids=lambda write: write.__name__)
def test_the_view_follows_every_kind_of_write(
    filled: Application, write: Callable[[Application], None]
) -> None:
    before, _ = held_and_stored(filled)
    write(filled)
    held, stored = held_and_stored(filled)
    assert held == stored
    assert (held == before) == (write is edit_project)


@pytest.mark.parametrize("write", WRITES, ids=lambda write: write.__name__)
def test_another_application_over_the_file_follows_as_well(
    filled: Application,
    provider: StubProvider,
    tmp_path: Path,
    write: Callable[[Application], None],
) -> None:
    with opened(tmp_path, stub_values(provider)) as other:
        assert found_ids(ask(other)) == found_ids(ask(filled))
        write(filled)
        assert_in_step(other)
        assert ask(other) == ask(filled)
        create(other)
        assert_in_step(filled)
        assert ask(other) == ask(filled)


def test_the_view_does_not_depend_on_who_followed_and_who_loaded(
    filled: Application, provider: StubProvider, tmp_path: Path
) -> None:
    for write in WRITES:
        if write is not delete_conversation:
            write(filled)
            assert_in_step(filled)
    with opened(tmp_path, stub_values(provider)) as fresh:
        answer = ask(filled, limit=50, cut=False)
        assert answer == ask(fresh, limit=50, cut=False)
        assert len(answer.found) == 3


def test_nothing_new_costs_one_statement(filled: Application) -> None:
    with recorded_statements(filled.database) as statements, filled.mirror.open():
        assert len(statements) == 1
    assert "index_state" in statements[0]


def test_catching_up_costs_two_statements_more(
    filled: Application, provider: StubProvider, tmp_path: Path
) -> None:
    with opened(tmp_path, stub_values(provider)) as other:
        for _ in range(3):
            create(other)
    with recorded_statements(filled.database) as statements, filled.mirror.open():
        assert len(statements) == 3


class Interruption:
    """Lets others write, and the mirror follow, right after a reader's snapshot has begun."""

    def __init__(self, application: Application, times: int) -> None:
        self.application = application
        self.reader = threading.get_ident()
        self.left = times
        self.states_read = 0
        event.listen(application.database.engine, "after_cursor_execute", self)

    def __call__(self, *arguments: Any) -> None:
        if threading.get_ident() != self.reader or "index_state" not in arguments[2]:
            return
        self.states_read += 1
        if self.left:
            self.left -= 1
            thread = threading.Thread(target=self._advance)
            thread.start()
            thread.join()

    def _advance(self) -> None:
        create(self.application)
        assert_in_step(self.application)


def test_a_snapshot_behind_the_view_is_opened_anew(filled: Application) -> None:
    before, _ = held_and_stored(filled)
    interruption = Interruption(filled, times=2)
    held, stored = held_and_stored(filled)
    assert held == stored
    assert len(held) > len(before)
    assert interruption.states_read == 3


def test_a_database_that_never_rests_is_given_up_in_the_end(
    filled: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "MAXIMUM_REOPENS", 2)
    Interruption(filled, times=2)
    with pytest.raises(DatabaseUnavailable, match="faster than a search can follow"):
        held_and_stored(filled)
    assert_in_step(filled)


def test_a_reader_behind_the_trimmed_feed_rebuilds(
    filled: Application, provider: StubProvider, tmp_path: Path
) -> None:
    with opened(tmp_path, stub_values(provider)) as other:
        create(other)
        delete(other)
        with other.database.write() as connection:
            changes.trim(connection, 0)
    assert_in_step(filled)


def test_a_reader_abreast_of_the_trimmed_feed_goes_on(
    filled: Application, caplog: pytest.LogCaptureFixture
) -> None:
    with filled.database.write() as connection:
        changes.trim(connection, 0)
    caplog.set_level(logging.INFO, logger="app.mirror")
    assert_in_step(filled)
    create(filled)
    assert_in_step(filled)
    assert "index loaded" not in caplog.messages
    with recorded_statements(filled.database) as statements, filled.mirror.open():
        assert len(statements) == 1


@pytest.mark.parametrize("step", [-1, 0, 1], ids=["earlier", "same sequence", "later"])
def test_another_epoch_means_another_history(filled: Application, step: int) -> None:
    """A restored copy: rows differ, the feed says nothing of it."""
    with filled.database.write() as connection:
        connection.execute(text("DELETE FROM embeddings WHERE note_id = 2"))
        connection.execute(text("DELETE FROM index_changes"))
        connection.execute(
            text("UPDATE index_state SET epoch = 'restored', sequence = sequence + :step"),
            {"step": step},
        )
    assert_in_step(filled)
    create(filled)
    assert_in_step(filled)


def test_a_changed_border_is_read_anew(filled: Application) -> None:
    assert found_ids(ask(filled)) == [2, 1, 3]
    with transaction(filled.database) as unit:
        unit.connection.execute(text("UPDATE embedding_spaces SET border = 0.85"))
        unit.changed_space(1)
    assert found_ids(ask(filled)) == [2]


def test_another_active_space_is_never_compared_with(
    filled: Application, provider: StubProvider, tmp_path: Path
) -> None:
    """A process with another model takes over once it has every note; the old answers till then."""
    with opened(tmp_path, stub_values(provider, model="another")) as other:
        assert found_ids(ask(other)) == [2, 1, 3]
        assert found_ids(ask(filled)) == [2, 1, 3]
        other.batches.embed_many(other.batches.unembedded())
        assert found_ids(ask(other)) == [2, 1, 3]
        held, stored = held_and_stored(other)
        assert held < stored
        assert found_ids(ask(filled)) == [2, 1, 3]
    with opened(tmp_path, stub_values(provider)) as back:
        assert found_ids(ask(back)) == [2, 1, 3]
        assert found_ids(ask(filled)) == [2, 1, 3]


def wait_for_merges() -> None:
    for thread in threading.enumerate():
        if thread.name == "index-merge":
            thread.join()


def test_segments_are_merged_beside_the_searches(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faiss_flat, "TAIL_ROWS", 2)
    for number in range(24):
        plant(application, [0.6 + number / 100])
        assert_in_step(application)
    for note_id in range(1, 13):
        application.writer.delete_note(note_id)
        assert_in_step(application)
    wait_for_merges()
    assert_in_step(application)
    with application.mirror.open() as (_, view):
        assert isinstance(view.index, faiss_flat.FlatIndex)
        assert view.index.merge() is None
        assert len(view.index.segments) < 6
    assert found_ids(ask(application)) == list(range(24, 14, -1))


def test_readers_among_writers_see_index_and_rows_at_one_sequence(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faiss_flat, "TAIL_ROWS", 4)
    plant(application, [0.9])
    finished = threading.Event()
    faults: list[object] = []

    def read() -> None:
        while not finished.is_set():
            held, stored = held_and_stored(application)
            if held != stored:
                faults.append(held ^ stored)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(12):
        ids = plant(application, [0.7, 0.8], words=f"note {number}")
        application.writer.delete_note(ids[0])
    finished.set()
    for reader in readers:
        reader.join()
    wait_for_merges()
    assert not faults
    assert_in_step(application)
    assert len(held_and_stored(application)[0]) == 13
