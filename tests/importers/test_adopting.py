"""What taking a directory over promises: nothing lost, nothing twice, nothing half done."""

import json
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.domain.adoption import AdoptionReport, AdoptionRequest
from app.domain.notes import NoteDraft, NotePatch
from app.domain.relations import RelationDraft
from app.errors import ImportFailed
from app.factory import Application, rehearsal
from app.sync.adopting import chunks, rows
from tests.importers.directories import (
    contents_of,
    edit,
    feed_of,
    index_of,
    items_of,
    one,
    state_of,
    write_items,
)
from tests.support.application import ask, found_ids, opened, request, stub_values
from tests.support.golden import differences, get, in_free_order
from tests.support.provider import StubProvider

STAGES = ("conversations", "messages", "tags", "notes", "note_relations", "embeddings")
QUERY = "connection pool"


def adopt(application: Application, source: Path, **more: Any) -> AdoptionReport:
    return application.adopter.adopt(AdoptionRequest(source, **more))


def counted(counts: Mapping[str, int]) -> dict[str, int]:
    return {kind: count for kind, count in counts.items() if count}


def note_row(application: Application, note_id: int) -> dict[str, Any]:
    return next(row for row in contents_of(application.database)["notes"] if row["id"] == note_id)


def statuses(application: Application) -> dict[int, str]:
    return {
        row["id"]: row["embedding_status"] for row in contents_of(application.database)["notes"]
    }


def test_everything_sound_is_taken_over_and_the_rest_counted(
    target: Application, source: Path
) -> None:
    report = adopt(target, source)
    assert report.added == {
        "conversations": 49,
        "messages": 12,
        "tags": 34,
        "notes": 44,
        "note_tags": 74,
        "relations": 24,
        "chunks": 53,
    }
    assert counted(report.left_out) == {
        "notes_without_conversation": 1,
        "tags_without_note": 1,
        "relations_without_note": 1,
        "vectors_without_chunk": 2,
    }
    assert counted(report.unchanged) == counted(report.renumbered) == {}
    contents = contents_of(target.database)
    assert Counter(len(contents[table]) for table in ("notes", "note_relations", "embeddings")) == {
        44: 1,
        24: 1,
        53: 1,
    }


def test_the_source_is_not_touched(target: Application, source: Path) -> None:
    before = state_of(source)
    adopt(target, source)
    assert state_of(source) == before


def test_a_search_works_at_once_and_in_another_process_too(
    target: Application, source: Path, tmp_path: Path, embedding_server: StubProvider
) -> None:
    values = stub_values(embedding_server, model="m")
    with opened(tmp_path / "own", values) as other:
        assert found_ids(ask(other, QUERY)) == []
        adopt(target, source)
        embedded = len(embedding_server.requests)
        found = found_ids(ask(target, QUERY))
        assert found[0] == 1
        assert found_ids(ask(other, QUERY)) == found
        assert len(embedding_server.requests) == embedded + 1


def test_vectors_are_kept_as_they_were(target: Application, source: Path) -> None:
    adopt(target, source)
    items = {item["id"]: item["vector"] for item in items_of(source)}
    stored = contents_of(target.database)["embeddings"]
    assert len(stored) == 53
    for row in stored:
        vector = np.frombuffer(row["vector"], np.float32)
        np.testing.assert_allclose(vector, items[row["vectra_id"]], atol=1e-7)


def test_statuses_stay_as_they_were(target: Application, source: Path) -> None:
    report = adopt(target, source)
    assert report.statuses == {"done": 40, "failed": 1, "pending": 2, "syncing": 1}
    found = statuses(target)
    assert (found[1], found[37], found[38], found[39]) == ("done", "pending", "failed", "syncing")


def test_a_second_run_changes_nothing(target: Application, source: Path) -> None:
    first = adopt(target, source)
    before, feed = contents_of(target.database), feed_of(target.database)
    second = adopt(target, source)
    assert contents_of(target.database) == before
    assert feed_of(target.database) == feed
    assert second.unchanged == first.added
    assert counted(second.added) == {}
    assert second.left_out == first.left_out


def test_a_dry_run_counts_the_same_and_changes_nothing(
    target: Application, source: Path, tmp_path: Path
) -> None:
    before, feed = contents_of(target.database), feed_of(target.database)
    with rehearsal(target.active.current.settings) as adopter:
        dry = adopter.adopt(AdoptionRequest(source), is_dry_run=True)
    assert dry.is_dry_run
    assert contents_of(target.database) == before
    assert feed_of(target.database) == feed
    real = adopt(target, source)
    assert asdict(real) == asdict(dry) | {"is_dry_run": False}
    with rehearsal(target.active.current.settings) as adopter:
        again = adopter.adopt(AdoptionRequest(source), is_dry_run=True)
    assert again.unchanged == real.added


def test_a_dry_run_makes_no_data_folder(
    source: Path, tmp_path: Path, embedding_server: StubProvider
) -> None:
    with opened(tmp_path / "other", stub_values(embedding_server)) as application:
        settings = application.active.current.settings
    shutil.rmtree(tmp_path / "other")
    with rehearsal(settings) as adopter:
        assert adopter.adopt(AdoptionRequest(source), is_dry_run=True).added["notes"] == 44
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("stage", STAGES)
def test_a_run_that_was_cut_off_is_simply_run_again(
    stage: str,
    *,
    target: Application,
    source: Path,
    tmp_path: Path,
    embedding_server: StubProvider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rows, "BATCH", 5)
    monkeypatch.setattr(chunks, "BATCH", 5)

    def stop(at: str, done: int, total: int) -> None:
        if at == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        target.adopter.adopt(AdoptionRequest(source), stop)
    done = [note_id for note_id, status in statuses(target).items() if status == "done"]
    assert len(done) == (5 if stage == "embeddings" else 0)
    assert sorted(found_ids(ask(target, QUERY, ranker="vector", limit=50))) == done
    adopt(target, source)
    with opened(tmp_path / "whole", stub_values(embedding_server, model="m")) as whole:
        adopt(whole, source)
        assert contents_of(target.database) == contents_of(whole.database)


def test_ids_are_mapped_where_others_have_them(
    target: Application, source: Path, tmp_path: Path, embedding_server: StubProvider
) -> None:
    own = [target.writer.create_note(NoteDraft(f"own {n}", "x", tags=("own",))) for n in range(3)]
    target.writer.create_relation(RelationDraft(own[0], own[1], "SIMILAR_TO"))
    report = adopt(target, source)
    # Relation 11 is missing there: from 12 on, ids are above all that were given here.
    assert report.renumbered == {"tags": 34, "notes": 44, "relations": 10}
    with opened(tmp_path / "whole", stub_values(embedding_server, model="m")) as whole:
        adopt(whole, source)
        assert references_of(target, own) == references_of(whole, [])
        pairs = zip(answers_of(target, own), answers_of(whole, []), strict=True)
        assert [differences(*pair) for pair in pairs] == [[], []]


def references_of(application: Application, without: list[int]) -> dict[str, set[Any]]:
    """What hangs on what, by names that do not depend on ids."""
    contents = contents_of(application.database)
    names = {
        row["id"]: row["conversation_id"] for row in contents["notes"] if row["id"] not in without
    }
    tags = {row["id"]: row["name"] for row in contents["tags"]}
    return {
        "tags": {
            (names[row["note_id"]], tags[row["tag_id"]])
            for row in contents["note_tags"]
            if row["note_id"] in names
        },
        "relations": {
            (names[row["source_note_id"]], names[row["target_note_id"]], row["relation_type"])
            for row in contents["note_relations"]
            if row["source_note_id"] in names
        },
        "chunks": {
            (names[row["note_id"]], row["chunk_index"], row["chunk_text"], row["vector"])
            for row in contents["embeddings"]
            if row["note_id"] in names
        },
        "states": {
            (names[row["note_id"]], row["status"], row["text_hash"])
            for row in contents["note_spaces"]
            if row["note_id"] in names
        },
    }


def answers_of(application: Application, without: list[int]) -> list[Any]:
    """Two answers with relations followed, by names that do not depend on ids."""
    flask = application.flask()
    answers = []
    for query in (QUERY, "缓存"):
        _, body = get(flask, f"/api/search?q={query}&expand=true&limit=20")
        rows = [row for row in body["data"] if row["note_id"] not in without]
        ordered = in_free_order(rows)
        answers.append([{k: v for k, v in row.items() if k != "note_id"} for row in ordered])
    return answers


def test_ids_that_others_once_had_are_not_used_again(target: Application, source: Path) -> None:
    deleted = target.writer.create_note(NoteDraft("gone", "x"))
    target.writer.delete_note(deleted)
    # Note 35 is missing there: from 36 on, ids are above all that were given here.
    assert adopt(target, source).renumbered["notes"] == 34
    assert min(statuses(target)) > deleted


def test_a_source_that_has_grown_is_taken_over_again(target: Application, source: Path) -> None:
    adopt(target, source)
    own = target.writer.create_note(NoteDraft("own", "x"))
    edit(
        source,
        "INSERT INTO conversations (id, project_dir, project_name, first_message_at,"
        " last_message_at, file_path) VALUES ('new', '', 'p', 't', 't', '')",
        "INSERT INTO notes (id, conversation_id, title, summary, embedding_status)"
        " VALUES (47, 'new', 'Added later', 'about pools', 'done')",
        "INSERT INTO note_tags VALUES (47, 2)",
        "INSERT INTO note_relations (source_note_id, target_note_id, relation_type)"
        " VALUES (47, 1, 'EXTENDS')",
        "INSERT INTO embeddings (note_id, chunk_text, vectra_id) VALUES (47, 'pools', 'new')",
    )
    write_items(source, [*items_of(source), {"id": "new", "vector": [1.0] * 64}])
    report = adopt(target, source)
    assert counted(report.added) == {
        "conversations": 1,
        "notes": 1,
        "note_tags": 1,
        "relations": 1,
        "chunks": 1,
    }
    note_id = next(
        row["id"]
        for row in contents_of(target.database)["notes"]
        if row["conversation_id"] == "new"
    )
    assert own < note_id
    assert report.renumbered["notes"] == 1
    assert statuses(target)[note_id] == "done"


def test_an_edit_made_here_survives_another_run(target: Application, source: Path) -> None:
    adopt(target, source)
    target.writer.edit_note(1, NotePatch({"title": "Edited here", "tags": ("mine",)}))
    before = contents_of(target.database)
    adopt(target, source)
    assert contents_of(target.database) == before


def test_a_comma_tag_stays_one_tag(target: Application, source: Path) -> None:
    adopt(target, source)
    _, body = get(target.flask(), "/api/notes/31")
    assert body["data"]["tags"] == ["c,c++", "sqlite", "zeta", "alpha"]


def test_invalid_json_becomes_an_empty_list_and_is_reported(
    target: Application, source: Path
) -> None:
    edit(
        source,
        "UPDATE notes SET key_conclusions = '[\"cut', error_signatures = 'no json' WHERE id = 3",
        "UPDATE notes SET code_snippets = '[NaN]' WHERE id = 5",
    )
    report = adopt(target, source)
    assert [(found.note_id, found.column) for found in report.invalid_json] == [
        (3, "key_conclusions"),
        (3, "error_signatures"),
        (5, "code_snippets"),
    ]
    assert note_row(target, 3)["key_conclusions"] == "[]"
    for note_id in (3, 5):
        assert get(target.flask(), f"/api/notes/{note_id}")[0] == 200
    assert adopt(target, source).invalid_json == ()


def test_rows_without_their_conversation_are_left_out_and_counted(
    target: Application, source: Path
) -> None:
    edit(source, "DELETE FROM conversations WHERE id = 'conv-001'")
    report = adopt(target, source)
    assert counted(report.left_out) == {
        "notes_without_conversation": 2,
        "messages_without_conversation": one(
            source, "SELECT COUNT(*) FROM messages WHERE conversation_id = 'conv-001'"
        ),
        "tags_without_note": 1 + one(source, "SELECT COUNT(*) FROM note_tags WHERE note_id = 1"),
        "chunks_without_note": 3,
        "relations_without_note": 1
        + one(
            source,
            "SELECT COUNT(*) FROM note_relations WHERE 1 IN (source_note_id, target_note_id)",
        ),
        "vectors_without_chunk": 5,
    }
    assert 1 not in statuses(target)


def test_rows_without_a_vector_are_left_out_and_their_note_waits(
    target: Application, source: Path
) -> None:
    items = items_of(source)
    gone = next(
        item
        for item in items
        if item["metadata"]["noteId"] == 1 and item["metadata"]["chunkIndex"] == 1
    )
    write_items(source, [item for item in items if item is not gone])
    report = adopt(target, source)
    assert report.left_out["chunks_without_vector"] == 1
    assert report.added["chunks"] == 52
    assert statuses(target)[1] == "pending"
    assert 1 not in found_ids(ask(target, QUERY))
    target.batches.embed_many(target.batches.unembedded())
    assert statuses(target)[1] == "done"
    assert found_ids(ask(target, QUERY))[0] == 1


def test_vectors_of_another_dimension_are_left_out_and_their_note_waits(
    target: Application, source: Path
) -> None:
    items = items_of(source)
    place = next(n for n, item in enumerate(items) if item["metadata"]["noteId"] == 2)
    items[place]["vector"] = [1.0] * 63
    write_items(source, items)
    report = adopt(target, source)
    assert report.left_out["vectors_of_other_dimension"] == 1
    assert report.left_out["chunks_without_vector"] == 1
    assert report.space is not None and report.space.dimension == 64
    assert statuses(target)[2] == "pending"


def test_a_vector_of_zeros_is_left_out(target: Application, source: Path) -> None:
    items = items_of(source)
    items[0]["vector"] = [0] * 64
    write_items(source, items)
    report = adopt(target, source)
    assert report.left_out["vectors_of_no_direction"] == 1
    assert statuses(target)[1] == "pending"


def test_a_directory_without_vectors_gives_notes_that_wait(
    target: Application, source: Path
) -> None:
    index_of(source).unlink()
    report = adopt(target, source)
    assert report.space is None
    assert report.added["notes"] == 44
    assert report.added["chunks"] == 0
    assert report.left_out["chunks_without_vector"] == 53
    assert report.statuses == {"pending": 44}
    assert set(statuses(target).values()) == {"pending"}


def test_vectors_that_come_later_are_taken_over_then(target: Application, source: Path) -> None:
    content = index_of(source).read_bytes()
    index_of(source).unlink()
    adopt(target, source)
    index_of(source).write_bytes(content)
    report = adopt(target, source)
    assert counted(report.added) == {"chunks": 53}
    assert found_ids(ask(target, QUERY))[0] == 1


def damage_index(source: Path) -> None:
    index_of(source).write_bytes(index_of(source).read_bytes()[:-1_000])


def damage_database(source: Path) -> None:
    path = source / "chatcrystal.db"
    path.write_bytes(path.read_bytes()[:100_000])


@pytest.mark.parametrize("damage", [damage_index, damage_database, shutil.rmtree])
def test_a_damaged_directory_changes_nothing(
    target: Application, source: Path, damage: Any
) -> None:
    damage(source)
    before, feed = contents_of(target.database), feed_of(target.database)
    with pytest.raises(ImportFailed):
        adopt(target, source)
    assert contents_of(target.database) == before
    assert feed_of(target.database) == feed


def test_the_data_folder_of_this_program_is_refused(
    tmp_path: Path, source: Path, embedding_server: StubProvider
) -> None:
    own = tmp_path / "own"
    with opened(own, stub_values(embedding_server)) as application:
        shutil.copytree(source, own, dirs_exist_ok=True)
        with pytest.raises(ImportFailed, match="data folder of this program"):
            adopt(application, own)


def test_an_unchanged_note_is_not_embedded_again(
    target: Application, source: Path, embedding_server: StubProvider
) -> None:
    adopt(target, source)
    before = len(embedding_server.requests)
    target.writer.edit_note(1, NotePatch({"task_kind": "debugging"}))
    assert len(embedding_server.requests) == before
    assert note_row(target, 1)["task_kind"] == "debugging"


def test_a_note_edited_after_it_was_embedded_is_embedded_on_its_next_edit(
    target: Application, source: Path, embedding_server: StubProvider
) -> None:
    edit(source, "UPDATE notes SET summary = summary || ' and more' WHERE id = 1")
    adopt(target, source)
    assert statuses(target)[1] == "done"
    hashes = {
        row["note_id"]: row["text_hash"] for row in contents_of(target.database)["note_spaces"]
    }
    assert hashes[1] is None
    assert hashes[2] is not None
    before = len(embedding_server.requests)
    target.writer.edit_note(1, NotePatch({"task_kind": "debugging"}))
    assert len(embedding_server.requests) == before + 1


def test_a_note_embedded_again_comes_after_the_others(target: Application, source: Path) -> None:
    """Among equals the original lists what it embedded last as the last; so do chunk ids."""
    edit(source, "UPDATE embeddings SET id = id + 1000 WHERE note_id = 1")
    adopt(target, source)
    last = contents_of(target.database)["embeddings"][-3:]
    assert [(row["note_id"], row["chunk_index"]) for row in last] == [(1, 0), (1, 1), (1, 2)]


def test_a_text_of_any_kind_comes_through(target: Application, source: Path) -> None:
    edit(
        source,
        "UPDATE notes SET title = 'a' || char(0) || 'b' || char(0x1F680), summary = char(10)"
        " WHERE id = 4",
        f"UPDATE notes SET key_conclusions = '{json.dumps([chr(0xD800), '€'])}' WHERE id = 6",
    )
    adopt(target, source)
    _, body = get(target.flask(), "/api/notes/4")
    assert body["data"]["title"] == "ab🚀"
    _, body = get(target.flask(), "/api/notes/6")
    assert body["data"]["key_conclusions"] == ["\ufffd", "€"]


def test_progress_tells_of_every_stage_to_its_end(target: Application, source: Path) -> None:
    told: dict[str, tuple[int, int]] = {}

    def tell(stage: str, done: int, total: int) -> None:
        told[stage] = (done, total)

    target.adopter.adopt(AdoptionRequest(source), tell)
    assert tuple(told) == ("vectors", *STAGES)
    assert all(done == total > 0 for done, total in told.values())


def test_why_explains_an_imported_note(target: Application, source: Path) -> None:
    adopt(target, source)
    answer = target.searcher.why(request(QUERY), 38)
    assert (answer.returned, answer.message) == (False, "status failed")
