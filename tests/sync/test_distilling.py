"""Distilling stored conversations: notes with their status, growth, edits, failures, models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.db import notes
from app.domain.notes import Note, NotePatch
from app.errors import ConfigurationError, ConversationNotFound, EditConflict
from app.factory import Application
from tests.distill.talks import DECISION, NOT_WORTH, POOL, ZH_CACHE
from tests.support.application import opened, recorded_statements, stub_values
from tests.support.chat import answering
from tests.support.provider import StubProvider, status
from tests.support.talks import put, standing
from tests.sync.conftest import dump, refuse_changes

GREETING = NOT_WORTH["greeting"][0]
ANSWER = {
    "title": "Handles kept open",
    "summary": "The writer kept every handle.",
    "key_conclusions": ["Close files."],
    "code_snippets": [],
    "tags": ["Python"],
    "error_signatures": [],
    "files_touched": [],
    "task_kind": "debug",
    "outcome_type": "fix",
}


def note_of(application: Application, id_: str) -> Note | None:
    with application.database.read() as connection:
        note_id = notes.id_of_conversation(connection, id_)
        return None if note_id is None else notes.get(connection, note_id)


def distil(application: Application, *ids: str, **more: Any) -> Any:
    return application.knowledge.distiller.distil(ids, **more)


def test_a_conversation_becomes_a_note_that_is_found(application: Application) -> None:
    put(application, "pool", POOL, name="Too many open files")
    report = distil(application, "pool")
    note = note_of(application, "pool")
    assert note is not None
    assert report.noted == {"pool": note.id}
    assert note.title == "Too many open files"
    assert note.embedding_status == "done"
    assert note.files_touched[0] == "export/writer.py"
    assert note.error_signatures == ["OSError: [Errno 24] Too many open files"]
    assert note.source_agent == "claude" and note.source_type == "imported-conversation"
    assert note.project_key is not None and note.project_key.startswith("cwd:")
    assert note.created_at == "2026-02-01 10:00:00"
    assert "python" in note.tags
    found = standing(application, "pool")
    assert found.status == "summarized"
    assert found.experience_score > 60
    assert found.experience_gate_reason == "accepted"


def test_what_is_worth_no_note_is_filtered_with_its_reason(application: Application) -> None:
    put(application, "hi", GREETING)
    assert distil(application, "hi").filtered == ["hi"]
    found = standing(application, "hi")
    assert (found.status, found.experience_gate_reason) == ("filtered", "small-talk")
    details = json.loads(found.experience_gate_details)
    assert details["decision"] == "reject"
    assert details["score"] == found.experience_score
    assert note_of(application, "hi") is None


def test_doing_it_again_changes_nothing(application: Application) -> None:
    for id_, said in (("pool", POOL), ("缓存", ZH_CACHE), ("hi", GREETING)):
        put(application, id_, said)
    distil(application, "pool", "缓存", "hi")
    before = dump(application)
    again = distil(application, "pool", "缓存", "hi")
    assert again.unchanged == 3
    assert not again.noted
    assert dump(application) == before


def test_a_group_shares_new_tags_and_is_embedded_at_once(application: Application) -> None:
    ids = [put(application, f"c{n}", (POOL, ZH_CACHE, DECISION)[n % 3]) for n in range(9)]
    distil(application, *ids)
    found = [note_of(application, id_) for id_ in ids]
    assert [note and note.embedding_status for note in found] == ["done"] * 9


def test_notes_wait_for_their_relations_until_those_are_looked_for(
    application: Application,
) -> None:
    put(application, "pool", POOL)
    put(application, "缓存", ZH_CACHE)
    written = tuple(sorted(distil(application, "pool", "缓存").noted.values()))
    relater = application.knowledge.relater
    assert relater.awaiting() == written
    relater.relate(written[:1])
    assert relater.awaiting() == written[1:]
    relater.relate(written)
    assert relater.awaiting() == ()


def test_many_conversations_take_no_more_statements_each(application: Application) -> None:
    few = [put(application, f"a{n}", POOL) for n in range(2)]
    many = [put(application, f"b{n}", POOL) for n in range(12)]
    with recorded_statements(application.database) as for_few:
        distil(application, *few)
    with recorded_statements(application.database) as for_many:
        distil(application, *many)
    assert len(for_many) <= len(for_few) / len(few) * len(many)


def test_one_that_grew_is_distilled_again_in_place(application: Application) -> None:
    put(application, "c", POOL[:2])
    distil(application, "c")
    assert standing(application, "c").status == "filtered"
    put(application, "c", POOL)
    first = distil(application, "c").noted["c"]
    lesson = (
        "assistant",
        "I also limited the pool to 20 open files in export/pool.py, because "
        "a cache without a bound was the reason in the first place.",
    )
    put(application, "c", [*POOL, ("user", "and the pool?"), lesson])
    assert distil(application, "c").noted["c"] == first
    note = note_of(application, "c")
    assert note is not None and "export/pool.py" in note.files_touched
    assert standing(application, "c").status == "summarized"


def test_an_edited_note_is_never_overwritten(application: Application) -> None:
    put(application, "c", POOL)
    note_id = distil(application, "c").noted["c"]
    application.writer.edit_note(note_id, NotePatch({"title": "Mine"}))
    put(application, "c", [*POOL, ("user", "one more thing: why did it fail with an error?")])
    assert distil(application, "c").unchanged == 1
    note = note_of(application, "c")
    assert note is not None and note.title == "Mine"
    assert standing(application, "c").status == "summarized"


def test_note_and_status_commit_together_or_not_at_all(application: Application) -> None:
    put(application, "c", POOL)
    before = dump(application)
    refuse_changes(application)
    with pytest.raises(Exception, match="refused by a trigger"):
        distil(application, "c")
    assert [line for line in dump(application) if "refused by" not in line] == before


def test_a_provider_that_is_away_leaves_an_error_that_can_be_tried_again(
    application: Application, provider: StubProvider
) -> None:
    put(application, "c", POOL)
    put(application, "hi", GREETING)
    provider.behave(status(400))
    report = distil(application, "c", "hi")
    assert "answered with status 400" in report.reasons["c"]
    assert standing(application, "c").status == "error"
    assert standing(application, "hi").status == "filtered"
    assert application.knowledge.reviewer.reset_errors() == 1
    assert standing(application, "c").status == "imported"


def test_what_waits_is_taken_oldest_first(application: Application) -> None:
    put(application, "new", POOL, at="2026-03-01T00:00:00Z")
    put(application, "old", POOL, at="2026-01-01T00:00:00Z", name="Named")
    put(application, "memory", POOL, source="chatcrystal-memory")
    assert application.knowledge.distiller.awaiting() == {
        "old": "shop / Named",
        "new": "shop / new",
    }


def test_keeping_overrules_the_gate_also_when_it_grows(application: Application) -> None:
    put(application, "hi", GREETING)
    distil(application, "hi")
    note_id = application.knowledge.reviewer.keep("hi")
    assert standing(application, "hi").status == "summarized"
    put(application, "hi", [*GREETING, ("user", "bye")])
    assert distil(application, "hi").noted == {"hi": note_id}


def test_dropping_deletes_the_note_for_good(application: Application) -> None:
    put(application, "c", POOL)
    distil(application, "c")
    application.knowledge.reviewer.drop("c")
    assert note_of(application, "c") is None
    put(application, "c", [*POOL, ("user", "more")])
    assert not distil(application, "c").noted
    assert standing(application, "c").status == "filtered"


def test_dropping_spares_an_edited_note(application: Application) -> None:
    put(application, "c", POOL)
    note_id = distil(application, "c").noted["c"]
    application.writer.edit_note(note_id, NotePatch({"title": "Mine"}))
    with pytest.raises(EditConflict, match=f"Note {note_id} was edited"):
        application.knowledge.reviewer.drop("c")


@pytest.mark.parametrize("id_", ["nobody", "note:own"])
def test_only_conversations_can_be_reviewed(application: Application, id_: str) -> None:
    put(application, "note:own", POOL, source="manual")
    for deed in (application.knowledge.reviewer.keep, application.knowledge.reviewer.drop):
        with pytest.raises(ConversationNotFound):
            deed(id_)
    assert not distil(application, id_).noted


def test_a_model_is_never_asked_unless_somebody_wants_it(tmp_path: Path) -> None:
    with StubProvider(usual=answering(ANSWER)) as stub:
        values = stub_values(stub) | {"llm.provider": "openai", "llm.base_url": stub.base_url}
        with opened(tmp_path, values) as application:
            put(application, "c", POOL)
            distil(application, "c")
            assert not [each for each in stub.requests if "messages" in each.body]
            report = distil(application, "c", with_model=True)
            note = note_of(application, "c")
            assert note is not None and report.noted == {"c": note.id}
            assert note.title == ANSWER["title"]
            assert json.loads(note.raw_llm_response or "")["tags"] == ["Python"]
            assert note.files_touched[0] == "export/writer.py"
            (asked,) = [each for each in stub.requests if "messages" in each.body]
            assert "Too many open files" in asked.body["messages"][1]["content"]
            assert distil(application, "c", with_model=True).unchanged == 1


def test_an_estimate_sends_nothing(tmp_path: Path) -> None:
    with StubProvider(usual=answering(ANSWER)) as stub:
        values = stub_values(stub) | {"llm.provider": "ollama", "llm.base_url": stub.base_url}
        with opened(tmp_path, values) as application:
            ids = [put(application, "c", POOL), put(application, "hi", GREETING)]
            estimate = application.knowledge.distiller.estimate(ids, with_model=True)
            assert estimate.conversations == 1
            assert estimate.characters > 500
            assert estimate.tokens == -(-estimate.characters // 3)
            assert estimate.model == "ollama/qwen2.5:7b"
            assert stub.requests == []
            offline = application.knowledge.distiller.estimate(ids, with_model=False)
            assert (offline.characters, offline.model) == (0, None)


def test_without_a_model_none_can_be_asked(application: Application) -> None:
    put(application, "c", POOL)
    with pytest.raises(ConfigurationError, match=r"llm\.provider"):
        distil(application, "c", with_model=True)
    assert standing(application, "c").status == "imported"


def test_a_huge_paste_is_read_at_its_beginning(application: Application) -> None:
    huge = ("user", f"{POOL[0][1]}\n{'x y ' * 200_000}")
    put(application, "c", [huge, *POOL[1:]])
    assert distil(application, "c").noted
    note = note_of(application, "c")
    assert note is not None and "x y" not in note.summary
