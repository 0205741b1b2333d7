"""The parts of a view: loaded when they are wanted, and each kept in step by itself."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event, text

from app.db import changes
from app.domain.chunks import KIND_CHUNK, KIND_ENTITY, KIND_FIELD, KIND_WHOLE, SECOND_PARTS
from app.domain.notes import NoteDraft, NotePatch
from app.factory import Application
from app.index import faiss_flat
from app.lexical import index as lexical_index
from app.lexical.index import LexicalIndex
from app.mirror import parts
from app.mirror.view import View
from app.ranking.registry import BY_NAME, PART_FRAGMENTS, PART_WORDS, RANKERS
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
from tests.support.provider import StubProvider, fine, status

VECTORS = (KIND_CHUNK, KIND_WHOLE, KIND_FIELD, KIND_ENTITY)
LEXICAL = (PART_WORDS, PART_FRAGMENTS)
ALL = (*VECTORS, *LEXICAL)
QUERY = np.eye(1, PLANTED_DIMENSION, dtype=np.float32)[0]
QUERIES = ("walrus", "pelican note", "note 1", "salamander", "walruss 海象")

Ids = dict[str, set[int]]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three notes and their companions."""
    folder = tmp_path_factory.mktemp("template")
    with StubProvider(vector=planted_vector) as stub, opened(folder, stub_values(stub)) as filled:
        filled.writer.create_note(
            NoteDraft("walrus 海象", "cos=0.95 pelican", key_conclusions=("one",), tags=("tag",))
        )
        plant(filled, [0.9, 0.8])
        filled.companions.fill()
        filled.entities.fill()
    return folder


@pytest.fixture
def filled(template: Path, provider: StubProvider, tmp_path: Path) -> Iterator[Application]:
    """An application over a copy of that folder, nothing loaded yet."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    with opened(tmp_path, stub_values(provider)) as application:
        yield application


@pytest.fixture
def warm(filled: Application) -> Application:
    """The same with every part loaded."""
    filled.mirror.warm(ALL)
    return filled


def view_of(application: Application, *wanted: str) -> View:
    """The view as it is, or with the parts that are wanted."""
    with application.mirror.open(wanted) as (_, view):
        return view


def loaded(view: View) -> set[str]:
    """The parts that a view has."""
    return set(view.vectors) | {part for part in LEXICAL if lexical(view, part) is not None}


def lexical(view: View, part: str) -> LexicalIndex | None:
    """The index of words, or that of fragments."""
    return view.words if part == PART_WORDS else view.fragments


def held_and_stored(application: Application, wanted: tuple[str, ...] = ALL) -> tuple[Ids, Ids]:
    """What each part holds, and what its snapshot has of it."""
    with application.mirror.open(wanted) as (connection, view):
        held = {
            kind: {each.chunk_id for each in index.search(QUERY, 10_000)}
            for kind, index in view.vectors.items()
        }
        for part in LEXICAL:
            index = lexical(view, part)
            if index is not None:
                held[part] = {
                    int(document)
                    for segment in index.segments
                    for document in segment.living_documents().ids
                }
        stored: Ids = {part: set() for part in held}
        rows = connection.execute(
            text(
                "SELECT kind, id FROM embeddings WHERE space_id ="
                " (SELECT id FROM embedding_spaces WHERE active = 1)"
                " UNION ALL SELECT 'words', id FROM lexical_documents WHERE kind = 'root'"
                " UNION ALL SELECT 'fragments', id FROM lexical_documents WHERE chunk_id IS NULL"
                " OR chunk_id IN (SELECT id FROM embeddings WHERE space_id ="
                " (SELECT id FROM embedding_spaces WHERE active = 1))"
            )
        )
        for part, row_id in rows:
            if part in stored:
                stored[part].add(row_id)
    return held, stored


def assert_in_step(application: Application) -> None:
    held, stored = held_and_stored(application)
    assert held == stored
    assert set(held) == set(ALL)


def answers(application: Application) -> list[Any]:
    """What every part answers, with all numbers."""
    view = view_of(application, *ALL)
    assert view.words is not None
    found: list[Any] = [view.words.search(query, 50) for query in QUERIES]
    found += [view.vectors[kind].search(QUERY, 50) for kind in VECTORS]
    return found + [
        told(application, query, ranker.name) for query in QUERIES for ranker in RANKERS
    ]


def told(application: Application, query: str, ranker: str) -> tuple[object, object]:
    """An answer and all that is explained of it but the time it took."""
    answer = ask(application, query, ranker=ranker, limit=50, cut=False, explain=True)
    assert answer.explanation is not None
    return answer.found, answer.explanation | {"milliseconds": None}


def assert_as_fresh(application: Application, provider: StubProvider) -> None:
    """Every part answers as in a process that has just loaded everything."""
    folder = application.settings.data_dir
    with opened(folder, stub_values(provider)) as fresh:
        assert answers(application) == answers(fresh)


@pytest.mark.parametrize("ranker", BY_NAME)
def test_a_ranker_loads_its_own_parts_and_no_others(filled: Application, ranker: str) -> None:
    assert loaded(view_of(filled)) == set()
    with recorded_statements(filled.database) as statements:
        ask(filled, "walrus", ranker=ranker, expand=True)
    # There is no second space here: tests/mirror/test_second.py.
    wanted = set(BY_NAME[ranker].parts) - set(SECOND_PARTS)
    assert loaded(view_of(filled)) == wanted
    reads_words = any("lexical_documents" in each for each in statements)
    assert reads_words == bool(wanted & set(LEXICAL))
    scans = [each for each in statements if "embeddings.vector" in each and "space_id +" in each]
    assert len(scans) == len(wanted - set(LEXICAL))


def test_the_default_ranker_wants_chunks_alone(filled: Application) -> None:
    """Whoever searches with it pays for no other, in memory or time."""
    assert BY_NAME["chatcrystal"].parts == (KIND_CHUNK,)
    ask(filled)
    with recorded_statements(filled.database) as statements:
        ask(filled, "walrus", expand=True, fields=("summary",))
    assert len(statements) <= 6
    assert loaded(view_of(filled)) == {KIND_CHUNK}


@pytest.mark.parametrize("first", ALL)
def test_a_part_that_is_loaded_later_is_of_the_same_moment(filled: Application, first: str) -> None:
    before = view_of(filled, first)
    view = view_of(filled, *ALL)
    assert view.state == before.state
    assert loaded(view) == set(ALL)
    assert_in_step(filled)
    filled.writer.delete_note(1)
    assert loaded(view_of(filled)) == set(ALL)
    assert_in_step(filled)


def test_parts_are_loaded_once(warm: Application) -> None:
    before = view_of(warm, *ALL)
    with recorded_statements(warm.database) as statements:
        after = view_of(warm, *ALL)
    assert after is before
    assert len(statements) == 1


def create(application: Application) -> None:
    application.writer.create_note(NoteDraft("salamander", "cos=0.7"))


def edit_text(application: Application) -> None:
    application.writer.edit_note(1, NotePatch({"summary": "cos=0.6 salamander"}))


def edit_words(application: Application) -> None:
    application.writer.edit_note(1, NotePatch({"aliases": ("salamander",)}))


def delete(application: Application) -> None:
    application.writer.delete_note(1)


def fill(application: Application) -> None:
    application.companions.fill()


def embed_again(application: Application) -> None:
    application.batches.embed_many(application.batches.everything())


def take_in(application: Application) -> None:
    application.importer.import_records(
        [
            {"type": "conversation", "external_id": "c"},
            {"type": "note", "external_id": "n", "conversation": "c", "title": "salamander"},
        ]
    )


def delete_everything(application: Application) -> None:
    for note_id in application.batches.everything():
        application.writer.delete_note(note_id)


CHANGED: dict[Callable[[Application], None], set[str]] = {
    create: {KIND_CHUNK, *LEXICAL},
    fill: {KIND_WHOLE, KIND_FIELD},
    edit_text: set(ALL) - {KIND_ENTITY},
    edit_words: set(LEXICAL),
    take_in: set(LEXICAL),
    embed_again: {KIND_CHUNK, KIND_WHOLE, KIND_FIELD, PART_FRAGMENTS},
    delete: set(ALL),
}
"""Writes, and the parts that each of them changes."""


def named(write: Callable[[Application], None]) -> str:
    return write.__name__


@pytest.mark.parametrize("write", CHANGED, ids=named)
def test_every_part_follows_by_itself(
    warm: Application, provider: StubProvider, write: Callable[[Application], None]
) -> None:
    if write is fill:
        create(warm)
    before = view_of(warm, *ALL)
    write(warm)
    after = view_of(warm, *ALL)
    kept = {kind for kind in VECTORS if after.vectors[kind] is before.vectors[kind]}
    kept |= {part for part in LEXICAL if lexical(after, part) is lexical(before, part)}
    assert set(ALL) - kept == CHANGED[write]
    assert_in_step(warm)
    assert_as_fresh(warm, provider)


@pytest.mark.parametrize("write", CHANGED, ids=named)
def test_following_costs_one_statement_a_changed_part(
    warm: Application, write: Callable[[Application], None]
) -> None:
    """Beside the state and the entries of the feed."""
    if write is fill:
        create(warm)
        view_of(warm)
    write(warm)
    with recorded_statements(warm.database) as statements:
        view_of(warm, *ALL)
    assert len(statements) == 2 + len(CHANGED[write])


def test_a_part_that_nobody_wanted_is_not_followed(filled: Application) -> None:
    view_of(filled, KIND_CHUNK)
    for write in (create, fill, edit_text, delete):
        write(filled)
        with recorded_statements(filled.database) as statements:
            assert loaded(view_of(filled)) == {KIND_CHUNK}
        assert not [each for each in statements if "lexical_documents" in each]
        assert len(statements) <= 3
    assert_in_step(filled)


def test_another_process_follows_with_every_part(
    warm: Application, provider: StubProvider, tmp_path: Path
) -> None:
    with opened(tmp_path, stub_values(provider)) as other:
        for write in (create, edit_text, fill, edit_words, delete, take_in, delete_everything):
            write(other)
            assert_in_step(warm)
            assert answers(warm) == answers(other)
    assert answers(warm)[0] == []


def test_a_change_of_space_reloads_vectors_and_keeps_the_words(
    warm: Application, provider: StubProvider
) -> None:
    before = view_of(warm, *ALL)
    with transaction(warm.database) as unit:
        unit.connection.execute(text("UPDATE embedding_spaces SET border = 0.7"))
        unit.changed_space(1)
    after = view_of(warm)
    assert loaded(after) == set(ALL)
    assert after.space is not None
    assert after.space.spec.border == 0.7
    assert after.words is before.words
    assert not [kind for kind in VECTORS if after.vectors[kind] is before.vectors[kind]]
    assert_in_step(warm)
    assert_as_fresh(warm, provider)


def test_a_change_of_space_does_not_hide_a_change_of_words(
    warm: Application, provider: StubProvider
) -> None:
    """Both in the batch that a process catches up with."""
    create(warm)
    with transaction(warm.database) as unit:
        unit.changed_space(1)
    edit_words(warm)
    assert_in_step(warm)
    assert_as_fresh(warm, provider)


def test_another_space_has_vectors_of_its_own_and_the_same_words(
    warm: Application, provider: StubProvider, tmp_path: Path
) -> None:
    words = view_of(warm).words
    with opened(tmp_path, stub_values(provider, model="another")) as other:
        other.batches.embed_many(other.batches.unembedded())
        other.companions.fill()
        assert_in_step(other)
        assert_in_step(warm)
        assert view_of(warm).words is words


def test_words_need_no_space_with_a_dimension(
    application: Application, provider: StubProvider
) -> None:
    provider.behave(status(500))
    note_id = application.writer.create_note(NoteDraft("salamander", "not embedded"))
    provider.behave(fine)
    view = view_of(application, *ALL)
    assert loaded(view) == set(LEXICAL)
    assert found_ids(ask(application, "salamander", ranker="fusion")) == [note_id]
    application.batches.embed_many([note_id])
    assert_in_step(application)
    assert view_of(application).words is view.words


def test_behind_a_trimmed_feed_every_part_is_loaded_anew(
    warm: Application, provider: StubProvider, tmp_path: Path
) -> None:
    before = view_of(warm)
    with opened(tmp_path, stub_values(provider)) as other:
        create(other)
        delete(other)
        with other.database.write() as connection:
            changes.trim(connection, 0)
    # Loaded again is what is wanted again, not what was there.
    assert loaded(view_of(warm, KIND_WHOLE)) == {KIND_WHOLE}
    after = view_of(warm, *ALL)
    assert after.words is not before.words
    assert_in_step(warm)
    assert_as_fresh(warm, provider)


@pytest.mark.parametrize("step", [-1, 0, 1], ids=["earlier", "same sequence", "later"])
def test_another_history_loads_every_part_anew(
    warm: Application, provider: StubProvider, step: int
) -> None:
    with warm.database.write() as connection:
        connection.execute(text("DELETE FROM embeddings WHERE note_id = 2"))
        connection.execute(text("DELETE FROM lexical_documents WHERE note_id = 2"))
        connection.execute(text("DELETE FROM index_changes"))
        connection.execute(
            text("UPDATE index_state SET epoch = 'restored', sequence = sequence + :step"),
            {"step": step},
        )
    assert_in_step(warm)
    create(warm)
    assert_in_step(warm)


class Interruption:
    """Lets others write, and the mirror follow, right after a reader's snapshot has begun."""

    def __init__(self, application: Application, times: int) -> None:
        self.application = application
        self.reader = threading.get_ident()
        self.left = times
        event.listen(application.database.engine, "after_cursor_execute", self)

    def __call__(self, *arguments: Any) -> None:
        is_mine = threading.get_ident() == self.reader and "index_state" in arguments[2]
        if is_mine and self.left:
            self.left -= 1
            thread = threading.Thread(target=self._advance)
            thread.start()
            thread.join()

    def _advance(self) -> None:
        create(self.application)
        assert loaded(view_of(self.application)) == {KIND_CHUNK}


def test_a_part_is_never_loaded_from_an_older_snapshot(filled: Application) -> None:
    """The view is past the reader's snapshot when the reader wants more of it."""
    view_of(filled, KIND_CHUNK)
    interruption = Interruption(filled, times=2)
    held, stored = held_and_stored(filled)
    assert interruption.left == 0
    assert held == stored
    assert len(held[PART_WORDS]) == 5


def wait_for_merges() -> None:
    for thread in threading.enumerate():
        if thread.name == "index-merge":
            thread.join()


def test_merging_beside_the_searches_changes_no_answer(
    warm: Application, provider: StubProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faiss_flat, "TAIL_ROWS", 2)
    monkeypatch.setattr(lexical_index, "TAIL_DOCUMENTS", 2)
    for number in range(12):
        plant(warm, [0.6 + number / 100], words=f"note {number} salamander")
        fill(warm)
        assert_in_step(warm)
    for note_id in (2, 5, 6, 7, 9):
        warm.writer.delete_note(note_id)
        assert_in_step(warm)
    wait_for_merges()
    view = view_of(warm)
    assert view.words is not None
    assert view.words.merge() is None
    assert len(view.words.segments) < 4
    assert_in_step(warm)
    assert_as_fresh(warm, provider)


@pytest.mark.parametrize("part", [KIND_CHUNK, PART_WORDS])
def test_what_goes_while_segments_are_merged_stays_gone(
    warm: Application, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """The merge was begun on one view and comes to a later one."""
    monkeypatch.setattr(faiss_flat, "TAIL_ROWS", 0)
    monkeypatch.setattr(lexical_index, "TAIL_DOCUMENTS", 0)
    before = view_of(warm, *ALL)
    monkeypatch.setattr(faiss_flat if part == KIND_CHUNK else lexical_index, "DEAD_SHARE", -0.1)
    merge = parts.next_merge(before)
    assert merge is not None
    assert merge.part == part
    delete(warm)
    create(warm)
    later = view_of(warm, *ALL)
    merged = parts.adopted(later, merge)
    assert loaded(merged) == set(ALL)
    assert merged.words is not None
    assert later.words is not None
    for query in QUERIES:
        assert merged.words.search(query, 50) == later.words.search(query, 50)
    for kind in VECTORS:
        assert merged.vectors[kind].search(QUERY, 50) == later.vectors[kind].search(QUERY, 50)
    is_adopted = {KIND_CHUNK: merged.index is not later.index,
                  PART_WORDS: merged.words is not later.words}  # fmt: skip
    assert is_adopted == {each: each == part for each in is_adopted}


def test_one_batch_that_needs_a_merge_is_merged_without_another_write(
    warm: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((faiss_flat, "DEAD_SHARE"), (lexical_index, "DEAD_SHARE")):
        monkeypatch.setattr(module, name, 0.1)
    delete(warm)
    view_of(warm)
    wait_for_merges()
    view = view_of(warm)
    assert view.words is not None
    assert [len(segment.core) for segment in view.words.segments] == [2]
    assert_in_step(warm)


def parts_out_of_step(application: Application) -> list[object]:
    """What each ranker's parts hold and store where the two differ."""
    found = [held_and_stored(application, ranker.parts) for ranker in RANKERS]
    return [pair for pair in found if pair[0] != pair[1]]


def odd_answers(application: Application) -> list[object]:
    """Answers that do not begin with the note that is best by meaning and by words.

    Relations may bring others before it with finder, but they cannot hide it.
    """
    found = [
        (ask(application, "walrus note", ranker=ranker.name, limit=50, cut=False), ranker.name)
        for ranker in RANKERS
    ]
    return [
        answer
        for answer, ranker in found
        if 1 not in found_ids(answer)[: 50 if ranker == "finder" else 1] or answer.warnings
    ]


def test_searches_of_all_rankers_among_writers(
    filled: Application, provider: StubProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each sees its parts and rows at one sequence, while parts are loaded, followed and merged."""
    monkeypatch.setattr(faiss_flat, "TAIL_ROWS", 4)
    monkeypatch.setattr(lexical_index, "TAIL_DOCUMENTS", 4)
    finished = threading.Event()
    faults: list[object] = []

    def read(look: Callable[[Application], list[object]]) -> None:
        while not finished.is_set():
            faults.extend(look(filled))

    looks = (parts_out_of_step, odd_answers, odd_answers)
    readers = [threading.Thread(target=read, args=[look]) for look in looks]
    for reader in readers:
        reader.start()
    for number in range(8):
        ids = plant(filled, [0.7, 0.75], words=f"note {number}")
        filled.companions.fill()
        filled.writer.edit_note(ids[1], NotePatch({"title": f"edited {number}"}))
        filled.writer.delete_note(ids[0])
    finished.set()
    for reader in readers:
        reader.join()
    wait_for_merges()
    assert not faults
    assert_in_step(filled)
    assert_as_fresh(filled, provider)
