"""Embedding many stored notes: one bad text, a provider that is away, notes that change."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.domain.notes import NotePatch
from app.errors import NoteNotFound
from app.factory import Application
from app.sync.batches import GROUP
from tests.support.application import ask, found_ids, opened, stub_values
from tests.support.provider import (
    Behaviour,
    StubProvider,
    raw,
    refused_address,
    status,
    vectors,
)
from tests.sync.conftest import (
    POISON,
    chunk_texts,
    meanwhile,
    note_of,
    refusing_poison,
    statuses,
    take_in,
)


def test_notes_are_embedded_in_few_calls(application: Application, provider: StubProvider) -> None:
    ids = take_in(application, [f"cos=0.{number}" for number in range(60, 60 + GROUP + 1)])
    done: list[int] = []
    report = application.batches.embed_many(application.batches.unembedded(), done.append)
    assert (report.embedded, report.chunks, report.reasons) == (GROUP + 1, GROUP + 1, {})
    assert done == [GROUP, GROUP + 1]
    assert [len(request.texts) for request in provider.requests] == [GROUP, 1]
    assert statuses(application) == ["done"] * (GROUP + 1)
    assert found_ids(ask(application, limit=50)) == ids[::-1]
    assert application.batches.unembedded() == ()


def test_one_bad_text_fails_one_note(application: Application, provider: StubProvider) -> None:
    provider.behave(refusing_poison)
    ids = take_in(application, ["cos=0.7", f"{POISON} cos=0.9", "cos=0.8"])
    report = application.batches.embed_many(ids)
    assert report.embedded == 2
    assert list(report.reasons) == [ids[1]]
    assert "answered with status 400" in report.reasons[ids[1]]
    assert statuses(application) == ["done", "failed", "done"]
    assert note_of(application, ids[1]).embedding_error == report.reasons[ids[1]]
    assert found_ids(ask(application)) == [ids[2], ids[0]]


@pytest.mark.parametrize(
    "answer",
    [vectors([]), vectors([[1.0] * 8] * 3), vectors([[0.0] * 8] * 2), vectors([[]] * 2),
     vectors("nonsense"), raw(b"<html>")],
    ids=["none", "too many", "zeros", "empty", "no list", "no JSON"],
)  # fmt: skip
def test_an_invalid_answer_stores_nothing(
    application: Application, provider: StubProvider, answer: Behaviour
) -> None:
    ids = take_in(application, ["one", "two"])
    provider.behave(answer)
    report = application.batches.embed_many(ids)
    assert sorted(report.reasons) == ids
    assert statuses(application) == ["failed", "failed"]
    assert [chunk_texts(application, note_id) for note_id in ids] == [[], []]


def test_a_provider_that_is_away_costs_one_group(
    application: Application, provider: StubProvider, tmp_path: Path
) -> None:
    ids = take_in(application, [f"note {number}" for number in range(GROUP + 3)])
    with (
        refused_address() as address,
        opened(tmp_path, stub_values(provider, base_url=address)) as cut_off,
    ):
        report = cut_off.batches.embed_many(ids)
    assert report.embedded == 0
    assert sorted(report.reasons) == ids[:GROUP]
    assert statuses(application) == ["failed"] * GROUP + ["pending"] * 3
    assert application.batches.unembedded() == tuple(ids)
    application.batches.embed_many(application.batches.unembedded())
    assert statuses(application) == ["done"] * (GROUP + 3)


def test_cancelling_stops_before_the_next_group(application: Application) -> None:
    ids = take_in(application, [f"note {number}" for number in range(GROUP + 3)])
    answers = iter([False, True])
    report = application.batches.embed_many(ids, is_cancelled=lambda: next(answers))
    assert report.embedded == GROUP
    assert statuses(application) == ["done"] * GROUP + ["pending"] * 3


def test_a_note_that_was_edited_meanwhile_keeps_the_newer_vectors(
    application: Application, provider: StubProvider, tmp_path: Path
) -> None:
    first, second = take_in(application, ["cos=0.7", "cos=0.6"])
    with opened(tmp_path, stub_values(provider)) as other:
        provider.behave(
            meanwhile(lambda: other.writer.edit_note(first, NotePatch({"title": "cos=0.9 newer"})))
        )
        application.batches.embed_many([first, second])
    assert chunk_texts(application, first) == ["cos=0.9 newer\n\n"]
    assert statuses(application) == ["done", "done"]
    assert [(found.note_id, found.score) for found in ask(application).found] == [
        (first, 0.9), (second, 0.6),
    ]  # fmt: skip


def test_a_note_that_was_deleted_meanwhile_stays_away(
    application: Application, provider: StubProvider, tmp_path: Path
) -> None:
    first, second = take_in(application, ["cos=0.7", "cos=0.6"])
    with opened(tmp_path, stub_values(provider)) as other:
        provider.behave(meanwhile(lambda: other.writer.delete_note(first)))
        application.batches.embed_many([first, second])
    assert found_ids(ask(application)) == [second]
    assert chunk_texts(application, first) == []


def test_a_reason_goes_when_the_note_is_embedded(
    application: Application, provider: StubProvider
) -> None:
    (note_id,) = take_in(application, ["cos=0.7"])
    provider.behave(status(503))
    application.batches.embed_many([note_id])
    assert "answered with status 503" in str(note_of(application, note_id).embedding_error)
    provider.behave(meanwhile(lambda: None))
    assert application.batches.embed_one(note_id) == 1
    assert note_of(application, note_id).embedding_error is None


def test_an_unknown_note_is_not_found(application: Application) -> None:
    with pytest.raises(NoteNotFound):
        application.batches.embed_one(99)
    assert application.batches.embed_many([99, 100]).embedded == 0
