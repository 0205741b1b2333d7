"""Which space is active, what a start mends, and how long the feed is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

from app.domain.notes import NotePatch
from app.factory import Application
from app.sync import spaces
from tests.support.application import ask, found_ids, opened, plant, stub_values
from tests.support.provider import StubProvider
from tests.sync.conftest import dump, rows, statuses


def test_a_done_note_that_lacks_its_chunks_becomes_pending_at_the_start(
    application: Application, provider: StubProvider, tmp_path: Path
) -> None:
    plant(application, [0.9, 0.8, 0.7])
    with application.database.write() as connection:
        connection.execute(text("DELETE FROM embeddings WHERE note_id = 2"))
        connection.execute(text("UPDATE notes SET embedding_status = 'failed' WHERE id = 3"))
    with opened(tmp_path, stub_values(provider)) as started:
        assert statuses(started) == ["done", "pending", "failed"]
        assert rows(started, "SELECT status FROM note_spaces ORDER BY note_id") == [
            ("done",), ("pending",), ("done",),
        ]  # fmt: skip
        assert found_ids(ask(started)) == [1]
        assert started.batches.unembedded() == (2, 3)
        started.batches.embed_many(started.batches.unembedded())
        assert found_ids(ask(started)) == [1, 2, 3]


def test_a_sound_start_writes_nothing(
    application: Application, provider: StubProvider, tmp_path: Path
) -> None:
    plant(application, [0.9])
    before = dump(application)
    with opened(tmp_path, stub_values(provider)) as started:
        assert dump(started) == before


def test_going_to_another_model_and_back_embeds_once(
    application: Application, provider: StubProvider, tmp_path: Path
) -> None:
    plant(application, [0.9, 0.8])
    with opened(tmp_path, stub_values(provider, model="another")) as other:
        assert statuses(other) == ["pending", "pending"]
        other.batches.embed_many(other.batches.unembedded())
        assert statuses(other) == ["done", "done"]
    asked = len(provider.requests)
    with opened(tmp_path, stub_values(provider)) as back:
        assert statuses(back) == ["done", "done"]
        assert len(provider.requests) == asked
        assert rows(back, "SELECT model, active, dimension FROM embedding_spaces ORDER BY id") == [
            ("text-embedding-3-small", 1, 8), ("another", 0, 8),
        ]  # fmt: skip
        assert found_ids(ask(back)) == [1, 2]


@pytest.mark.parametrize(
    ("patch", "status"),
    [
        ({"summary": "cos=0.1"}, "pending"),
        ({"tags": ("new",)}, "pending"),
        ({"aliases": ("b",)}, "done"),
    ],
    ids=["text", "tags", "not embedded"],
)
def test_a_note_edited_in_one_space_is_outdated_in_the_other(
    application: Application,
    provider: StubProvider,
    tmp_path: Path,
    patch: dict[str, object],
    status: str,
) -> None:
    """Its vectors there speak of a text that is gone, whichever process makes the edit."""
    plant(application, [0.9, 0.8])
    with opened(tmp_path, stub_values(provider, model="another")) as other:
        other.batches.embed_many(other.batches.unembedded())
        other.writer.edit_note(1, NotePatch(patch))
        assert statuses(other) == ["done", "done"]
        application.writer.edit_note(2, NotePatch(patch))
        assert statuses(other) == ["done", status]
    with opened(tmp_path, stub_values(provider)) as back:
        assert statuses(back) == [status, "done"]
        back.batches.embed_many(back.batches.unembedded())
        expected = [] if "summary" in patch else [1, 2]
        assert found_ids(ask(back)) == expected


def test_the_feed_does_not_grow_for_ever(
    application: Application,
    provider: StubProvider,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Kept are so many entries, or twice the chunks; a start drops the rest."""
    monkeypatch.setattr(spaces, "KEPT_CHANGES", 7)
    ids = plant(application, [0.6] * 12)
    with opened(tmp_path, stub_values(provider)) as started:
        assert len(rows(started, "SELECT id FROM index_changes")) > 12
    for note_id in ids[2:]:
        application.writer.delete_note(note_id)
    with opened(tmp_path, stub_values(provider)) as started:
        # A transaction's entries, of a vector and of a lexical document, stay or go together.
        assert len(rows(started, "SELECT id FROM index_changes")) == 6
        assert found_ids(ask(started)) == ids[:2] == found_ids(ask(application))
    before = dump(application)
    with opened(tmp_path, stub_values(provider)):
        assert dump(application) == before
