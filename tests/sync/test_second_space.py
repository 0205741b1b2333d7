"""The second space: what it holds, when it is filled in, what drops from it, how it is off.

The second model is the real one, over short texts; the first is the stub.
"""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from app.domain.chunks import KIND_FIELD, KIND_WHOLE
from app.domain.notes import NoteDraft, NotePatch
from app.embedding import quality
from app.errors import ConfigurationError
from app.factory import Application
from app.sync import companions as module
from app.sync.companions import Coverage
from tests.support.application import opened, plant, stub_values
from tests.support.companions import Companion, companions, notes_with_companions
from tests.support.provider import StubProvider, fine, status
from tests.support.second import SECOND, fill_both, second_companions, second_values
from tests.sync.conftest import rows

PATIENCE = 30.0


@pytest.fixture
def doubled(empty_folder: Path, provider: StubProvider, tmp_path: Path) -> Iterator[Application]:
    """An empty application with both models."""
    shutil.copytree(empty_folder, tmp_path, dirs_exist_ok=True)
    with opened(tmp_path, second_values(provider)) as application:
        yield application


def coverage(application: Application) -> Coverage:
    assert application.second_companions is not None
    return application.second_companions.coverage()


def with_second(application: Application) -> list[int]:
    """The notes that have companions in the second space."""
    return sorted({each.note_id for each in second_companions(application)})


def test_the_space_is_stored_beside_the_active_one(doubled: Application) -> None:
    found = rows(
        doubled,
        "SELECT provider, model, dimension, active, max_chars, mean_query IS NOT NULL"
        " FROM embedding_spaces ORDER BY id",
    )
    assert [row[0] for row in found] == ["openai", "builtin-quality"]
    assert found[1][1:] == (quality.MODEL, quality.DIMENSION, 0, quality.MAX_CHARS, 1)


def test_it_is_stored_once(doubled: Application, provider: StubProvider, tmp_path: Path) -> None:
    with opened(tmp_path, second_values(provider)) as other:
        assert other.second is not None
        assert doubled.second is not None
        assert other.second.space_id == doubled.second.space_id
    assert len(rows(doubled, "SELECT id FROM embedding_spaces")) == 2


def test_it_holds_whole_notes_and_fields_and_no_chunks(doubled: Application) -> None:
    note_id = doubled.writer.create_note(NoteDraft("one", "two", key_conclusions=("three",)))
    assert coverage(doubled) == Coverage(0, 1)
    fill_both(doubled)
    assert second_companions(doubled) == [
        Companion(note_id, KIND_WHOLE, 0, "one\n\ntwo\n\nthree"),
        Companion(note_id, KIND_FIELD, 0, "one"),
        Companion(note_id, KIND_FIELD, 1, "two"),
        Companion(note_id, KIND_FIELD, 2, "three"),
    ]
    assert coverage(doubled) == Coverage(1, 1)
    assert coverage(doubled).is_complete
    assert doubled.second is not None
    kinds = rows(
        doubled,
        f"SELECT DISTINCT kind FROM embeddings WHERE space_id = {doubled.second.space_id}"
        " ORDER BY kind",
    )
    assert kinds == [(KIND_FIELD,), (KIND_WHOLE,)]


def test_the_stored_vectors_are_those_of_passages(doubled: Application) -> None:
    doubled.writer.create_note(NoteDraft("the title", ""))
    fill_both(doubled)
    assert doubled.second is not None
    (stored,) = rows(
        doubled,
        f"SELECT vector FROM embeddings WHERE space_id = {doubled.second.space_id}"
        f" AND kind = '{KIND_FIELD}'",
    )
    expected = doubled.second.embedder.embed_passages(["the title"])[0]
    assert isinstance(stored[0], bytes)
    np.testing.assert_array_equal(np.frombuffer(stored[0], np.float32), expected)


def test_texts_are_cut_at_what_its_model_takes(doubled: Application) -> None:
    doubled.writer.create_note(NoteDraft("title", "long " * 300))
    fill_both(doubled)
    assert {len(each.text) for each in second_companions(doubled)} == {5, quality.MAX_CHARS}
    assert max(len(each.text) for each in companions(doubled)) > quality.MAX_CHARS


def test_only_embedded_notes_count(doubled: Application, provider: StubProvider) -> None:
    """Those that the active space knows: the second one has no state of its own."""
    plant(doubled, [0.9])
    provider.behave(status(500))
    doubled.writer.create_note(NoteDraft("not embedded", ""))
    provider.behave(fine)
    fill_both(doubled)
    assert (with_second(doubled), coverage(doubled)) == ([1], Coverage(1, 1))


EDITS: dict[str, tuple[NotePatch, bool]] = {
    "title": (NotePatch({"title": "new"}), True),
    "summary": (NotePatch({"summary": "new"}), True),
    "tags": (NotePatch({"tags": ("new",)}), False),
    "aliases": (NotePatch({"aliases": ("new",)}), False),
}


@pytest.mark.parametrize(("patch", "drops"), EDITS.values(), ids=EDITS)
def test_an_edit_drops_what_is_outdated(
    doubled: Application, patch: NotePatch, drops: bool
) -> None:
    plant(doubled, [0.9, 0.8])
    fill_both(doubled)
    doubled.writer.edit_note(1, patch)
    assert with_second(doubled) == ([2] if drops else [1, 2])
    assert coverage(doubled) == Coverage(1 if drops else 2, 2)
    fill_both(doubled)
    assert coverage(doubled).is_complete


def test_a_deleted_note_takes_its_vectors_along(doubled: Application) -> None:
    plant(doubled, [0.9, 0.8])
    fill_both(doubled)
    doubled.writer.delete_note(1)
    assert (with_second(doubled), coverage(doubled)) == ([2], Coverage(1, 1))


def test_embedding_again_leaves_them_alone(doubled: Application) -> None:
    plant(doubled, [0.9])
    fill_both(doubled)
    before = second_companions(doubled)
    doubled.batches.embed_many([1])
    assert companions(doubled) == []
    assert second_companions(doubled) == before


def test_they_can_be_cleared_to_be_made_anew(doubled: Application) -> None:
    plant(doubled, [0.9])
    fill_both(doubled)
    assert doubled.second_companions is not None
    doubled.second_companions.clear()
    assert (with_second(doubled), notes_with_companions(doubled)) == ([], [1])
    fill_both(doubled)
    assert coverage(doubled).is_complete


def test_a_note_that_changed_meanwhile_is_left_for_later(
    doubled: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(doubled, [0.9, 0.8])
    assert doubled.second is not None
    assert doubled.second_companions is not None
    embedder = doubled.second.embedder
    original = embedder.embed_passages

    def while_someone_edits(texts: list[str]) -> object:
        doubled.writer.edit_note(1, NotePatch({"title": "new"}))
        return original(texts)

    monkeypatch.setattr(
        embedder, "embed_passages", lambda texts, _=None: while_someone_edits(texts)
    )
    assert doubled.second_companions.fill() == 1
    assert with_second(doubled) == [2]


def eventually(holds: Callable[[], bool]) -> None:
    moment = threading.Event()
    for _ in range(int(PATIENCE / 0.02)):
        if holds():
            return
        moment.wait(0.02)
    raise AssertionError("it never came to that")


def test_the_filler_fills_it_behind_and_follows_writes(doubled: Application) -> None:
    plant(doubled, [0.9, 0.8])
    doubled.filler.start()
    eventually(lambda: coverage(doubled) == Coverage(2, 2))
    plant(doubled, [0.7])
    doubled.writer.edit_note(1, NotePatch({"summary": "cos=0.5 new"}))
    eventually(lambda: coverage(doubled) == Coverage(3, 3))
    assert doubled.companions.missing() == ()


class Gate:
    """Holds the second model at the first text until it is opened."""

    def __init__(self, application: Application, monkeypatch: pytest.MonkeyPatch) -> None:
        assert application.second is not None
        self.asked, self.open = threading.Event(), threading.Event()
        self._original = application.second.embedder.request_vectors
        monkeypatch.setattr(application.second.embedder, "request_vectors", self)

    def __call__(self, texts: list[str], *, is_query: bool) -> object:
        self.asked.set()
        assert self.open.wait(PATIENCE)
        return self._original(texts, is_query=is_query)


def test_it_is_filled_after_the_active_space(
    doubled: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SECOND_GROUP", 1)
    ids = plant(doubled, [0.9, 0.8, 0.7])
    gate = Gate(doubled, monkeypatch)
    doubled.filler.start()
    assert gate.asked.wait(PATIENCE)
    assert notes_with_companions(doubled) == ids
    gate.open.set()
    doubled.filler.close()


def test_writes_and_searches_do_not_wait_for_it(
    doubled: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(doubled, [0.9])
    gate = Gate(doubled, monkeypatch)
    doubled.filler.start()
    assert gate.asked.wait(PATIENCE)
    (second,) = plant(doubled, [0.8])
    doubled.writer.edit_note(second, NotePatch({"title": "new"}))
    assert coverage(doubled) == Coverage(0, 2)
    gate.open.set()
    eventually(lambda: coverage(doubled) == Coverage(2, 2))


def test_a_write_meanwhile_has_its_turn_first(
    doubled: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The active space comes first, also when it lacks something again."""
    many = module.SECOND_GROUP + 1
    plant(doubled, [0.9] * many)
    gate = Gate(doubled, monkeypatch)
    doubled.filler.start()
    assert gate.asked.wait(PATIENCE)
    plant(doubled, [0.7])
    gate.open.set()
    eventually(lambda: coverage(doubled) == Coverage(many + 1, many + 1))
    made = rows(
        doubled,
        f"SELECT space_id FROM index_changes WHERE kind = '{KIND_WHOLE}' ORDER BY sequence, id",
    )
    assert [row[0] for row in made] == [1] * many + [2] * module.SECOND_GROUP + [1] + [2] * 2


def test_a_model_that_fails_leaves_the_rest_alone(
    doubled: Application, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse() -> quality.Encoder:
        raise ConfigurationError("The second model does not load here: no such instruction")

    monkeypatch.setattr(quality, "load_encoder", refuse)
    ids = plant(doubled, [0.9])
    doubled.filler.start()
    eventually(lambda: any("no such instruction" in each for each in caplog.messages))
    assert notes_with_companions(doubled) == ids
    assert coverage(doubled) == Coverage(0, 1)


@pytest.mark.parametrize("why", ["switched off", "not installed"])
def test_without_it_nothing_changes(
    provider: StubProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    values = stub_values(provider) | SECOND
    if why == "not installed":
        monkeypatch.setitem(sys.modules, quality.PACKAGE, None)
    else:
        values["search.second_space"] = "false"
    with opened(tmp_path, values) as application:
        assert (application.second, application.second_companions) == (None, None)
        assert len(rows(application, "SELECT id FROM embedding_spaces")) == 1
        plant(application, [0.9])
        application.companions.fill()
        assert rows(application, "SELECT DISTINCT space_id FROM embeddings") == [(1,)]


def test_what_was_made_is_kept_in_order_while_it_is_off(
    doubled: Application, provider: StubProvider, tmp_path: Path
) -> None:
    """An edit by a process that does not know the model drops what it outdates all the same."""
    plant(doubled, [0.9, 0.8])
    fill_both(doubled)
    with opened(tmp_path, stub_values(provider)) as other:
        other.writer.edit_note(1, NotePatch({"title": "new"}))
        other.writer.delete_note(2)
    assert (with_second(doubled), coverage(doubled)) == ([], Coverage(0, 1))
