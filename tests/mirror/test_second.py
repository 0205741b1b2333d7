"""The indexes of the second space: when they are loaded, followed, and whether they count."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

from app.domain.chunks import SECOND_FIELD, SECOND_PARTS, SECOND_WHOLE
from app.domain.notes import NoteDraft, NotePatch
from app.factory import Application
from app.mirror.view import View
from app.sync.transaction import transaction
from tests.support.application import opened, plant, recorded_statements, stub_values
from tests.support.provider import StubProvider, fine, status
from tests.support.second import fill_both, second_values

WANTED = tuple(SECOND_PARTS)


@pytest.fixture
def doubled(empty_folder: Path, provider: StubProvider, tmp_path: Path) -> Iterator[Application]:
    """Two notes with companions in both spaces, nothing loaded yet."""
    shutil.copytree(empty_folder, tmp_path, dirs_exist_ok=True)
    with opened(tmp_path, second_values(provider)) as application:
        plant(application, [0.9, 0.8])
        fill_both(application)
        yield application


def view_of(application: Application, *wanted: str) -> View:
    with application.mirror.open(wanted) as (_, view):
        return view


def is_complete(application: Application) -> bool | None:
    view = view_of(application, *WANTED)
    assert view.second is not None
    return view.second.is_complete


def held_and_stored(application: Application) -> tuple[dict[str, set[int]], dict[str, set[int]]]:
    """The ids that each index holds, and those that its snapshot has."""
    assert application.second is not None
    query = np.ones(application.second.embedder.known_dimension or 0, np.float32)
    with application.mirror.open(WANTED) as (connection, view):
        held = {part: {each.chunk_id for each in view.vectors[part].search(query, 10_000)}
                for part in WANTED}  # fmt: skip
        stored = {
            part: set(
                connection.execute(
                    text("SELECT id FROM embeddings WHERE space_id = :space AND kind = :kind"),
                    {"space": application.second.space_id, "kind": kind},
                ).scalars()
            )
            for part, kind in SECOND_PARTS.items()
        }
    return held, stored


def assert_in_step(application: Application) -> None:
    held, stored = held_and_stored(application)
    assert held == stored


def test_nothing_of_it_is_loaded_before_it_is_wanted(doubled: Application) -> None:
    with recorded_statements(doubled.database) as statements:
        view = view_of(doubled, "chunk")
    assert set(view.vectors) == {"chunk"}
    assert view.second is not None
    assert view.second.is_complete is None
    assert not [each for each in statements if "note_spaces" in each]
    assert set(view_of(doubled, SECOND_FIELD).vectors) == {"chunk", SECOND_FIELD}


def test_it_is_found_complete_once(doubled: Application) -> None:
    assert is_complete(doubled) is True
    with recorded_statements(doubled.database) as statements:
        assert is_complete(doubled) is True
    assert len(statements) == 1


def test_words_that_change_leave_it_complete(doubled: Application) -> None:
    assert is_complete(doubled) is True
    doubled.writer.edit_note(1, NotePatch({"aliases": ("walrus",)}))
    view = view_of(doubled)
    assert view.second is not None
    assert view.second.is_complete is True


def create(application: Application) -> None:
    application.writer.create_note(NoteDraft("new", "cos=0.5"))


def edit(application: Application) -> None:
    application.writer.edit_note(1, NotePatch({"title": "new"}))


def edit_tags(application: Application) -> None:
    application.writer.edit_note(1, NotePatch({"tags": ("new",)}))


def delete(application: Application) -> None:
    application.writer.delete_note(1)


def embed_again(application: Application) -> None:
    application.batches.embed_many([1, 2])


def clear(application: Application) -> None:
    assert application.second_companions is not None
    application.second_companions.clear()


WRITES: dict[Callable[[Application], None], bool] = {
    create: False,
    edit: False,
    edit_tags: True,
    delete: True,
    embed_again: True,
    clear: False,
}
"""Writes, and whether the space is complete after them."""


@pytest.mark.parametrize("write", WRITES, ids=lambda write: str(write.__name__))
@pytest.mark.parametrize("who", ["this process", "another"])
def test_it_follows_every_write(
    doubled: Application,
    provider: StubProvider,
    tmp_path: Path,
    write: Callable[[Application], None],
    who: str,
) -> None:
    assert is_complete(doubled) is True
    with opened(tmp_path, second_values(provider)) as other:
        write(doubled if who == "this process" else other)
        assert is_complete(doubled) is WRITES[write]
        assert_in_step(doubled)
        fill_both(other)
        assert is_complete(doubled) is True
        assert_in_step(doubled)


def test_a_note_that_waits_does_not_make_it_incomplete(
    doubled: Application, provider: StubProvider
) -> None:
    provider.behave(status(500))
    create(doubled)
    assert is_complete(doubled) is True
    provider.behave(fine)
    doubled.batches.embed_many([3])
    assert is_complete(doubled) is False


def test_a_change_of_the_active_space_keeps_it(doubled: Application) -> None:
    assert is_complete(doubled) is True
    with transaction(doubled.database) as unit:
        unit.connection.execute(text("UPDATE embedding_spaces SET border = 0.7 WHERE active = 1"))
        unit.changed_space(1)
    assert set(view_of(doubled).vectors) == set(WANTED)
    assert is_complete(doubled) is True
    assert_in_step(doubled)


def test_a_process_without_the_model_knows_nothing_of_it(
    doubled: Application, provider: StubProvider, tmp_path: Path
) -> None:
    with opened(tmp_path, stub_values(provider)) as other:
        view = view_of(other, *WANTED, "whole")
        assert (view.second, set(view.vectors)) == (None, {"whole"})


def test_vectors_are_centred_by_the_means_of_their_own_space(doubled: Application) -> None:
    view = view_of(doubled, SECOND_WHOLE, "whole")
    assert view.means_for("whole") is None
    assert view.second is not None
    assert view.means_for(SECOND_WHOLE) is view.second.means is not None
    assert doubled.second is not None
    stored = view.vectors[SECOND_WHOLE]
    raw = doubled.second.embedder.embed_passages(["note 0\n\ncos=0.9"])[0]
    best = stored.search(raw, 1)[0].cosine
    # The vector of the text itself would have cosine 1 to one that is not centred.
    assert best < 0.9


def test_merges_keep_every_vector(doubled: Application) -> None:
    assert is_complete(doubled) is True
    for number in range(4):
        doubled.writer.create_note(NoteDraft(f"new {number}", "cos=0.5"))
        fill_both(doubled)
        assert_in_step(doubled)
    assert is_complete(doubled) is True
