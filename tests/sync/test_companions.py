"""Vectors of whole notes and of their fields: of which texts, when, and what becomes of them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy.exc import IntegrityError

from app.domain.chunks import KIND_CHUNK, KIND_FIELD, KIND_WHOLE, Chunk
from app.domain.notes import Note, NoteDraft, NotePatch
from app.errors import ProviderRejected, ProviderUnreachable, SpaceMismatch
from app.factory import Application
from app.sync import companions as module
from app.sync.companions import companions_of
from app.sync.texts import LONGEST_PARAGRAPH
from tests.support.application import (
    PLANTED_DIMENSION,
    ask,
    found_ids,
    opened,
    plant,
    request,
    stub_values,
)
from tests.support.companions import Companion, companions, notes_with_companions
from tests.support.provider import (
    Behaviour,
    StubProvider,
    fine,
    of_dimension,
    raw,
    refused_address,
    status,
)
from tests.sync.conftest import (
    POISON,
    dump,
    meanwhile,
    note_of,
    refuse_changes,
    refusing_poison,
    rows,
    statuses,
    take_in,
)

PLENTY = 100_000
QUERY = np.eye(1, PLANTED_DIMENSION, dtype=np.float32)[0]

NOTE = Note(
    id=1, conversation_id="c", title="title", summary="summary", key_conclusions=["one", "two"],
    code_snippets=[], raw_llm_response=None, is_edited=False, embedding_status="done",
    project_key=None, scope="project", source_type="manual", source_agent="unknown",
    task_kind=None, error_signatures=[], files_touched=[], outcome_type=None, created_at="",
    updated_at=None, source="manual", project_name="", project_dir="", tags=("tag",), body=None,
    aliases=("a",), path=None, slug=None, external_id=None, embedding_error=None,
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "whole", "fields"),
    [
        ({}, "title\n\nsummary\n\none\ntwo", {0: "title", 1: "summary", 2: "one\ntwo"}),
        ({"title": " \t"}, "summary\n\none\ntwo", {1: "summary", 2: "one\ntwo"}),
        ({"summary": ""}, "title\n\none\ntwo", {0: "title", 2: "one\ntwo"}),
        ({"key_conclusions": []}, "title\n\nsummary", {0: "title", 1: "summary"}),
        ({"key_conclusions": "one"}, "title\n\nsummary", {0: "title", 1: "summary"}),
        ({"key_conclusions": [1, "one"]}, "title\n\nsummary\n\none",
         {0: "title", 1: "summary", 2: "one"}),
        ({"title": "", "summary": " ", "key_conclusions": ["", " "]}, "\n\n \n\n\n \n\ntag", {}),
        ({"title": "", "summary": "", "key_conclusions": [], "tags": ()}, None, {}),
    ],
    ids=["all", "no title", "no summary", "no conclusions", "no list", "no texts", "tags alone",
         "nothing"],
)  # fmt: skip
def test_a_note_has_itself_and_its_fields_that_are_not_blank(
    changes: dict[str, Any], whole: str | None, fields: dict[int, str]
) -> None:
    """Numbered 0 title, 1 summary, 2 conclusions, whichever of them are missing."""
    expected = [] if whole is None else [Chunk(0, whole, KIND_WHOLE)]
    expected += [Chunk(number, text, KIND_FIELD) for number, text in fields.items()]
    assert companions_of(replace(NOTE, **changes), PLENTY) == tuple(expected)


@pytest.mark.parametrize(
    ("max_chars", "longest"), [(PLENTY, LONGEST_PARAGRAPH), (300, 300)], ids=["ours", "model's"]
)
def test_no_text_is_longer_than_a_chunk_may_be(max_chars: int, longest: int) -> None:
    note = replace(NOTE, title="t" * 5_000, summary="s" * 100, key_conclusions=["c" * 4_000] * 2)
    found = companions_of(note, max_chars)
    assert [len(each.text) for each in found] == [longest, longest, 100, longest]
    assert [each.text[0] for each in found] == ["t", "t", "s", "c"]


def test_what_the_limit_leaves_blank_is_left_out() -> None:
    note = replace(NOTE, summary=" " * LONGEST_PARAGRAPH + "too late")
    assert [each.index for each in companions_of(note, PLENTY)] == [0, 0, 2]


def make_three(application: Application) -> list[int]:
    """Two notes with all fields and one with a title alone."""
    drafts = [
        NoteDraft("cos=0.9", "cos=0.8", key_conclusions=("cos=0.7", "x")),
        NoteDraft("cos=0.6", "cos=0.5"),
        NoteDraft("cos=0.4", ""),
    ]
    return [application.writer.create_note(draft) for draft in drafts]


def test_they_are_stored_with_their_vectors_and_told_of_by_kind(application: Application) -> None:
    first, second, third = make_three(application)
    assert companions(application) == []
    assert application.companions.missing() == (first, second, third)
    assert application.companions.fill() == 3
    assert companions(application) == [
        Companion(first, KIND_WHOLE, 0, "cos=0.9\n\ncos=0.8\n\ncos=0.7\nx"),
        Companion(first, KIND_FIELD, 0, "cos=0.9"),
        Companion(first, KIND_FIELD, 1, "cos=0.8"),
        Companion(first, KIND_FIELD, 2, "cos=0.7\nx"),
        Companion(second, KIND_WHOLE, 0, "cos=0.6\n\ncos=0.5"),
        Companion(second, KIND_FIELD, 0, "cos=0.6"),
        Companion(second, KIND_FIELD, 1, "cos=0.5"),
        Companion(third, KIND_WHOLE, 0, "cos=0.4"),
        Companion(third, KIND_FIELD, 0, "cos=0.4"),
    ]
    with application.mirror.open((KIND_CHUNK, KIND_WHOLE, KIND_FIELD)) as (_, view):
        found = {
            kind: [round(each.cosine, 4) for each in index.search(QUERY, 10)]
            for kind, index in view.vectors.items()
        }
    assert found == {
        KIND_CHUNK: [0.9, 0.6, 0.4],
        KIND_WHOLE: [0.9, 0.6, 0.4],
        KIND_FIELD: [0.9, 0.8, 0.7, 0.6, 0.5, 0.4],
    }
    told = rows(
        application, "SELECT kind, count(*) FROM index_changes WHERE operation = 'add'"
        " AND what = 'vector' GROUP BY kind ORDER BY kind",
    )  # fmt: skip
    assert told == [(KIND_CHUNK, 3), (KIND_FIELD, 6), (KIND_WHOLE, 3)]


def test_nothing_missing_means_no_call_and_no_write(
    application: Application, provider: StubProvider
) -> None:
    make_three(application)
    application.companions.fill()
    before, asked = dump(application), len(provider.requests)
    assert application.companions.missing() == ()
    assert application.companions.fill() == 0
    assert dump(application) == before
    assert len(provider.requests) == asked


def test_equal_texts_are_embedded_once(application: Application, provider: StubProvider) -> None:
    for _ in range(2):
        application.writer.create_note(NoteDraft("cos=0.4", ""))
    application.companions.fill()
    assert provider.requests[-1].texts == ["cos=0.4"]
    assert len(companions(application)) == 4


def test_only_embedded_notes_have_them(application: Application, provider: StubProvider) -> None:
    (done,) = plant(application, [0.9])
    waiting = take_in(application, ["cos=0.8"])
    provider.behave(status(500))
    failed = application.writer.create_note(NoteDraft("cos=0.7", ""))
    provider.behave(fine)
    assert application.companions.fill() == 1
    assert notes_with_companions(application) == [done]
    application.batches.embed_many([*waiting, failed])
    assert application.companions.fill() == 2
    assert notes_with_companions(application) == [done, *waiting, failed]


def test_a_note_of_tags_alone_is_not_missing_for_ever(application: Application) -> None:
    note_id = application.writer.create_note(NoteDraft("", "", tags=("cos=0.9",)))
    assert statuses(application) == ["done"]
    assert application.companions.fill() == 1
    assert [each.kind for each in companions(application)] == [KIND_WHOLE]
    assert application.companions.missing() == ()
    assert found_ids(ask(application, ranker="hybrid")) == [note_id]


EDITS: dict[str, tuple[dict[str, Any], bool]] = {
    "title": ({"title": "cos=0.3"}, True),
    "summary": ({"summary": "cos=0.3"}, True),
    "conclusions": ({"key_conclusions": ()}, True),
    "text moved to another field": (
        {"summary": "cos=0.8", "key_conclusions": ("a\n\nb",)}, True,
    ),
    "tags": ({"tags": ("new",)}, True),
    "body": ({"body": "new"}, True),
    "aliases": ({"aliases": ("not embedded",)}, False),
    "project": ({"project": "other"}, False),
}  # fmt: skip
"""What an edit changes, and whether the companions are made anew after it."""


@pytest.mark.parametrize(("changes", "is_remade"), EDITS.values(), ids=EDITS)
def test_an_edit_drops_them_and_they_are_made_anew(
    application: Application, changes: dict[str, Any], is_remade: bool
) -> None:
    note_id = application.writer.create_note(
        NoteDraft("cos=0.9", "cos=0.8\n\na", key_conclusions=("b",))
    )
    (kept,) = plant(application, [0.7])
    application.companions.fill()
    others = [each for each in companions(application) if each.note_id == kept]
    application.writer.edit_note(note_id, NotePatch(changes))
    assert application.companions.missing() == ((note_id,) if is_remade else ())
    if is_remade:
        assert companions(application) == others
        assert_view_has_what_is_stored(application)
    assert application.companions.fill() == is_remade
    assert companions(application) == [
        Companion(each, piece.kind, piece.index, piece.text)
        for each in (note_id, kept)
        for piece in companions_of(note_of(application, each), PLENTY)
    ]
    assert_view_has_what_is_stored(application)


def assert_view_has_what_is_stored(application: Application) -> None:
    """The indexes of a process hold exactly the vectors that the table has, kind by kind."""
    with application.mirror.open((KIND_CHUNK, KIND_WHOLE, KIND_FIELD)) as (connection, view):
        held = {
            (kind, each.chunk_id)
            for kind, index in view.vectors.items()
            for each in index.search(QUERY, 1_000)
        }
        stored = connection.exec_driver_sql("SELECT kind, id FROM embeddings WHERE space_id = 1")
        assert held == {(row[0], row[1]) for row in stored}


@pytest.mark.parametrize("edit", [{"summary": "cos=0.3"},
                                  {"summary": "cos=0.8", "key_conclusions": ("a\n\nb",)}],
                         ids=["text", "text moved to another field"])  # fmt: skip
def test_an_edit_drops_those_of_other_spaces_or_leaves_them_waiting(
    application: Application, provider: StubProvider, tmp_path: Path, edit: dict[str, Any]
) -> None:
    """When the old model comes back, no companion speaks of a text that is gone."""
    application.writer.create_note(NoteDraft("cos=0.9", "cos=0.8\n\na", key_conclusions=("b",)))
    application.companions.fill()
    with opened(tmp_path, stub_values(provider, model="another")) as other:
        other.batches.embed_many(other.batches.unembedded())
        other.writer.edit_note(1, NotePatch(edit))
    with opened(tmp_path, stub_values(provider)) as back:
        back.batches.embed_many(back.batches.unembedded())
        assert back.companions.fill() == 1
        expected = companions_of(note_of(back, 1), PLENTY)
        assert [each.text for each in companions(back)] == [piece.text for piece in expected]


@pytest.mark.parametrize(
    "deed",
    [
        lambda application: application.writer.edit_note(1, NotePatch({"title": "cos=0.3"})),
        lambda application: application.writer.edit_note(
            1, NotePatch({"summary": "cos=0.8", "key_conclusions": ("a\n\nb",)})
        ),
        lambda application: application.writer.delete_note(1),
    ],
    ids=["edit", "text moved to another field", "delete"],
)
def test_a_note_that_changes_while_they_are_made_keeps_no_stale_ones(
    application: Application, provider: StubProvider, deed: Callable[[Application], object]
) -> None:
    application.writer.create_note(NoteDraft("cos=0.9", "cos=0.8\n\na", key_conclusions=("b",)))
    (kept,) = plant(application, [0.7])
    provider.behave(meanwhile(lambda: deed(application)))
    assert application.companions.fill() == 1
    assert notes_with_companions(application) == [kept]
    assert_view_has_what_is_stored(application)
    application.companions.fill()
    assert application.companions.missing() == ()
    assert_view_has_what_is_stored(application)


def test_two_processes_that_make_them_at_once_store_them_once(
    application: Application, provider: StubProvider, tmp_path: Path
) -> None:
    make_three(application)
    with opened(tmp_path, stub_values(provider)) as other:
        provider.behave(meanwhile(other.companions.fill))
        assert application.companions.fill() == 0
        assert len(companions(application)) == 9
        assert_view_has_what_is_stored(application)


FAULTS: dict[str, tuple[Behaviour, type[Exception]]] = {
    "500": (status(500), ProviderRejected),
    "401": (status(401), ProviderRejected),
    "dimension": (of_dimension(16), SpaceMismatch),
}


@pytest.mark.parametrize(("behaviour", "error"), FAULTS.values(), ids=FAULTS)
def test_a_failing_provider_keeps_what_was_made_and_leaves_the_rest(
    application: Application,
    provider: StubProvider,
    monkeypatch: pytest.MonkeyPatch,
    behaviour: Behaviour,
    error: type[Exception],
) -> None:
    monkeypatch.setattr(module, "GROUP", 2)
    ids = plant(application, [0.9, 0.8, 0.7, 0.6, 0.5])
    provider.behave(behaviour, script=[fine])
    progress: list[int] = []
    with pytest.raises(error):
        application.companions.fill(progress.append)
    assert progress == [2]
    assert notes_with_companions(application) == ids[:2]
    assert application.companions.missing() == tuple(ids[2:])
    assert statuses(application) == ["done"] * 5
    provider.behave(fine)
    assert application.companions.fill(progress.append) == 3
    assert progress == [2, 2, 3]
    assert notes_with_companions(application) == ids


def test_a_provider_that_is_not_there(application: Application, tmp_path: Path) -> None:
    make_three(application)
    with refused_address() as address:
        values = {"embedding.provider": "openai", "embedding.base_url": address,
                  "embedding.retries": "0"}  # fmt: skip
        with opened(tmp_path, values) as other, pytest.raises(ProviderUnreachable):
            other.companions.fill()
    assert companions(application) == []


def test_one_refused_text_leaves_one_note_without(
    application: Application, provider: StubProvider, caplog: pytest.LogCaptureFixture
) -> None:
    """As one that is too long for the model, though its chunks are not."""
    ids = [
        application.writer.create_note(NoteDraft(title, ""))
        for title in ("cos=0.9", f"{POISON} cos=0.8", "cos=0.7")
    ]
    provider.behave(refusing_poison)
    with caplog.at_level(logging.WARNING):
        assert application.companions.fill() == 2
    assert notes_with_companions(application) == [ids[0], ids[2]]
    assert [each for each in caplog.messages if "status 400" in each]
    with pytest.raises(ProviderRejected):
        application.companions.fill()
    ids.append(application.writer.create_note(NoteDraft("cos=0.6", "")))
    assert application.companions.fill() == 1
    provider.behave(fine)
    assert application.companions.fill() == 1
    assert notes_with_companions(application) == ids


def test_an_answer_that_is_no_list_of_vectors_is_no_companion(
    application: Application, provider: StubProvider
) -> None:
    make_three(application)
    provider.behave(raw(b"<html>"))
    with pytest.raises(Exception, match="no JSON"):
        application.companions.fill()
    assert companions(application) == []


def test_a_write_that_fails_at_its_end_leaves_nothing(application: Application) -> None:
    make_three(application)
    refuse_changes(application)
    before = dump(application)
    with pytest.raises(IntegrityError, match="refused by a trigger"):
        application.companions.fill()
    assert dump(application) == before


def test_it_can_be_cancelled_between_groups(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GROUP", 2)
    ids = plant(application, [0.9, 0.8, 0.7])
    progress: list[int] = []
    assert application.companions.fill(progress.append, lambda: bool(progress)) == 2
    assert notes_with_companions(application) == ids[:2]


@pytest.mark.parametrize(
    "deed",
    [
        lambda application: application.writer.delete_note(1),
        lambda application: application.writer.delete_conversation(
            rows(application, "SELECT conversation_id FROM notes WHERE id = 1")[0][0]
        ),
    ],
    ids=["note", "conversation"],
)
def test_they_go_with_their_note(
    application: Application, deed: Callable[[Application], object]
) -> None:
    make_three(application)
    application.companions.fill()
    assert_view_has_what_is_stored(application)
    deed(application)
    assert notes_with_companions(application) == [2, 3]
    assert_view_has_what_is_stored(application)


def test_embedding_anew_makes_them_anew(application: Application) -> None:
    """The model may have become another under its name."""
    ids = make_three(application)
    application.companions.fill()
    before = companions(application)
    application.batches.embed_many(ids[:2])
    assert application.companions.missing() == tuple(ids[:2])
    application.companions.fill()
    assert companions(application) == before
    assert_view_has_what_is_stored(application)


def test_those_of_one_space_do_for_no_other(
    application: Application, provider: StubProvider, tmp_path: Path
) -> None:
    make_three(application)
    application.companions.fill()
    with opened(tmp_path, stub_values(provider, model="another")) as other:
        assert other.companions.missing() == ()
        other.batches.embed_many(other.batches.unembedded())
        assert other.companions.missing() == (1, 2, 3)
        other.companions.fill()
        assert companions(other, 2) == companions(other, 1)
    with opened(tmp_path, stub_values(provider)) as back:
        assert back.companions.missing() == ()


def answers(application: Application, ranker: str) -> object:
    answer = ask(application, "cos", ranker=ranker, explain=True, cut=False, limit=50)
    assert answer.explanation is not None
    varying = {"milliseconds": None, "sequence": None}
    return answer.found, answer.explanation | varying


@pytest.mark.parametrize("ranker", ["chatcrystal", "v049", "vector", "fusion"])
def test_rankers_of_chunks_never_see_them(application: Application, ranker: str) -> None:
    make_three(application)
    before = answers(application, ranker)
    application.companions.fill()
    assert answers(application, ranker) == before
    explanation = ask(application, "cos", ranker=ranker, explain=True).explanation
    assert explanation is not None
    assert explanation["searched_chunks"] == 3
    chunk_ids = [row[0] for row in rows(application, "SELECT id FROM embeddings"
                                        " WHERE kind = 'chunk' ORDER BY id")]  # fmt: skip
    assert sorted(each["chunk_id"] for each in explanation["candidates"]) == chunk_ids


def test_the_rank_of_a_best_chunk_counts_chunks_alone(application: Application) -> None:
    first, second, third = make_three(application)
    application.companions.fill()
    for note_id, rank in ((first, 1), (second, 2), (third, 3)):
        answer = application.searcher.why(request("x", ranker="hybrid"), note_id)
        assert answer.best_chunk is not None
        assert answer.best_chunk["rank"] == rank
